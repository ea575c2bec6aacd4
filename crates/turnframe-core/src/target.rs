//! Which record is meant: opaque tokens of this turn, and mentions that match exactly (I8).
//!
//! The table holds the cases of one turn and nothing else, so nothing outside it can be named. There is no
//! fuzzy match, no look-up elsewhere, and no preference by recency, order or plausibility.

use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::canonical::to_hex;
use crate::id::{AccountId, CaseRef};
use crate::source::IdSource;

/// An opaque handle of a case, minted for one turn.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TargetToken(String);

impl fmt::Display for TargetToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for TargetToken {
    /// Takes any text: whether it names anything is for [`TargetTable::by_token`] to say.
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// A case that can be named in this turn.
#[derive(Debug, Clone)]
pub struct Target {
    /// The handle shown to an interpreter.
    pub token: TargetToken,
    /// The case behind it.
    pub case: CaseRef,
    /// Whether it counts where no target is named: closed cases do not.
    pub is_open: bool,
    names: Vec<String>,
}

/// The cases of one turn.
#[derive(Debug, Clone)]
pub struct TargetTable {
    account: AccountId,
    targets: Vec<Target>,
    is_cut: bool,
}

/// What a mention means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Exactly one case.
    One(CaseRef),
    /// Several; the user is asked.
    Ambiguous(Vec<CaseRef>),
    /// None.
    Missing,
}

impl TargetTable {
    /// An empty table of an account.
    #[must_use]
    pub fn new(account: AccountId) -> Self {
        Self { account, targets: Vec::new(), is_cut: false }
    }

    /// Notes that the actor has more cases than stand here. From now on a single match is asked about too: another
    /// of the same name may be among those that were left out, and the newest is not preferred (I8).
    pub fn cut(&mut self) {
        self.is_cut = true;
    }

    /// Adds a case under its label and aliases and mints its token.
    pub fn admit<'a>(
        &mut self,
        case: CaseRef,
        is_open: bool,
        names: impl IntoIterator<Item = &'a str>,
        ids: &IdSource,
    ) -> TargetToken {
        let token = TargetToken(to_hex(&ids.bytes::<16>()));
        let names = names.into_iter().map(fold).filter(|name| !name.is_empty()).collect();
        self.targets.push(Target { token: token.clone(), case, is_open, names });
        token
    }

    /// The cases in the order in which they were admitted.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The case of a token. Another account's token and one that never was are the same `None`.
    #[must_use]
    pub fn by_token(&self, account: &AccountId, token: &TargetToken) -> Option<&CaseRef> {
        let found = self.targets.iter().find(|target| target.token == *token);
        found.filter(|_| self.account == *account).map(|target| &target.case)
    }

    /// What a mention means among the cases that a predicate admits.
    #[must_use]
    pub fn by_mention(&self, mention: &str, admits: impl Fn(&CaseRef) -> bool) -> Resolution {
        let mention = fold(mention);
        let named = |target: &&Target| target.names.contains(&mention) && admits(&target.case);
        self.resolution(self.targets.iter().filter(named))
    }

    /// What an act without a target means: the only open case that a predicate admits.
    #[must_use]
    pub fn unstated(&self, admits: impl Fn(&CaseRef) -> bool) -> Resolution {
        let open = |target: &&Target| target.is_open && admits(&target.case);
        self.resolution(self.targets.iter().filter(open))
    }

    fn resolution<'a>(&self, found: impl Iterator<Item = &'a Target>) -> Resolution {
        let mut cases: Vec<CaseRef> = found.map(|target| target.case.clone()).collect();
        match cases.len() {
            0 => Resolution::Missing,
            1 if !self.is_cut => Resolution::One(cases.remove(0)),
            _ => Resolution::Ambiguous(cases),
        }
    }
}

/// Folds case and width (NFKC), and runs of white space to one space.
#[must_use]
pub fn fold(text: &str) -> String {
    let folded: String = text.nfkc().flat_map(char::to_lowercase).collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ids;

    fn account(name: &str) -> AccountId {
        AccountId::new(name).expect("account")
    }

    fn table(names: &[&[&str]]) -> (TargetTable, Vec<CaseRef>) {
        let ids = ids();
        let mut table = TargetTable::new(account("a"));
        let workflow = crate::id::WorkflowKey::new("thing").expect("workflow");
        let mut cases = Vec::new();
        for names in names {
            let case = CaseRef { workflow: workflow.clone(), case: ids.case() };
            table.admit(case.clone(), true, names.iter().copied(), &ids);
            cases.push(case);
        }
        (table, cases)
    }

    #[test]
    fn i8_a_mention_matches_exactly_and_several_are_ambiguous() {
        let (table, cases) = table(&[&["Red Box", "box"], &["Blue Box", "box"]]);
        let any = |_: &CaseRef| true;
        assert_eq!(table.by_mention("ＲＥＤ  box", any), Resolution::One(cases[0].clone()));
        assert_eq!(table.by_mention("Box", any), Resolution::Ambiguous(cases.clone()));
        assert_eq!(table.by_mention("red", any), Resolution::Missing);
        assert_eq!(table.by_mention("Red Bux", any), Resolution::Missing);
        assert_eq!(table.by_mention("", any), Resolution::Missing);
        assert_eq!(table.unstated(any), Resolution::Ambiguous(cases));
    }

    #[test]
    fn i8_where_the_list_was_cut_a_single_match_is_asked_about_too() {
        let (mut table, cases) = table(&[&["red box"]]);
        table.cut();
        let any = |_: &CaseRef| true;
        assert_eq!(table.by_mention("red box", any), Resolution::Ambiguous(cases.clone()));
        assert_eq!(table.unstated(any), Resolution::Ambiguous(cases));
    }

    #[test]
    fn another_accounts_token_is_indistinguishable_from_an_unknown_one() {
        let (table, cases) = table(&[&["x"]]);
        let token = table.targets()[0].token.clone();
        assert_eq!(table.by_token(&account("a"), &token), Some(&cases[0]));
        assert_eq!(table.by_token(&account("b"), &token), None);
        assert_eq!(table.by_token(&account("a"), &TargetToken::from("0")), None);
    }
}
