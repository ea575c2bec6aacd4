//! Every queue, retry and wait of the actor system, by name.

use std::time::Duration;

/// Limits of a system. Past each of them the answer is an error with a retry hint, never a longer queue.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Turns of one conversation that may be accepted and unanswered at once.
    pub turns_waiting_max: usize,
    /// Turns that may be in flight in the whole process.
    pub turns_in_flight_max: usize,
    /// Appends that may wait for the writer.
    pub appends_waiting_max: usize,
    /// Appends of one commit.
    pub batch_max_appends: usize,
    /// Bytes of one commit, roughly.
    pub batch_max_bytes: usize,
    /// Bytes of entries that are remembered for whoever carries them on, roughly.
    pub fresh_max_bytes: usize,
    /// How long an actor may be idle before it is passivated.
    pub idle: Duration,
    /// How often idle actors and forgotten marks are looked for.
    pub sweep: Duration,
    /// How often a turn may fail in a way that will not pass before it is ended with a truthful block.
    pub turn_attempts_max: u32,
    /// The first pause before a turn is tried again; it doubles.
    pub turn_backoff: Duration,
    /// The longest pause.
    pub turn_backoff_max: Duration,
    /// How long a turn may be unfinished before its conversation is woken again.
    pub turn_forgotten: Duration,
    /// How often an append is tried again at an unchanged revision.
    pub append_attempts_max: u32,
    /// The pause before an append to a ledger that is away is tried again.
    pub append_backoff: Duration,
    /// A snapshot is taken at passivation when at least this many entries were folded since the last one. Folding so
    /// many costs about as much as loading one.
    pub snapshot_entries_min: u64,
    /// A snapshot is taken of an active record when this many entries were folded since the last one, so that a process
    /// that is killed leaves no long stream to fold. Measured on PostgreSQL: an entry costs 30 µs to read and fold, and
    /// a snapshot about 1 ms to keep.
    pub snapshot_entries_max: u64,
    /// The pause between two looks of what follows for a domain actor, so that a busy ledger is read in pages and not in
    /// single entries.
    pub follow_pause: Duration,
    /// How long a domain actor may take over one event or one timer.
    pub reaction: Duration,
    /// How often a domain actor is shown what it failed on before what is behind it goes on.
    pub reaction_attempts_max: u32,
    /// The pause between two of these.
    pub reaction_backoff: Duration,
    /// How long it is left alone with it then, before it is shown it again.
    pub reaction_pause: Duration,
    /// How often it is looked what waits of effects.
    pub backlog_look: Duration,
    /// For how long an effect may have been due before operators are alarmed: nobody sees to it.
    pub overdue_max: Duration,
    /// For how long an effect may have been parked before operators are alarmed: nobody decides about it.
    pub parked_max: Duration,
    /// How long a shutdown waits for running turns.
    pub shutdown: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns_waiting_max: 16,
            turns_in_flight_max: 8_192,
            appends_waiting_max: 16_384,
            batch_max_appends: 1_024,
            batch_max_bytes: 8 * 1024 * 1024,
            fresh_max_bytes: 16 * 1024 * 1024,
            idle: Duration::from_secs(60),
            sweep: Duration::from_secs(5),
            turn_attempts_max: 5,
            turn_backoff: Duration::from_millis(50),
            turn_backoff_max: Duration::from_secs(10),
            turn_forgotten: Duration::from_secs(30),
            append_attempts_max: 8,
            append_backoff: Duration::from_millis(25),
            snapshot_entries_min: 32,
            snapshot_entries_max: 512,
            follow_pause: Duration::from_millis(50),
            reaction: Duration::from_secs(30),
            reaction_attempts_max: 3,
            reaction_backoff: Duration::from_millis(100),
            reaction_pause: Duration::from_secs(30),
            backlog_look: Duration::from_secs(60),
            overdue_max: Duration::from_secs(5 * 60),
            parked_max: Duration::from_secs(24 * 60 * 60),
            shutdown: Duration::from_secs(20),
        }
    }
}
