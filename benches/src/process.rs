//! What the kernel's own book says of this process, and how long its disk takes.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// User and system time of the process (proc(5), fields 14 and 15, in ticks of a hundredth of a second). Zero where
/// there is none.
pub(crate) fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

/// Resident memory. Zero where the kernel does not say.
pub(crate) fn resident_kib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0)
}

/// Half of these pages, written over pages that a file in this folder has already, were on the disk within this: what a
/// commit to a write-ahead log waits for.
pub(crate) fn fsync_latency(folder: &Path, name: &str) -> io::Result<Duration> {
    const PAGE: [u8; 4096] = [0x5a; 4096];
    const WRITES: usize = 200;
    let path = folder.join(name);
    let mut file = File::create(&path)?;
    file.write_all(&PAGE.repeat(WRITES))?;
    file.sync_all()?;
    file.rewind()?;
    let mut taken = Vec::with_capacity(WRITES);
    for _ in 0..WRITES {
        let started = Instant::now();
        file.write_all(&PAGE)?;
        file.sync_data()?;
        taken.push(started.elapsed());
    }
    drop(file);
    std::fs::remove_file(path)?;
    taken.sort_unstable();
    Ok(taken[WRITES / 2])
}
