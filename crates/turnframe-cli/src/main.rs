//! The `turnframe` binary.
fn main() {}
