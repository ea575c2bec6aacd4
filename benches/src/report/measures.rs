//! Each figure: how much work it is taken from, and what was aimed at.

use turnframe_core::source::IdSource;

use super::{Figure, Plan};
use crate::append::{compare, walk_memory};
use crate::effects::{self, Effects};
use crate::error::BenchError;
use crate::ground::{Backend, Ground};
use crate::load::{self, Load, Report};
use crate::speaker::Act;
use crate::{growth, order, resident, single};

/// A turn of one conversation beside the bare commits it is made of.
const NEAR_BARE: &str = "p50 <= 1.3 times that of bare commits";
const RATE: &str = ">= 60 % of a plain insert";
const VERIFIED: &str = ">= 500,000 entries/s";
const AS_EARLY: &str = "within 10 % of turn 10";

pub(super) struct Measures<'p> {
    pub(super) plan: &'p Plan,
    pub(super) ids: &'p IdSource,
    pub(super) figures: Vec<Figure>,
}

impl Measures<'_> {
    fn add(&mut self, name: impl Into<String>, measured: String, wanted: &'static str, met: bool) {
        self.figures.push(Figure::of(name, measured, wanted, met));
    }

    fn without_postgres(&mut self, figures: &[(&str, &'static str)]) {
        let missing = figures.iter().map(|(name, wanted)| Figure::not_measured(*name, wanted));
        self.figures.extend(missing);
    }

    async fn load(
        &self,
        backend: &Backend,
        conversations: usize,
        turns: usize,
    ) -> Result<Report, BenchError> {
        let ground = Ground::open(backend, self.ids).await?;
        let load = Load { conversations, turns: self.plan.amount(turns) };
        let report = load::run(&ground, &load).await;
        ground.clear().await?;
        report.and_then(|report| match report.failed {
            0 => Ok(report),
            _ => Err(BenchError::Departed("turns under load were not committed")),
        })
    }

    pub(super) async fn memory(&mut self) -> Result<(), BenchError> {
        let conversations = self.plan.amount(20_000);
        let seen = resident::measure(&self.plan.directory, self.ids, conversations).await?;
        let (active, passivated) = (seen.active_kib, seen.passivated_kib);
        let of = |what: &str| format!("memory of {what} conversation with its case");
        self.add(of("an idle"), format!("{active:.1} KiB"), "< 24 KiB", active < 24.0);
        let is_none = passivated < 1.0;
        let returned = seen.returned_kib;
        let measured = format!("{passivated:.2} KiB kept; {returned:.1} KiB went back at once");
        self.add(of("a passivated"), measured, "0 (< 1 KiB)", is_none);
        Ok(())
    }

    pub(super) async fn crowds(&mut self) -> Result<(), BenchError> {
        let crowds = self.plan.amount(50);
        let seen = resident::crowds(&self.plan.directory, self.ids, crowds).await?;
        let conversations = crowds * resident::CROWD;
        let (first, last) = (seen.first_mib, seen.last_mib);
        let rate = seen.opened_per_second;
        let measured =
            format!("{last:.0} MiB, {first:.0} MiB after the first 20,000 ({rate:.0} opened/s)");
        let name = format!("resident with {conversations} conversations on the ledger");
        self.add(name, measured, "bounded (< 1.5 times)", last < first * 1.5);
        Ok(())
    }

    pub(super) async fn turns_in_memory(&mut self) -> Result<(), BenchError> {
        for (conversations, turns) in [(1, 20_000), (1_000, 30)] {
            let seen = self.load(&Backend::Memory, conversations, turns).await?;
            let cpu = seen.cpu_us_per_turn;
            let name = format!("in memory, {conversations} at once: CPU per turn");
            let rate = seen.turns_per_second;
            let measured = format!("{cpu:.0} us ({rate:.0} turns/s)");
            self.add(name, measured, "<= 100 us", cpu <= 100.0);
        }
        Ok(())
    }

    pub(super) async fn turns_on_postgres(&mut self) -> Result<(), BenchError> {
        const MANY: &str = ">= 3,000 turns/s (aim 5,000), p99 < 500 ms";
        const LEAN: &str = "< 0.5 statements, <= 5 entries";
        const SOME: &str = ">= 2,000 turns/s (aim 3,000), p50 < 30 ms";
        let names = [
            "PostgreSQL, 1,000 at once",
            "PostgreSQL, 1,000 at once: per turn",
            "PostgreSQL, 64 at once",
        ];
        let Some(backend) = self.plan.postgres() else {
            let [many, lean, some] = names;
            self.without_postgres(&[(many, MANY), (lean, LEAN), (some, SOME)]);
            return Ok(());
        };
        let seen = self.load(&backend, 1_000, 40).await?;
        let met = seen.turns_per_second >= 3_000.0 && seen.p99_ms < 500.0;
        self.add(names[0], speed(&seen), MANY, met);
        let (statements, entries) = (seen.statements_per_turn, seen.entries_per_turn);
        let measured = format!("{statements:.3} statements, {entries:.2} entries");
        self.add(names[1], measured, LEAN, statements < 0.5 && entries <= 5.0);
        let seen = self.load(&backend, 64, 400).await?;
        let met = seen.turns_per_second >= 2_000.0 && seen.p50_ms < 30.0;
        self.add(names[2], speed(&seen), SOME, met);
        Ok(())
    }

    pub(super) async fn turns_on_sqlite(&mut self) -> Result<(), BenchError> {
        let seen = self.load(&self.plan.sqlite(), 1_000, 40).await?;
        let met = seen.turns_per_second >= 5_000.0;
        self.add("SQLite, 1,000 at once", speed(&seen), ">= 5,000 turns/s (aim 8,000)", met);
        Ok(())
    }

    pub(super) async fn effects(&mut self) -> Result<(), BenchError> {
        let plan = Effects {
            seconds: self.plan.amount(20) as u64,
            waiting: self.plan.amount(4_000),
            ..Effects::default()
        };
        let seen = effects::run(&self.plan.sqlite(), self.ids, &plan).await?;
        let alone = seen.effects_alone_per_second;
        let measured = format!("{alone:.0} effects/s, sent, concluded and told");
        self.figures.push(Figure::reported("SQLite, effects that have waited", measured));
        let (rate, turns) = (seen.effects_per_second, seen.turns_per_second);
        let measured = format!("{rate:.0} effects/s beside {turns:.0} turns/s");
        let name = "SQLite, effects beside turns at half of their most";
        self.add(name, measured, ">= 1,000 effects/s at 64 in flight", rate >= 1_000.0);
        let (ratio, beside, alone) = (seen.p99_ratio, seen.beside.p99_ms, seen.alone.p99_ms);
        let measured = format!("{ratio:.2} ({beside:.1} / {alone:.1} ms)");
        self.add("turns beside effects: p99", measured, "less than doubles", ratio < 2.0);
        Ok(())
    }

    pub(super) async fn single(&mut self) -> Result<(), BenchError> {
        let acts = [
            (Act::Speak, "PostgreSQL, 1 conversation, spoken", "<= 4 commit waits", 4.0),
            (Act::Click, "PostgreSQL, 1 conversation, clicked", "<= 3 commit waits", 3.0),
        ];
        for (act, name, waits, most) in acts {
            let beside = format!("{name}: beside bare commits");
            let Some(backend) = self.plan.postgres() else {
                self.without_postgres(&[(name, waits), (beside.as_str(), NEAR_BARE)]);
                continue;
            };
            let turns = self.plan.amount(2_000);
            let seen = single::measure(&backend, self.ids, turns, act).await?;
            let (commits, entries) = (seen.commits_per_turn, seen.entries_per_turn);
            let measured = format!("{commits:.2} commits, {entries:.2} entries");
            self.add(name, measured, waits, commits < most + 0.05);
            let ratio = seen.p50_ms / seen.bare_p50_ms;
            let (p50, bare, bytes) = (seen.p50_ms, seen.bare_p50_ms, seen.row_bytes);
            let measured = format!("{ratio:.2} ({p50:.2} ms / {bare:.2} ms, {bytes} bytes a row)");
            self.add(beside, measured, NEAR_BARE, ratio <= 1.3);
        }
        Ok(())
    }

    pub(super) async fn ledger(&mut self) -> Result<(), BenchError> {
        const TURNS: usize = 250;
        let verification = |backend: &str| format!("{backend}: verification");
        let entries = self.plan.amount(200_000);
        let rate = walk_memory(self.ids, entries / 2).await?;
        let measured = format!("{rate:.0} entries/s");
        self.add(verification("memory"), measured, VERIFIED, rate >= 500_000.0);
        for backend in [Some(self.plan.sqlite()), self.plan.postgres()] {
            let name = backend.as_ref().map_or("PostgreSQL", Backend::name);
            let (append, verify) = (format!("{name}: append"), verification(name));
            let Some(backend) = backend else {
                self.without_postgres(&[(append.as_str(), RATE), (verify.as_str(), VERIFIED)]);
                continue;
            };
            let seen = compare(&backend, self.ids, self.plan.amount(300), TURNS).await?;
            let share = 100.0 * seen.ledger / seen.plain;
            let (ledger, plain) = (seen.ledger, seen.plain);
            let measured = format!("{share:.0} % ({ledger:.0} / {plain:.0} entries/s)");
            self.add(append, measured, RATE, share >= 60.0);
            let measured = format!("{:.0} entries/s", seen.verified);
            self.add(verify, measured, VERIFIED, seen.verified >= 500_000.0);
        }
        Ok(())
    }

    pub(super) async fn growth(&mut self) -> Result<(), BenchError> {
        let turns = self.plan.amount(10_000);
        for backend in [Some(Backend::Memory), Some(self.plan.sqlite()), self.plan.postgres()] {
            let name = backend.as_ref().map_or("PostgreSQL", Backend::name);
            let (late, cold) =
                (format!("{name}: turn {turns}"), format!("{name}: first turn after a restart"));
            let Some(backend) = backend else {
                self.without_postgres(&[(late.as_str(), AS_EARLY), (cold.as_str(), "(reported)")]);
                continue;
            };
            let seen = growth::measure(&backend, self.ids, turns).await?;
            let ratio = seen.old_ms / seen.young_ms;
            let (old, young, first) = (seen.old_ms, seen.young_ms, seen.first_ms);
            let measured = format!("{ratio:.2} ({old:.3} / {young:.3} ms; {first:.3} at first)");
            self.add(late, measured, AS_EARLY, ratio <= 1.1);
            let (with, without) = (seen.cold_with_ms, seen.cold_without_ms);
            let measured = format!("{with:.1} ms, without snapshots {without:.1} ms");
            self.figures.push(Figure::reported(cold, measured));
        }
        Ok(())
    }

    pub(super) async fn order(&mut self) -> Result<(), BenchError> {
        let backend = self.plan.best();
        let seen = order::measure(&backend, self.ids).await?;
        let name = format!("{}: 8 turns at the same moment to each of 20", backend.name());
        let measured = format!("{} committed, {} of 20 in order", seen.committed, seen.in_order);
        let all = order::CONVERSATIONS * order::TURNS;
        let met = seen.committed == all && seen.in_order == order::CONVERSATIONS;
        self.add(name, measured, "160 committed, in order", met);
        Ok(())
    }
}

fn speed(seen: &Report) -> String {
    let Report { turns_per_second, p50_ms, p99_ms, .. } = seen;
    format!("{turns_per_second:.0} turns/s, p50 {p50_ms:.1} ms, p99 {p99_ms:.1} ms")
}
