use std::time::Duration;

/// Why a receiver cannot be reached as it was declared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The base address cannot be one.
    #[error("{0:?} is not an absolute http or https address without a query and a fragment")]
    Address(String),
    /// A secret in an address is told by everybody who tells the address.
    #[error("the address names a user or a password: send them in a header")]
    SecretInAddress,
    /// A path cannot be one.
    #[error(
        "{0:?} is not a path such as /orders/{{key}} or /orders/{{/id}}: segments of plain text, or one place each"
    )]
    Path(String),
    /// A pointer into an answer cannot be one.
    #[error("{0:?} is not a JSON pointer: it is empty, or begins with '/'")]
    Pointer(String),
    /// No receiver ends with that status.
    #[error("{0} is not a status that an answer ends with (200 to 599)")]
    Status(u16),
    /// A header's name or value cannot be one, or the destination sends that header itself.
    #[error("the header {0:?} cannot be sent, or is one that the destination sends itself")]
    Header(String),
    /// The same answers are declared to mean two things.
    #[error("operation {operation:?}: the answers {when} are declared to mean two things")]
    Contradiction {
        /// The operation.
        operation: String,
        /// The answers.
        when: String,
    },
    /// Nothing that the receiver may say would settle the operation.
    #[error("operation {0:?}: no answer is declared to accept it, here or in its look-up")]
    NeverAccepted(String),
    /// The same operation is declared twice.
    #[error("operation {0:?} is declared twice")]
    Twice(String),
    /// Nothing could ever be sent.
    #[error("no operation is declared")]
    NoOperation,
    /// A connection could still be on its way when the attempt is given up: a proof of "not sent" would be lost.
    #[error("making a connection ({connect:?}) has to end before the attempt does ({attempt:?})")]
    Timeouts {
        /// How long a connection may take.
        connect: Duration,
        /// How long the whole attempt may take.
        attempt: Duration,
    },
    /// What fails on a connection that idled is of unknown outcome, and could not be sent again.
    #[error("connections are kept only for a receiver that is declared IdempotentByKey")]
    KeptConnections,
    /// The HTTP client cannot be built.
    #[error("the HTTP client cannot be built: {0}")]
    Client(#[from] reqwest::Error),
}
