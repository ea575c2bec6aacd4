//! Quantiles of latencies.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The median and the 99th percentile, in milliseconds.
pub(crate) fn quantiles<'a>(latencies: impl IntoIterator<Item = &'a Duration>) -> (f64, f64) {
    const LONGEST_MICROS: u64 = 600_000_000;
    let bounded = Histogram::<u64>::new_with_max(LONGEST_MICROS, 3);
    let Ok(mut histogram) = bounded else { return (0.0, 0.0) };
    for latency in latencies {
        histogram.saturating_record(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX));
    }
    let at = |quantile| histogram.value_at_quantile(quantile) as f64 / 1_000.0;
    (at(0.5), at(0.99))
}

/// The median, in milliseconds.
pub(crate) fn median<'a>(latencies: impl IntoIterator<Item = &'a Duration>) -> f64 {
    quantiles(latencies).0
}
