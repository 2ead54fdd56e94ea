//! Answers to push deliveries.
use http::{Method, Response, StatusCode, header};
use serde_json::{Value, json};

/// The most that the body of a request may have, in bytes: AWS Lambda takes no more.
const MAX_BODY: usize = 6 << 20;

/// A status and a JSON body: small enough to be remembered.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn ok(body: String) -> Self {
        Self { status: StatusCode::OK, body }
    }

    /// A refusal, in the form of the protocol. A fault of the function (5xx) is worth another try.
    pub(super) fn refusal(status: StatusCode, code: &str, message: &str, details: Option<Value>) -> Self {
        let mut error = json!({"code": code, "message": message, "retryable": status.is_server_error()});
        if let (Some(details), Some(members)) = (details, error.as_object_mut()) {
            members.insert("details".to_owned(), details);
        }
        Self { status, body: json!({ "error": error }).to_string() }
    }

    /// The refusal of a request that carries no job: another method than POST, or too many bytes. `what` is what a
    /// request should be, for its sender.
    pub(super) fn wrong_request(method: &Method, body: &[u8], what: &str) -> Option<Self> {
        if method != Method::POST {
            let message = format!("{what} comes by POST");
            return Some(Self::refusal(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", &message, None));
        }
        (body.len() > MAX_BODY).then(|| {
            let message = format!("{what} has at most {MAX_BODY} bytes");
            Self::refusal(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", &message, None)
        })
    }

    /// Its headers; 405 names the method that is allowed.
    pub(super) fn headers(&self) -> Vec<(&'static str, &'static str)> {
        let mut headers = Vec::new();
        if !self.body.is_empty() {
            headers.push(("content-type", "application/json"));
        }
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            headers.push(("allow", "POST"));
        }
        headers
    }

    pub(super) fn response(self) -> Response<String> {
        let headers = self.headers();
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        for (name, value) in headers {
            response.headers_mut().insert(header::HeaderName::from_static(name), header::HeaderValue::from_static(value));
        }
        response
    }
}
