//! A small server of another kind, of levels 0 and 1 only, that notes what it is asked.
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::json;

/// What was asked: method, path with query, headers, body.
pub type Asked = (String, String, HeaderMap, Vec<u8>);

#[derive(Clone, Default)]
pub struct Other {
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Other {
    /// Serves until the test ends.
    pub async fn start() -> (Self, SocketAddr) {
        let other = Self::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(answer).with_state(other.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (other, address)
    }

    /// The last request to a path.
    pub fn last(&self, path: &str) -> Asked {
        let asked = self.asked.lock().unwrap();
        asked.iter().rev().find(|(_, other, ..)| other == path).unwrap_or_else(|| panic!("{path} was not asked for")).clone()
    }
}

async fn answer(State(other): State<Other>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().unwrap().to_string();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec();
    other.asked.lock().unwrap().push((parts.method.to_string(), path.clone(), parts.headers.clone(), body));
    let has_key = parts.headers.get("authorization").is_some_and(|key| key == "Bearer good");
    let path = path.strip_prefix("/below").unwrap_or(&path);
    match path {
        "/ojs/manifest" => {
            Json(json!({"specversion": "1.0", "implementation": {"name": "small"}, "conformance_level": 1})).into_response()
        }
        "/ojs/v1/queues" if !has_key => {
            let refusal = json!({"error": {"code": "unauthenticated", "message": "no such key"}});
            (StatusCode::UNAUTHORIZED, [("www-authenticate", "Basic realm=x")], Json(refusal)).into_response()
        }
        "/ojs/v1/queues" => {
            let headers = [("set-cookie", "theirs=1"), ("access-control-allow-origin", "*"), ("x-request-id", "r-1")];
            (headers, Json(json!({"queues": [{"name": "default"}]}))).into_response()
        }
        "/ojs/v1/jobs?echo=1" => (StatusCode::CREATED, [("content-type", "text/html")], "<script>").into_response(),
        "/ojs/v1/elsewhere" => (StatusCode::FOUND, [("location", "https://ann:secret@other.example/")]).into_response(),
        "/ojs/v1/never" => std::future::pending().await,
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}
