//! The transcript: a conversation's stream as people read it (I1: history, never state).
//!
//! Each of a stream's entries is shown as what was said, what was answered, or what the server told later, or is
//! not shown at all. The mapping is pure and reads stored blocks exactly as they were stored, so that a live
//! stream and a reload that both use it say the same. Nothing here is worded, summarised or left out by date.
//!
//! An account's conversation that does not exist, and one of another account, are the same [`None`] by the same
//! reads.

use turnframe_core::block::AssistantTurn;
use turnframe_core::id::{AccountId, ActorId, ConversationId, EntryId, TurnId};
use turnframe_core::personal::Personal;
use turnframe_core::source::Timestamp;
use turnframe_ledger::ledger::PAGE_MAX;
use turnframe_ledger::{
    Entry, EntryKind, EventLedger, PartitionId, Position, ReadError, StreamName, Version,
};

use crate::fold::FoldError;
use crate::record::{ClickRecord, TurnAccepted, TurnAnswered, UpdatePosted};

/// The most items of one page. A larger limit is cut to it.
pub const TRANSCRIPT_PAGE_MAX: usize = 200;

/// Entries that are read for each item of a page: the three of a turn make two items.
const ENTRIES_PER_ITEM: usize = 2;

/// An entry of a conversation that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptItem {
    /// Its place in the conversation.
    pub version: Version,
    /// Its place in the account's partition: where a live stream goes on after it.
    pub position: Position,
    /// The entry.
    pub entry: EntryId,
    /// When it was recorded.
    pub recorded_at: Timestamp,
    /// What it shows.
    pub content: TranscriptContent,
}

/// What an item shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptContent {
    /// A turn as it arrived.
    Turn {
        /// The turn.
        turn: TurnId,
        /// Who spoke.
        actor: ActorId,
        /// What was said.
        text: Option<Personal<String>>,
        /// What was clicked.
        click: Option<ClickRecord>,
    },
    /// A turn's answer, exactly as it was stored.
    Answer(AssistantTurn),
    /// What the server told later.
    Update(UpdatePosted),
}

/// A page of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptPage {
    /// The items in order.
    pub items: Vec<TranscriptItem>,
    /// Where the next page starts; none where nothing was left when this page was read.
    pub next: Option<Version>,
    /// Of a last page: what follows this position is in no page yet, so a live stream goes on here.
    pub position: Position,
}

/// Why a transcript could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// The ledger could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An entry cannot be read: the conversation stops there, and an operator is told.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

/// What an entry shows; none for entries that are not part of a transcript.
///
/// # Errors
/// [`FoldError`] when the entry's shape is not the one its kind has.
pub fn item(entry: &Entry) -> Result<Option<TranscriptItem>, FoldError> {
    let content = match entry.kind {
        EntryKind::TurnAccepted => {
            let missing = || FoldError::Kind { at: entry.reference(), kind: entry.kind };
            let turn = entry.turn.clone().ok_or_else(missing)?;
            let TurnAccepted { actor, text, click, .. } = open(entry)?;
            TranscriptContent::Turn { turn, actor: actor.actor, text, click }
        }
        EntryKind::TurnAnswered => TranscriptContent::Answer(open::<TurnAnswered>(entry)?.answer),
        EntryKind::UpdatePosted => TranscriptContent::Update(open(entry)?),
        EntryKind::ConversationOpened
        | EntryKind::TurnReduced
        | EntryKind::CaseCommand
        | EntryKind::CaseEvent
        | EntryKind::CardOpened
        | EntryKind::CardClosed
        | EntryKind::EffectRequested
        | EntryKind::EffectDispatched
        | EntryKind::EffectDeferred
        | EntryKind::EffectConcluded
        | EntryKind::EffectParked
        | EntryKind::EffectReleased
        | EntryKind::EffectNudged
        | EntryKind::TimerSet
        | EntryKind::TimerFired
        | EntryKind::TimerCancelled => return Ok(None),
    };
    Ok(Some(TranscriptItem {
        version: entry.version,
        position: entry.position,
        entry: entry.id,
        recorded_at: entry.recorded_at,
        content,
    }))
}

fn open<T: serde::de::DeserializeOwned>(entry: &Entry) -> Result<T, FoldError> {
    entry.body.open().map_err(|source| FoldError::Shape { at: entry.reference(), source })
}

