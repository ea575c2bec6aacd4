//! TLS from the first byte and after the hello, with whom the operating system trusts, and with nobody else.

use std::net::SocketAddr;

use tokio::io::BufReader;
use tokio::net::TcpListener;
use turnframe_destinations::smtp::Security;
use turnframe_runtime::port::{Destination, Dispatched};

use crate::authority::{Authority, addresses};
use crate::wire::{At, Says, converse, hear, say, speak};
use crate::{builder, delivery, mail};

/// How a server begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// With TLS.
    AtOnce,
    /// With TLS, and then it lets nobody in.
    Forbidding,
    /// With TLS after the hello.
    AfterHello,
    /// So too, with answers behind its permission that somebody in between put there.
    WithInjection,
    /// Without offering TLS.
    InTheClear,
}

/// The servers, whether the operating system trusts who vouches for them, how they are spoken to, and whether they take
/// a mail.
const SERVERS: [(Begins, bool, Security, bool); 7] = [
    (Begins::AtOnce, true, Security::Tls, true),
    (Begins::AfterHello, true, Security::StartTls, true),
    (Begins::AtOnce, false, Security::Tls, false),
    (Begins::AfterHello, false, Security::StartTls, false),
    (Begins::InTheClear, true, Security::StartTls, false),
    (Begins::WithInjection, true, Security::StartTls, false),
    (Begins::Forbidding, true, Security::Tls, false),
];

/// Answers to the hello and to all that follows, as if the mail had been taken.
const INJECTED: &str = "220 Go ahead\r\n250-mx.example\r\n250 AUTH PLAIN\r\n235 Ok\r\n250 Ok\r\n250 Ok\r\n\
                        354 Go on\r\n250 Ok: injected";

/// A server that takes mail from whoever logs in; behind an injection it takes none.
async fn server(authority: &Authority, begins: Begins) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let acceptor = authority.acceptor();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            let says = |at| match at {
                At::Hello => Some(Says::Line("250-mx.example\r\n250 AUTH PLAIN")),
                At::Authentication if begins == Begins::Forbidding => {
                    Some(Says::Line("535 5.7.8 Who are you?"))
                }
                At::Sender if begins == Begins::WithInjection => Some(Says::Line("550 No")),
                At::Greeting
                | At::Authentication
                | At::Sender
                | At::Recipient(_)
                | At::Data
                | At::Content => None,
            };
            let mut plain = BufReader::new(stream);
            match begins {
                Begins::AtOnce | Begins::Forbidding => {
                    if let Ok(stream) = acceptor.accept(plain.into_inner()).await {
                        speak(stream, says, |_| ()).await;
                    }
                }
                Begins::InTheClear => {
                    let in_the_clear = |line: &str| {
                        assert!(line.starts_with("EHLO") || line == "QUIT", "in the clear: {line}");
                    };
                    speak(plain.into_inner(), |_| None, in_the_clear).await;
                }
                Begins::AfterHello | Begins::WithInjection => {
                    let injects = begins == Begins::WithInjection;
                    let permits = if injects { INJECTED } else { "220 Go ahead" };
                    say(&mut plain, None, "220 mx.example").await;
                    hear(&mut plain).await;
                    say(&mut plain, None, "250-mx.example\r\n250 STARTTLS").await;
                    hear(&mut plain).await;
                    say(&mut plain, None, permits).await;
                    if let Ok(stream) = acceptor.accept(plain.into_inner()).await {
                        converse(&mut BufReader::new(stream), says, |_| ()).await;
                    }
                }
            }
        }
    });
    address
}

#[tokio::test]
async fn whom_the_operating_system_vouches_for_is_spoken_to_and_nobody_else() {
    let Some(servers) = addresses() else {
        let (trusted, stranger) = (Authority::new(), Authority::new());
        let mut servers = Vec::new();
        for (begins, is_trusted, ..) in SERVERS {
            let authority = if is_trusted { &trusted } else { &stranger };
            servers.push(server(authority, begins).await.to_string());
        }
        let this = "tls::whom_the_operating_system_vouches_for_is_spoken_to_and_nobody_else";
        return trusted.trusted_in(this, &servers).await;
    };
    for ((begins, is_trusted, security, takes), server) in SERVERS.into_iter().zip(servers) {
        let notify = builder(server.parse().expect("an address"), security);
        let notify = notify.credentials("shop", "geheim").build().expect("a declaration");
        let dispatched = notify.dispatch(&delivery(&mail(&["ada@ferri.example"]))).await;
        let is_as_expected = match dispatched {
            Dispatched::Accepted { .. } => takes,
            Dispatched::NotSent { .. } => !takes,
            Dispatched::Rejected { .. } | Dispatched::Unknown { .. } => false,
        };
        assert!(is_as_expected, "{begins:?}, trusted {is_trusted}: {dispatched:?}");
    }
}
