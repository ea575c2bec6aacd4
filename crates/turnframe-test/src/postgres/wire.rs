//! A connection's way between a client and a server, which can lose what it is told to lose.