/// Whether an account has a conversation.
///
/// # Errors
/// [`ReadError`] when the ledger cannot be read.
pub async fn exists(
    ledger: &dyn EventLedger,
    account: &AccountId,
    conversation: &ConversationId,
) -> Result<bool, ReadError> {
    let stream = StreamName::Conversation(conversation.clone());
    Ok(!ledger.read_stream(account, &stream, Version::NONE, 1).await?.is_empty())
}

/// The items of an account's conversation after a version; none where the account has no such conversation.
///
/// # Errors
/// [`TranscriptError`] when the ledger or an entry cannot be read.
pub async fn page(
    ledger: &dyn EventLedger,
    account: &AccountId,
    conversation: &ConversationId,
    after: Version,
    limit: usize,
) -> Result<Option<TranscriptPage>, TranscriptError> {
    let limit = limit.clamp(1, TRANSCRIPT_PAGE_MAX);
    let stream = StreamName::Conversation(conversation.clone());
    // Read first: whatever is committed after this line is at most shown twice, never missed.
    let head = ledger.head(PartitionId::of(account)).await?;
    let entries_max = (limit * ENTRIES_PER_ITEM).min(PAGE_MAX);
    let (mut read, mut items) = (after, Vec::new());
    loop {
        let entries = ledger.read_stream(account, &stream, read, entries_max).await?;
        if entries.is_empty() && read == after && !exists(ledger, account, conversation).await? {
            return Ok(None);
        }
        for entry in &entries {
            read = entry.version;
            items.extend(item(entry)?);
            if items.len() == limit {
                return Ok(Some(ended(items, Some(read), head)));
            }
        }
        if entries.len() < entries_max {
            return Ok(Some(ended(items, None, head)));
        }
    }
}

