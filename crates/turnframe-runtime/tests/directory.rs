//! The directory that answers from the ledger, and when it asks again.

use std::sync::Arc;

use turnframe_core::context::ActorContext;
use turnframe_core::id::{ActorId, CaseRef, ConversationId, Locale, WorkflowKey};
use turnframe_ledger::memory::MemoryLedger;
use turnframe_ledger::{MarkKind, PartitionId, PartitionSet, StreamName};
use turnframe_runtime::directory::{LedgerDirectory, member_key};
use turnframe_runtime::port::CaseDirectory;
use turnframe_test::ledger::build::{Bench, set};

/// Commits a case of the actor, as whatever process owns the partition does.
async fn open_case(bench: &Bench, actor: &ActorContext) -> CaseRef {
    let workflow = WorkflowKey::new("loan").expect("a workflow");
    let case = CaseRef { workflow, case: bench.ids.case() };
    let stream = StreamName::Case(case.clone());
    let member = set(MarkKind::Member, &member_key(&actor.actor, &case), &stream, 0);
    bench.must_commit(vec![bench.marking(&stream, 0, vec![member])]).await;
    case
}

#[tokio::test]
async fn what_was_read_in_one_tenure_is_read_again_in_the_next() {
    let bench = Bench::on(Arc::new(MemoryLedger::new()));
    let actor = ActorContext {
        account: bench.acme.clone(),
        actor: ActorId::new("ada").expect("an actor"),
        locale: Locale::new("en").expect("a locale"),
        time_zone: "UTC".to_owned(),
    };
    let conversation = ConversationId::new("c").expect("a conversation");
    let directory = LedgerDirectory::new(bench.ledger.clone());
    let candidates =
        async || directory.candidates(&actor, &conversation).await.expect("candidates");
    let first = open_case(&bench, &actor).await;
    assert_eq!(candidates().await, std::slice::from_ref(&first));

    // The partition goes to another process, which opens a case and gives the partition back.
    let (ownership, partition) = (bench.ledger.ownership(), PartitionId::of(&bench.acme));
    ownership.lose(partition);
    let second = open_case(&bench, &actor).await;
    assert_eq!(
        candidates().await,
        [second.clone(), first.clone()],
        "not kept while it is not ours"
    );
    let third = open_case(&bench, &actor).await;
    ownership.hold(PartitionSet::ALL);
    assert_eq!(candidates().await, [third.clone(), second.clone(), first.clone()]);

    // In a tenure that lasts it is told of new cases, and asks no more.
    open_case(&bench, &actor).await;
    assert_eq!(candidates().await, [third, second, first]);
}
