//! Snapshots: a fold kept for later, so that a long stream need not be read from its start.
//!
//! A snapshot is never trusted. Its header names the codec, the version of the workflow, the digest of the
//! fold's code, and the version and chain hash of the entry it stands at; a digest covers all of it. Whatever
//! does not match, is damaged or cannot be read is `None`, never an error: the stream is folded again. A
//! store may therefore be lost or deleted at any time; that costs time and never state.

pub mod codec;
mod memory;
mod postgres;
mod sqlite;

use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;
use turnframe_core::canonical::{Digest, Hasher};
use turnframe_core::id::AccountId;

use crate::stored::rows::{self, Columns};
use crate::stream::{StreamName, Version};

pub use self::memory::MemorySnapshots;
pub use self::postgres::PostgresSnapshots;
pub use self::sqlite::SqliteSnapshots;

/// What must be the same for a snapshot to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotHeader {
    /// The version of the workflow whose state this is.
    pub workflow_version: u16,
    /// The digest of the code that folds.
    pub fold: Digest,
    /// The version of the last entry folded.
    pub version: Version,
    /// The chain hash of that entry: a stream with another past has another one.
    pub chain: Digest,
}

/// An encoded state with its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    codec: String,
    header: SnapshotHeader,
    bytes: Vec<u8>,
    digest: Digest,
}

impl Snapshot {
    /// Encodes a state. `None` where it does not read back as the same bytes, or is larger than
    /// [`codec::ENCODED_MAX_BYTES`]: such a state is folded anew every time.
    #[must_use]
    pub fn encode<T: Serialize + DeserializeOwned>(
        header: SnapshotHeader,
        state: &T,
    ) -> Option<Self> {
        let bytes = codec::encode(state)?;
        let digest = digest(codec::CODEC, &header, &bytes);
        Some(Self { codec: codec::CODEC.to_owned(), header, bytes, digest })
    }

    /// The state, where the snapshot was written by this codec, is undamaged, and has the expected header.
    ///
    /// Take `version` and `chain` of the expected header from the ledger's entry at
    /// [`Snapshot::version`]: that is what ties the snapshot to the stream.
    #[must_use]
    pub fn decode<T: DeserializeOwned>(&self, expected: &SnapshotHeader) -> Option<T> {
        let intact = digest(&self.codec, &self.header, &self.bytes) == self.digest;
        let fits = self.codec == codec::CODEC && self.header == *expected;
        if intact && fits { codec::decode(&self.bytes) } else { None }
    }

    /// Which version of its stream the snapshot claims to stand at.
    #[must_use]
    pub fn version(&self) -> Version {
        self.header.version
    }
}

fn digest(codec: &str, header: &SnapshotHeader, bytes: &[u8]) -> Digest {
    let mut hasher = Hasher::new("tf.snapshot.1");
    hasher
        .part(codec.as_bytes())
        .part(&header.workflow_version.to_be_bytes())
        .part(header.fold.as_bytes())
        .part(&header.version.0.to_be_bytes())
        .part(header.chain.as_bytes())
        .part(bytes);
    hasher.finish()
}

/// Why a store could not be opened or cleared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the snapshots are unavailable: {reason}")]
pub struct SnapshotsUnavailable {
    /// What went wrong, for an operator.
    pub reason: String,
}

impl From<sqlx::Error> for SnapshotsUnavailable {
    fn from(error: sqlx::Error) -> Self {
        Self { reason: error.to_string() }
    }
}

/// The snapshot in a row of codec, workflow version, fold, version, chain, digest and bytes; none where a column
/// has another shape.
fn stored(row: &impl Columns) -> Option<Snapshot> {
    let digest = |column| rows::optional_digest(row, column).ok().flatten();
    let header = SnapshotHeader {
        workflow_version: u16::try_from(row.integer(1).ok()?).ok()?,
        fold: digest(2)?,
        version: rows::stored_version(row, 3).ok()?,
        chain: digest(4)?,
    };
    let (codec, bytes) = (row.text(0).ok()??.to_owned(), row.bytes(6).ok()??.to_vec());
    Some(Snapshot { codec, header, bytes, digest: digest(5)? })
}

