//! The airline's own book: what it was sent, and what it did for each key.

use std::collections::BTreeMap;

use super::{AirlineCallback, AirlineRequest, AirlineStatement, Standing};

/// What the airline did for a key. There is at most one per key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Performed {
    /// What it was asked.
    pub request: AirlineRequest,
    /// What it says of it.
    pub statement: AirlineStatement,
}

/// The airline's book.
#[derive(Debug, Clone, Default)]
pub struct AirlineBook {
    received: BTreeMap<String, Vec<AirlineRequest>>,
    performed: BTreeMap<String, Performed>,
    issued: u32,
}

impl AirlineBook {
    /// The requests that were received under a key, in order, processed or not.
    #[must_use]
    pub fn received(&self, key: &str) -> &[AirlineRequest] {
        self.received.get(key).map_or(&[], Vec::as_slice)
    }

    /// How many requests were received, under whatever key.
    #[must_use]
    pub fn received_total(&self) -> usize {
        self.received.values().map(Vec::len).sum()
    }

    /// What was done for a key.
    #[must_use]
    pub fn performed(&self, key: &str) -> Option<&Performed> {
        self.performed.get(key)
    }

    /// Everything that was done, refusals included, in order of keys.
    pub fn all_performed(&self) -> impl Iterator<Item = (&str, &Performed)> {
        self.performed.iter().map(|(key, performed)| (key.as_str(), performed))
    }

    /// How many rebookings the airline took on: one per key at most.
    #[must_use]
    pub fn rebookings(&self) -> usize {
        let taken = |it: &&Performed| !matches!(it.statement.standing, Standing::Refused { .. });
        self.performed.values().filter(taken).count()
    }

    pub(super) fn receive(&mut self, key: &str, request: &AirlineRequest) {
        self.received.entry(key.to_owned()).or_default().push(request.clone());
    }

    /// Takes a rebooking on, once per key. `None` where the key stands for another request.
    pub(super) fn accept(
        &mut self,
        key: &str,
        request: &AirlineRequest,
    ) -> Option<AirlineStatement> {
        let reference = format!("R-{:04}", self.issued + 1);
        let statement =
            self.record(key, request, Standing::Received { reference: reference.clone() })?;
        if statement.standing == (Standing::Received { reference }) {
            self.issued += 1;
        }
        Some(statement)
    }

    /// Refuses a rebooking, once per key. `None` where the key stands for another request.
    pub(super) fn refuse(
        &mut self,
        key: &str,
        request: &AirlineRequest,
        code: &str,
    ) -> Option<AirlineStatement> {
        self.record(key, request, Standing::Refused { code: code.to_owned() })
    }

    /// Decides a rebooking that is in the book, and counts the statement.
    pub(super) fn decide(&mut self, key: &str, refusal: Option<&str>) -> Option<AirlineCallback> {
        let performed = self.performed.get_mut(key)?;
        let statement = &mut performed.statement;
        statement.standing = match (refusal, &statement.standing) {
            (Some(code), _) => Standing::Refused { code: code.to_owned() },
            (None, Standing::Received { reference } | Standing::Confirmed { reference }) => {
                Standing::Confirmed { reference: reference.clone() }
            }
            // A refusal has no reference to confirm.
            (None, Standing::Refused { .. }) => return None,
        };
        statement.sequence += 1;
        Some(AirlineCallback { key: key.parse().ok()?, statement: statement.clone() })
    }

    /// The first record of a key stands, whatever comes under it later.
    fn record(
        &mut self,
        key: &str,
        request: &AirlineRequest,
        standing: Standing,
    ) -> Option<AirlineStatement> {
        let first = || Performed {
            request: request.clone(),
            statement: AirlineStatement { standing, sequence: 1 },
        };
        let performed = self.performed.entry(key.to_owned()).or_insert_with(first);
        (performed.request == *request).then(|| performed.statement.clone())
    }
}
