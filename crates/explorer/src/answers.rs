//! Answers to requests: JSON objects, or what is wrong.

use axum::body::Body;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use quotient::Error;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    message: String,
}

/// An answer, or why there is none.
pub(crate) type Answer = Result<Value, Problem>;

impl Problem {
    /// The request cannot be used.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into() }
    }
    /// There is no such thing.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, message: message.into() }
    }
    /// It is not known yet.
    pub(crate) fn early(message: impl Into<String>) -> Self {
        Self { status: StatusCode::CONFLICT, message: message.into() }
    }
    /// The request may come from somewhere else.
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self { status: StatusCode::FORBIDDEN, message: message.into() }
    }
    /// This resource has other methods.
    pub(crate) fn method() -> Self {
        Self { status: StatusCode::METHOD_NOT_ALLOWED, message: "this resource has other methods".into() }
    }
    /// The request is too long.
    pub(crate) fn too_long(message: impl Into<String>) -> Self {
        Self { status: StatusCode::PAYLOAD_TOO_LARGE, message: message.into() }
    }
    /// What is wrong.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
    /// A defect of this program.
    pub(crate) fn defect(message: impl Into<String>) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, message: message.into() }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Internal(_) => Self::defect(error.to_string()),
            Error::Model(invalid) => {
                let messages: Vec<&str> = invalid.diagnostics.iter().map(|it| it.message.as_str()).collect();
                Self::bad(messages.join("; "))
            }
            _ => Self::bad(error.to_string()),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        respond(self.status, "application/json", json!({ "error": self.message }).to_string())
    }
}

/// A response that is not stored and not interpreted as something else.
pub(crate) fn respond(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ];
    (status, headers, body.into()).into_response()
}

/// The response of an answer.
pub(crate) fn response(answer: Answer) -> Response {
    match answer {
        Ok(value) => respond(StatusCode::OK, "application/json", value.to_string()),
        Err(problem) => problem.into_response(),
    }
}

/// The parameters in an address.
pub(crate) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    let parsed = axum::extract::Query::<T>::try_from_uri(uri);
    parsed.map(|query| query.0).map_err(|error| Problem::bad(error.body_text()))
}

/// The object in a body. Nothing is an empty object.
pub(crate) fn object<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let body = if body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { body };
    serde_json::from_slice(body).map_err(|error| Problem::bad(error.to_string()))
}