/// Keeps the newest snapshot of each stream, or forgets it.
///
/// Loading and saving cannot fail: a store that is broken loads nothing, saves nothing and says so in
/// the log.
#[async_trait]
pub trait SnapshotStore: Send + Sync + 'static {
    /// The snapshot of a stream, where there is one.
    async fn load(&self, account: &AccountId, stream: &StreamName) -> Option<Snapshot>;

    /// Keeps a snapshot in place of the one before. An older one in place of a newer costs time only.
    async fn save(&self, account: &AccountId, stream: &StreamName, snapshot: Snapshot);

    /// Forgets all snapshots.
    ///
    /// # Errors
    /// [`SnapshotsUnavailable`] when they may still be there: whoever clears wants to know.
    async fn clear(&self) -> Result<(), SnapshotsUnavailable>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use serde::Deserialize;
    use turnframe_core::id::SubjectId;
    use turnframe_core::personal::Personal;

    use crate::testing::{account, conversation};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct State {
        loan: u32,
        shelves: Vec<String>,
        payer: Personal<String>,
    }

    fn state() -> State {
        let ada = SubjectId::new("ada").expect("subject");
        let payer = Personal::known(ada, "Ada Ferri".to_owned());
        State { loan: 7, shelves: vec!["1A".to_owned(), "1B".to_owned()], payer }
    }

    fn header() -> SnapshotHeader {
        SnapshotHeader {
            workflow_version: 3,
            fold: Digest::of("test", &[b"fold"]),
            version: Version(12),
            chain: Digest::of("test", &[b"chain"]),
        }
    }

    fn snapshot() -> Snapshot {
        Snapshot::encode(header(), &state()).expect("encoded")
    }

    #[test]
    fn a_snapshot_reads_back_under_its_header() {
        assert_eq!(snapshot().decode::<State>(&header()), Some(state()));
    }

    #[test]
    fn l17_a_snapshot_under_any_other_header_is_dropped() {
        let other = Digest::of("test", &[b"other"]);
        let others = [
            SnapshotHeader { workflow_version: 4, ..header() },
            SnapshotHeader { fold: other, ..header() },
            SnapshotHeader { version: Version(11), ..header() },
            SnapshotHeader { chain: other, ..header() },
        ];
        for expected in others {
            assert_eq!(snapshot().decode::<State>(&expected), None, "{expected:?}");
        }
    }

    #[test]
    fn l17_a_snapshot_of_another_codec_or_shape_is_dropped() {
        let mut foreign = snapshot();
        foreign.codec = "bincode-1".to_owned();
        foreign.digest = digest(&foreign.codec, &foreign.header, &foreign.bytes);
        assert_eq!(foreign.decode::<State>(&header()), None);
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Grown {
            state: State,
            since: u64,
        }
        assert_eq!(snapshot().decode::<Grown>(&header()), None);
    }

    #[test]
    fn l17_no_flipped_bit_gets_through() {
        let whole = snapshot();
        for bit in 0..whole.bytes.len() * 8 {
            let mut flipped = whole.clone();
            flipped.bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(flipped.decode::<State>(&header()), None, "bit {bit}");
            // Even bytes that a digest vouches for must decode without a panic.
            flipped.digest = digest(&flipped.codec, &flipped.header, &flipped.bytes);
            let _ = flipped.decode::<State>(&header());
        }
        for length in 0..whole.bytes.len() {
            let mut cut = whole.clone();
            cut.bytes.truncate(length);
            assert_eq!(cut.decode::<State>(&header()), None, "{length} bytes");
        }
    }

    #[test]
    fn a_state_that_does_not_round_trip_is_never_kept() {
        assert!(Snapshot::encode(header(), &serde_json::json!({"a": 1})).is_none());
    }

    async fn keeps_the_newest_of_each_stream(store: Arc<dyn SnapshotStore>) {
        let (acme, demo, stream) = (account("acme"), account("demo"), conversation("c"));
        assert_eq!(store.load(&acme, &stream).await, None);
        store.save(&acme, &stream, snapshot()).await;
        let newer = SnapshotHeader { version: Version(13), ..header() };
        let newer = Snapshot::encode(newer, &state()).expect("encoded");
        store.save(&acme, &stream, newer.clone()).await;
        assert_eq!(store.load(&acme, &stream).await, Some(newer));
        assert_eq!(store.load(&demo, &stream).await, None);
        assert_eq!(store.load(&acme, &conversation("d")).await, None);
        store.clear().await.expect("cleared");
        assert_eq!(store.load(&acme, &stream).await, None);
    }

    #[tokio::test]
    async fn the_store_in_memory_keeps_the_newest_snapshot_of_each_stream() {
        keeps_the_newest_of_each_stream(Arc::new(MemorySnapshots::default())).await;
    }

    #[tokio::test]
    async fn the_store_on_sqlite_keeps_the_newest_snapshot_of_each_stream() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("views.db");
        let store = SqliteSnapshots::open(&path).await.expect("open");
        keeps_the_newest_of_each_stream(Arc::new(store)).await;
    }

    #[tokio::test]
    async fn the_store_on_postgresql_keeps_the_newest_snapshot_of_each_stream() {
        let database = turnframe_test::postgres::shared().database().await;
        let store = PostgresSnapshots::open(&database.url()).await.expect("open");
        keeps_the_newest_of_each_stream(Arc::new(store)).await;
    }

    #[tokio::test]
    async fn l17_a_table_of_another_shape_on_postgresql_is_dropped() {
        let database = turnframe_test::postgres::shared().database().await;
        let first = PostgresSnapshots::open(&database.url()).await.expect("open");
        first.reshape().await;
        let store = PostgresSnapshots::open(&database.url()).await.expect("open");
        keeps_the_newest_of_each_stream(Arc::new(store)).await;
    }

    #[tokio::test]
    async fn processes_may_make_the_snapshots_at_once() {
        let database = turnframe_test::postgres::shared().database().await;
        let url = database.url();
        let opened = futures::future::join_all((0..4).map(|_| PostgresSnapshots::open(&url))).await;
        assert!(opened.iter().all(Result::is_ok), "{opened:?}");
    }
}
