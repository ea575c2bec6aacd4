//! Real processes of the binary: killed, stopped and woken, alone and side by side.

#![cfg(unix)]

mod kill_load;
mod kill_nine;
mod soak;
mod support;
mod two_processes;