fn ended(items: Vec<TranscriptItem>, next: Option<Version>, head: Position) -> TranscriptPage {
    let position = items.last().map_or(head, |last| last.position.max(head));
    TranscriptPage { items, next, position }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;
    use crate::fold::conversation::ConversationFold;
    use crate::record::{ConversationOpened, FactKey};
    use crate::turn::{TurnRecord, append_of};
    use turnframe_core::block::{Author, ResponseBlock};
    use turnframe_core::context::ActorContext;
    use turnframe_core::id::{CaseRef, Locale, WorkflowKey};
    use turnframe_core::source::{Clock, Entropy, IdSource};
    use turnframe_core::text::Text;
    use turnframe_ledger::memory::MemoryLedger;

    struct Still;

    impl Clock for Still {
        fn now(&self) -> Timestamp {
            Timestamp::from_micros(1_767_225_600_000_000)
        }
    }

    /// Bytes that never repeat within a test.
    #[derive(Default)]
    struct Counting(AtomicU8);

    impl Entropy for Counting {
        fn fill(&self, buffer: &mut [u8]) {
            buffer.fill(self.0.fetch_add(1, Ordering::Relaxed));
        }
    }

    fn actor(account: &str) -> ActorContext {
        ActorContext {
            account: AccountId::new(account).expect("account"),
            actor: ActorId::new("ada").expect("actor"),
            locale: Locale::new("en").expect("locale"),
            time_zone: "UTC".to_owned(),
        }
    }

    /// A conversation that is written to as its actor would.
    struct Writing {
        ledger: MemoryLedger,
        ids: IdSource,
        actor: ActorContext,
        conversation: ConversationId,
        fold: ConversationFold,
    }

    impl Writing {
        async fn begin() -> Self {
            let mut writing = Self {
                ledger: MemoryLedger::new(),
                ids: IdSource::new(Arc::new(Still), Arc::new(Counting::default())),
                actor: actor("acme"),
                conversation: ConversationId::new("c1").expect("conversation"),
                fold: ConversationFold::default(),
            };
            let opened = ConversationOpened { actor: writing.actor.clone() };
            writing.write(None, TurnRecord::Opened(opened)).await;
            writing
        }

        async fn write(&mut self, turn: Option<&TurnId>, record: TurnRecord) {
            let (conversation, actor) = (self.conversation.clone(), self.actor.clone());
            let turn = turn.map(|turn| (turn, None));
            let built = append_of(&self.fold, &conversation, &actor, turn, record, &self.ids);
            let (append, after) = built.expect("append");
            assert!(self.ledger.append(vec![append]).await[0].is_ok());
            self.fold = after;
        }

        /// A turn and its answer: two items.
        async fn exchange(&mut self, number: u32) {
            let turn = TurnId::new(format!("t{number}")).expect("turn");
            let subject = self.actor.subject().expect("subject");
            let text = Some(Personal::known(subject, format!("words {number}")));
            let actor = self.actor.clone();
            let accepted = TurnAccepted { actor, text, click: None, origin: None };
            self.write(Some(&turn), TurnRecord::Accepted(Box::new(accepted))).await;
            let answer = AssistantTurn { turn: turn.clone(), acts: Vec::new(), blocks: blocks() };
            let answered = TurnAnswered { answer, touched: Vec::new() };
            self.write(Some(&turn), TurnRecord::Answered(Box::new(answered))).await;
        }

        async fn page(
            &self,
            account: &str,
            after: Version,
            limit: usize,
        ) -> Option<TranscriptPage> {
            let account = AccountId::new(account).expect("account");
            let page = page(&self.ledger, &account, &self.conversation, after, limit).await;
            page.expect("readable")
        }
    }

    fn blocks() -> Vec<ResponseBlock> {
        vec![ResponseBlock::Answer { text: Text::from("As asked."), author: Author::Server }]
    }

    #[tokio::test]
    async fn a_transcript_shows_turns_answers_and_updates_exactly_as_they_were_stored() {
        let mut writing = Writing::begin().await;
        writing.exchange(1).await;
        let workflow = WorkflowKey::new("loan").expect("workflow");
        let case = CaseRef { workflow, case: writing.ids.case() };
        let update = UpdatePosted { case, blocks: blocks() };
        let carries = FactKey { version: Version(1), entry: writing.ids.entry() };
        let record = TurnRecord::Updated { update: Box::new(update.clone()), carries };
        writing.write(None, record).await;

        let page = writing.page("acme", Version::NONE, 10).await.expect("a conversation");
        assert_eq!(page.next, None);
        let versions: Vec<_> = page.items.iter().map(|item| item.version.0).collect();
        assert_eq!(versions, [2, 3, 4], "the opening is not shown");
        assert_eq!(page.position, page.items[2].position);
        let [said, answered, told] = &page.items[..] else { unreachable!("three items") };
        let TranscriptContent::Turn { turn, text, .. } = &said.content else {
            unreachable!("a turn")
        };
        assert_eq!(turn.as_str(), "t1");
        assert_eq!(text.as_ref().and_then(|text| text.value()).expect("words"), "words 1");
        let turn = turn.clone();
        let answer = AssistantTurn { turn, acts: Vec::new(), blocks: blocks() };
        assert_eq!(answered.content, TranscriptContent::Answer(answer));
        assert_eq!(told.content, TranscriptContent::Update(update));
    }

    #[tokio::test]
    async fn pages_follow_one_another_without_a_gap_or_a_repeat() {
        let mut writing = Writing::begin().await;
        for number in 0..10 {
            writing.exchange(number).await;
        }
        for limit in [1, 3, 7, 20, TRANSCRIPT_PAGE_MAX + 1] {
            let (mut after, mut seen) = (Version::NONE, Vec::new());
            loop {
                let page = writing.page("acme", after, limit).await.expect("a conversation");
                assert!(page.items.len() <= limit);
                seen.extend(page.items.iter().map(|item| item.version.0));
                let Some(next) = page.next else { break };
                after = next;
            }
            assert_eq!(seen, (2..=21).collect::<Vec<_>>(), "pages of {limit}");
        }
    }

    #[tokio::test]
    async fn case_29_another_accounts_conversation_is_the_same_none_as_a_missing_one() {
        let mut writing = Writing::begin().await;
        writing.exchange(1).await;
        for after in [Version::NONE, Version(1), Version(99)] {
            assert_eq!(writing.page("other", after, 10).await, None);
        }
        let page = writing.page("acme", Version(99), 10).await.expect("a conversation");
        assert!(page.items.is_empty());
        assert_eq!(page.position, Position(3), "an empty page says where a live stream goes on");
    }
}
