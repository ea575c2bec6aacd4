//! A conversation as it happens: its own entries, and what becomes of its cards on whatever case.
//!
//! An event's id is the entry's position in the account's partition. Positions have no gaps and follow commit
//! order, so a client that resumes after the last id it saw misses nothing and sees nothing twice. A silent
//! stream says where it stands from time to time, which moves that id along. On any trouble the stream ends: the
//! client resumes, and nothing was skipped.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures::Stream;
use futures::stream;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::Instant;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{AccountId, ConversationId, InteractionId};
use turnframe_ledger::{
    Entry, EntryKind, EventLedger, PartitionId, Position, StreamName, Subscription,
};
use turnframe_runtime::key;
use turnframe_runtime::record::{CardClosed, CardOpened};
use turnframe_runtime::transcript;
use turnframe_runtime::turn::find_entry;

use super::{App, InConversation};
use crate::auth::Authenticated;
use crate::problem::Problem;
use crate::view::{CardClosedView, CardOpenedView, EntryView, ItemView};

const LAST_EVENT_ID: &str = "last-event-id";

#[derive(Deserialize)]
pub(super) struct FollowQuery {
    after: Option<u64>,
}

/// Follows a conversation: after `Last-Event-ID`, else after `?after=`, else from now on.
pub(super) async fn follow(
    State(app): State<Arc<App>>,
    Authenticated(actor): Authenticated,
    InConversation(conversation): InConversation,
    query: Result<Query<FollowQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Query(FollowQuery { after }) = query.map_err(|_| Problem::INVALID_PARAMETER)?;
    let after = last_event_id(&headers)?.or(after.map(Position));
    let ledger = app.system.ledger();
    let exists = transcript::exists(ledger.as_ref(), &actor.account, &conversation).await;
    if !exists.map_err(|error| Problem::unavailable(&error))? {
        return Err(Problem::NOT_FOUND);
    }
    let permit = app.streams.clone().try_acquire_owned().map_err(|_| Problem::OVERLOADED)?;
    let head = ledger.head(PartitionId::of(&actor.account)).await;
    let head = head.map_err(|error| Problem::unavailable(&error))?;
    // A position that is not written yet would skip what is: such an id is of another ledger.
    let start = after.map_or(head, |after| after.min(head));
    let following = Following::new(app, &actor, conversation, start, permit);
    Ok(Sse::new(following.into_stream()).into_response())
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<Position>, Problem> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let position = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    position.map(|position| Some(Position(position))).ok_or(Problem::INVALID_ID)
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A live stream.
struct Following {
    ledger: Arc<dyn EventLedger>,
    account: AccountId,
    conversation: ConversationId,
    subscription: Subscription,
    closing: watch::Receiver<bool>,
    app: Arc<App>,
    /// When to say where the stream stands.
    silent_until: Instant,
    is_greeted: bool,
    _permit: OwnedSemaphorePermit,
}

impl Following {
    fn new(
        app: Arc<App>,
        actor: &ActorContext,
        conversation: ConversationId,
        start: Position,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        let (ledger, account) = (app.system.ledger().clone(), actor.account.clone());
        let partition = PartitionId::of(&account);
        let subscription =
            Subscription::new(ledger.clone(), partition, start, Some(account.clone()));
        Self {
            ledger,
            account,
            conversation,
            subscription,
            closing: app.closing.clone(),
            silent_until: Instant::now() + app.limits.keep_alive,
            app,
            is_greeted: false,
            _permit: permit,
        }
    }

    fn into_stream(self) -> impl Stream<Item = Result<Event, Infallible>> + Send {
        stream::unfold(self, |mut following| async move {
            let mut closing = following.closing.clone();
            let closed = async {
                if closing.wait_for(|closing| *closing).await.is_err() {
                    // Nobody is left who could close it.
                    std::future::pending().await
                }
            };
            tokio::select! {
                () = closed => None,
                event = following.next() => match event {
                    Ok(event) => Some((Ok(event), following)),
                    Err(error) => {
                        tracing::warn!(%error, "a live stream ended; its client resumes it");
                        None
                    }
                },
            }
        })
    }

    /// The next event, as soon as there is one. The first says where the stream stands.
    async fn next(&mut self) -> Result<Event, Failure> {
        if !self.is_greeted {
            self.is_greeted = true;
            return Ok(self.standing().retry(self.app.limits.reconnect));
        }
        loop {
            let entry = tokio::time::timeout_at(self.silent_until, self.subscription.next()).await;
            let event = match entry {
                Ok(entry) => self.event(&entry?).await?,
                Err(_) => Some(self.standing()),
            };
            // Entries of other conversations may pass for long without a silence.
            let overdue = || (Instant::now() >= self.silent_until).then(|| self.standing());
            if let Some(event) = event.or_else(overdue) {
                self.silent_until = Instant::now() + self.app.limits.keep_alive;
                return Ok(event);
            }
        }
    }

    /// No more than an id: a client keeps it, and shows nothing.
    fn standing(&self) -> Event {
        Event::default().id(self.subscription.cursor().0.to_string())
    }

    /// What an entry of the account shows in this conversation.
    async fn event(&self, entry: &Entry) -> Result<Option<Event>, Failure> {
        let is_here = match &entry.stream {
            StreamName::Conversation(conversation) => *conversation == self.conversation,
            StreamName::Case(_) => self.is_card_of_here(entry).await?,
            StreamName::Effect(_) | StreamName::Domain(..) => false,
        };
        if is_here { event_of(entry).map(Some) } else { Ok(None) }
    }

    async fn is_card_of_here(&self, entry: &Entry) -> Result<bool, Failure> {
        let opened = match entry.kind {
            EntryKind::CardOpened => entry.body.open()?,
            EntryKind::CardClosed => {
                let CardClosed { card, .. } = entry.body.open()?;
                match self.opened(card).await? {
                    Some(opened) => opened,
                    None => return Ok(false),
                }
            }
            EntryKind::ConversationOpened
            | EntryKind::TurnAccepted
            | EntryKind::TurnReduced
            | EntryKind::TurnAnswered
            | EntryKind::UpdatePosted
            | EntryKind::CaseCommand
            | EntryKind::CaseEvent
            | EntryKind::EffectRequested
            | EntryKind::EffectDispatched
            | EntryKind::EffectDeferred
            | EntryKind::EffectConcluded
            | EntryKind::EffectParked
            | EntryKind::EffectReleased
            | EntryKind::EffectNudged
            | EntryKind::TimerSet
            | EntryKind::TimerFired
            | EntryKind::TimerCancelled => return Ok(false),
        };
        let CardOpened { card, .. } = opened;
        Ok(card.conversation == self.conversation)
    }

    /// How a card was opened: a closing names the card alone.
    async fn opened(&self, card: InteractionId) -> Result<Option<CardOpened>, Failure> {
        let key = key::card(card)?;
        let entry = find_entry(self.ledger.as_ref(), &self.account, &key).await?;
        Ok(entry.map(|entry| entry.body.open()).transpose()?)
    }
}

/// Renders an entry: an item of the transcript exactly as the transcript has it.
fn event_of(entry: &Entry) -> Result<Event, Failure> {
    if let Some(item) = transcript::item(entry)? {
        return event(entry, &ItemView::from(&item));
    }
    match entry.kind {
        EntryKind::CardOpened => {
            let CardOpened { card, .. } = entry.body.open()?;
            event(entry, &CardOpenedView::of(entry, &card.view()))
        }
        EntryKind::CardClosed => {
            let closed: CardClosed = entry.body.open()?;
            event(entry, &CardClosedView::of(entry, &closed))
        }
        EntryKind::ConversationOpened
        | EntryKind::TurnAccepted
        | EntryKind::TurnReduced
        | EntryKind::TurnAnswered
        | EntryKind::UpdatePosted
        | EntryKind::CaseCommand
        | EntryKind::CaseEvent
        | EntryKind::EffectRequested
        | EntryKind::EffectDispatched
        | EntryKind::EffectDeferred
        | EntryKind::EffectConcluded
        | EntryKind::EffectParked
        | EntryKind::EffectReleased
        | EntryKind::EffectNudged
        | EntryKind::TimerSet
        | EntryKind::TimerFired
        | EntryKind::TimerCancelled => event(entry, &EntryView::from(entry)),
    }
}

fn event(entry: &Entry, data: &impl Serialize) -> Result<Event, Failure> {
    let data = serde_json::to_string(data)?;
    Ok(Event::default().id(entry.position.0.to_string()).event(entry.kind.as_str()).data(data))
}
