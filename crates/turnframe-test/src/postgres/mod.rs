//! A throwaway PostgreSQL, so that what is promised of a store is proved on the real thing.
//!
//! [`shared`] is one server for all tests of a run, in which each test has a [`Database`] of its own.
//! [`Server::private`] is a server of one test, to be stopped, paused and started again. [`Wire`] stands between a
//! client and a server and loses what it is told to lose.
//!
//! The binaries come from the machine: `$TURNFRAME_POSTGRES_BIN`, a folder of `PATH`, or the newest
//! `/usr/lib/postgresql/*/bin`, PostgreSQL 14 or later. Where there are none a test fails and says so; it is never
//! skipped. A server has the durability of an installed one: a commit is on disk before it is acknowledged, and a
//! setting against that is refused. The shared server lies in [`place::throwaway`](crate::place::throwaway), where that may
//! be memory: nothing befalls it but that its clients die. A private one, which may be stopped as if the machine had died,
//! lies on the disk.
//!
//! What a test process started ends with it, also when the process is killed: a keeper, a small shell process outside
//! of its process group, waits for that, stops the server and removes its folder. After a power cut such a folder may
//! stay behind; the next run replaces the shared one.
//!
//! A server listens on 127.0.0.1 alone and asks nobody for a password: whoever may run programs on the machine may
//! use it. Time is real here; a pool of connections under tokio's paused clock gives up at once. Only Linux is
//! supported: processes are looked up in `/proc`, and flock(1) is needed.

mod account;
mod cluster;
mod database;
mod error;
mod installation;
mod keeper;
mod port;
mod private;
mod process;
mod server;
mod shared;
mod wire;

pub use database::Database;
pub use private::PrivateServer;
pub use server::Server;
pub use shared::shared;
pub use wire::Wire;

/// The superuser of every server here.
const USER: &str = "turnframe";
