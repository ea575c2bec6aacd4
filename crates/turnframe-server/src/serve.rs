//! Serving until told to stop, and then stopping in order: streams end, requests are answered, the system drains.

use std::future::Future;
use std::io;

use tokio::net::TcpListener;
use tokio::sync::watch;
use turnframe_actors::System;

use crate::auth::Tokens;
use crate::limits::ServerLimits;
use crate::routes::{App, routes};

/// Serves a system on a listener until a future says to stop, and shuts the system down.
///
/// From then on no connection is accepted and live streams end, so that their clients resume elsewhere; requests
/// that are being answered get [`ServerLimits::shutdown`]. A turn whose answer nobody waits for any more is on
/// the ledger, and is resumed by the next start.
///
/// # Errors
/// When the listener fails. The system is shut down all the same.
pub async fn serve(
    listener: TcpListener,
    system: System,
    tokens: Tokens,
    limits: ServerLimits,
    until: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let (close, mut closing) = watch::channel(false);
    let patience = limits.shutdown;
    let app = App::new(system.clone(), tokens, limits, closing.clone());
    let told = async move {
        until.await;
        close.send_replace(true);
    };
    let serving = axum::serve(listener, routes(app)).with_graceful_shutdown(told);
    let overdue = async {
        if closing.wait_for(|closing| *closing).await.is_ok() {
            tokio::time::sleep(patience).await;
        } else {
            std::future::pending().await
        }
    };
    let served = tokio::select! {
        served = serving => served,
        () = overdue => {
            tracing::warn!("some requests were left unanswered; their turns are on the ledger");
            Ok(())
        }
    };
    system.shutdown().await;
    served
}
