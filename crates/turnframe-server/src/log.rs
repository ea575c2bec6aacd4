//! One line per request: method, route, status, duration. Never a path, a query, a header or a body, in which
//! a user's words, a token or a name could stand.

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;

/// Logs a request, and keeps its answer out of caches: answers are somebody's own.
pub(crate) async fn request(request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let started = Instant::now();
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    tracing::info!(
        %method,
        route = route.as_ref().map_or("none", MatchedPath::as_str),
        status = response.status().as_u16(),
        duration_ms = started.elapsed().as_millis(),
        "request"
    );
    response
}
