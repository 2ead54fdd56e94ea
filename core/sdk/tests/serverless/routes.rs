//! The program of the guide that takes push deliveries with axum.
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{HeaderMap, Method};
use axum::{Router, routing::post};
use ojs::serverless::PushHandler;

async fn routes() -> Result<Router, ojs::Error> {
    let handler = Arc::new(PushHandler::builder().signing_secret("whsec_…").build().await?);
    handler.register("email.send", |_| async { Ok(()) })?;
    let answer = async move |method: Method, headers: HeaderMap, body: Bytes| handler.answer(&method, &headers, &body).await;
    Ok(Router::new().route("/jobs", post(answer)))
}

#[tokio::test]
async fn axum_takes_signed_deliveries() {
    use tower::ServiceExt;
    let routes = routes().await.unwrap();
    let body = super::pushed(&super::job("ada"), "del_1");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    for (secret, status) in [("whsec_other", 401), ("whsec_…", 200)] {
        let mut request = axum::http::Request::post("/jobs").body(axum::body::Body::from(body.clone())).unwrap();
        *request.headers_mut() = super::signed(&body, secret, i64::try_from(now).unwrap());
        assert_eq!(routes.clone().oneshot(request).await.unwrap().status().as_u16(), status, "{secret}");
    }
}
