//! The ceiling of HTTP: an axum server that reads the body and answers at once with what the generator needs to see.
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderName, StatusCode, header};
use axum::routing::post;

use crate::Result;

/// Serves until it is killed, with the same runtime as the real server.
pub fn serve() -> Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let app = Router::new()
            .route("/ojs/v1/jobs", post(echo))
            .route("/ojs/v1/jobs/batch", post(echo))
            .route("/ojs/v1/push", post(completed));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("listening on http://{}", listener.local_addr()?);
        axum::serve(listener, app).await?;
        Ok(())
    })
}

async fn echo(body: Bytes) -> (StatusCode, [(HeaderName, &'static str); 1], Bytes) {
    (StatusCode::CREATED, [(header::CONTENT_TYPE, "application/openjobspec+json")], body)
}

/// An endpoint of push delivery whose function does nothing.
async fn completed(_: Bytes) -> ([(HeaderName, &'static str); 1], &'static str) {
    ([(header::CONTENT_TYPE, "application/json")], r#"{"status":"completed"}"#)
}
