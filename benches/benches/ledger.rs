//! The ledger alone: appends in batches, and a walk along the chain.
//!
//! `cargo bench -p turnframe-bench --bench ledger [FILTER]`.

use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tokio::runtime::Runtime;
use turnframe_bench::append::{Batches, append_all};
use turnframe_ledger::memory::MemoryLedger;
use turnframe_ledger::sqlite::{SqliteLedger, SqliteOptions};
use turnframe_ledger::verify::verify;
use turnframe_ledger::{EventLedger, PartitionId};
use turnframe_test::sources::ids;

/// Times the appends alone: the batches are made before the clock starts.
fn appending(
    criterion: &mut Criterion,
    runtime: &Runtime,
    name: &str,
    ledger: &dyn EventLedger,
    sizes: &[usize],
) {
    let mut batches = Batches::new(ids(1)).expect("names");
    let mut group = criterion.benchmark_group(format!("append/{name}"));
    for size in sizes {
        group.throughput(Throughput::Elements(*size as u64));
        group.bench_function(format!("batch of {size}"), |bencher| {
            bencher.iter_custom(|rounds| {
                let mut spent = Duration::ZERO;
                for _ in 0..rounds {
                    let batch = batches.alone(*size).expect("a batch");
                    let started = Instant::now();
                    runtime.block_on(append_all(ledger, batch)).expect("appended");
                    spent += started.elapsed();
                }
                spent
            });
        });
    }
    group.finish();
}

fn appends(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    appending(criterion, &runtime, "memory", &MemoryLedger::new(), &[1, 64, 1_000]);
    let folder = tempfile::tempdir().expect("a folder");
    let opened = SqliteLedger::open(folder.path().join("bench.db"), SqliteOptions::default());
    let ledger = runtime.block_on(opened).expect("a ledger");
    appending(criterion, &runtime, "sqlite", &ledger, &[64]);
    runtime.block_on(ledger.close());
}

fn verification(criterion: &mut Criterion) {
    const ENTRIES: usize = 10_000;
    let runtime = Runtime::new().expect("a runtime");
    let ledger = MemoryLedger::new();
    let batch = Batches::new(ids(1)).and_then(|mut it| it.alone(ENTRIES / 3)).expect("a batch");
    runtime.block_on(append_all(&ledger, batch)).expect("appended");
    let mut group = criterion.benchmark_group("verify");
    group.throughput(Throughput::Elements(ENTRIES as u64));
    group.bench_function("memory, 10,000 entries", |bencher| {
        bencher.iter(|| {
            let report = runtime.block_on(verify(&ledger, PartitionId::all(), |_| {}));
            assert!(report.is_intact());
        });
    });
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .without_plots()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

criterion_group! { name = ledger; config = short(); targets = appends, verification }
criterion_main!(ledger);
