//! TLS with whom the operating system trusts, and with nobody else.

use std::net::SocketAddr;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use turnframe_core::canonical::Json;
use turnframe_destinations::http::{Operation, When};
use turnframe_runtime::port::{Destination, Dispatched};

use crate::authority::{Authority, addresses};
use crate::wire::{json as answer, read};
use crate::{builder, delivery, is_not_sent, reading};

/// A shop that a given authority vouches for.
async fn shop(authority: &Authority) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let acceptor = authority.acceptor();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            // Whoever does not trust it leaves.
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let mut stream = tokio::io::BufReader::new(stream);
            if read(&mut stream).await.is_some() {
                let answer = answer(201, r#"{"id":"R-1"}"#);
                stream.write_all(answer.as_bytes()).await.expect("written");
                stream.shutdown().await.expect("closed");
            }
        }
    });
    address
}

#[tokio::test]
async fn whom_the_operating_system_vouches_for_is_spoken_to_and_nobody_else() {
    let Some(shops) = addresses() else {
        let (trusted, stranger) = (Authority::new(), Authority::new());
        let shops = [shop(&trusted).await, shop(&stranger).await].map(|it| it.to_string());
        let this = "tls::whom_the_operating_system_vouches_for_is_spoken_to_and_nobody_else";
        return trusted.trusted_in(this, &shops).await;
    };
    let mut came = Vec::new();
    for shop in shops {
        let place = Operation::post("/orders", reading()).accepted(When::status(201));
        let orders = builder(&format!("https://{shop}")).operation("place", place).build();
        came.push(orders.expect("a declaration").dispatch(&delivery(&json!({}))).await);
    }
    let taken = Dispatched::Accepted { reference: "R-1".to_owned(), details: Json::default() };
    assert_eq!(came[0], taken);
    assert!(is_not_sent(&came[1]), "{:?}", came[1]);
}
