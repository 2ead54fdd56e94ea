//! Answers to push deliveries.
use http::{Response, StatusCode, header};
use serde_json::{Value, json};

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

    /// A refusal, in the form of the protocol.
    pub(super) fn refusal(status: StatusCode, code: &str, message: &str, details: Option<Value>) -> Self {
        let mut error = json!({"code": code, "message": message, "retryable": false});
        if let (Some(details), Some(members)) = (details, error.as_object_mut()) {
            members.insert("details".to_owned(), details);
        }
        Self { status, body: json!({ "error": error }).to_string() }
    }

    /// Its headers; 405 names the method that is allowed.
    pub(super) fn headers(&self) -> Vec<(&'static str, &'static str)> {
        let mut headers = vec![("content-type", "application/json")];
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
