//! What to say when something is wrong: what happened, where, and what to check.

use std::error::Error;
use std::time::Duration;

use reqwest::StatusCode;
use seamline_harness::model::ModelError;
use serde_json::Value;

use super::Server;
use super::assemble::excerpt;

/// What a server says of its failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) message: String,
    kind: Option<String>,
    code: Option<String>,
}

impl Words {
    /// Reads the value of `error`: an object, or just a text.
    pub(super) fn of_error(json: &str) -> Self {
        let value: Value = serde_json::from_str(json).unwrap_or_default();
        Self::of(&value).unwrap_or_else(|| Self {
            message: excerpt(json.as_bytes()),
            ..Self::default()
        })
    }

    /// Reads the body of a refusal, in each shape that servers give it.
    pub(super) fn of_body(body: &[u8]) -> Self {
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        let inner = value.get("error").unwrap_or(&value);
        Self::of(inner).unwrap_or_else(|| Self {
            message: excerpt(body),
            ..Self::default()
        })
    }

    fn of(value: &Value) -> Option<Self> {
        if let Value::String(message) = value {
            let message = message.clone();
            return Some(Self {
                message,
                ..Self::default()
            });
        }
        let text = |name| match value.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        };
        Some(Self {
            message: text("message").or_else(|| text("detail"))?,
            kind: text("type"),
            code: text("code"),
        })
    }

    /// Whether the conversation is longer than the model can read.
    fn is_too_long(&self) -> bool {
        const SIGNS: [&str; 8] = [
            "context_length_exceeded",
            "exceed_context_size",
            "context length",
            "context window",
            "context size",
            "maximum context",
            "prompt is too long",
            "input is too long",
        ];
        let all = [Some(&self.message), self.kind.as_ref(), self.code.as_ref()];
        let all = all.into_iter().flatten().map(|text| text.to_lowercase());
        all.into_iter()
            .any(|text| SIGNS.iter().any(|sign| text.contains(sign)))
    }
}

impl Server {
    fn error(&self, status: Option<StatusCode>, kind: &str, message: String) -> ModelError {
        let message = match &self.options.key {
            Some(key) => key.scrub(&message),
            None => message,
        };
        ModelError {
            status: status.map(|status| status.as_u16()),
            kind: kind.to_owned(),
            message,
        }
    }

    /// The command that shows whether the server is there and which models it has.
    fn check(&self) -> String {
        let base = self.options.base_url.trim_end_matches('/');
        match &self.options.key {
            Some(key) => {
                let variable = &key.variable;
                format!("`curl -H \"Authorization: Bearer ${variable}\" {base}/models`")
            }
            None => format!("`curl {base}/models`"),
        }
    }

    fn start(&self, model: &str) -> String {
        match &self.options.start {
            Some(start) => format!(
                "is it running? Start it with `{}`; ",
                start.replace("MODEL", model)
            ),
            None => String::new(),
        }
    }

    /// Nobody answered.
    pub(super) fn unreachable(&self, error: &reqwest::Error, model: &str) -> ModelError {
        let (url, start, check) = (&self.url, self.start(model), self.check());
        let name = &self.options.name;
        let message = format!(
            "cannot reach {name} at {url}: {}; {start}check with {check}",
            innermost(error)
        );
        self.error(None, "connection_error", message)
    }

    /// The connection was there, and broke.
    pub(super) fn broke(&self, error: &dyn Error) -> ModelError {
        let (name, check) = (&self.options.name, self.check());
        let message = format!(
            "{name} broke the connection before its answer was complete ({}); see the server's own log, \
             and whether it is still there: {check}",
            innermost(error)
        );
        self.error(None, "stream_error", message)
    }

    /// The stream ended too early.
    pub(super) fn truncated(&self) -> ModelError {
        let (name, url) = (&self.options.name, &self.url);
        let message = format!(
            "{name} ended its answer before it was complete ({url}); see the server's own log: it may \
             have been stopped, or be out of memory"
        );
        self.error(None, "stream_error", message)
    }

    /// Nothing came for too long.
    pub(super) fn stalled(&self, begun: bool, idle: Duration) -> ModelError {
        let (name, check, idle) = (&self.options.name, self.check(), idle.as_secs_f64());
        let what = match begun {
            true => "sent nothing more",
            false => "has not begun to answer",
        };
        let message = format!(
            "{name} {what} for {idle} s; see whether it is busy or still loading the model: {check}; \
             `idle_timeout` in [models.{name}] allows for more"
        );
        self.error(None, "timeout_error", message)
    }

    /// Something came that is not of this format.
    pub(super) fn garbage(&self, what: &str) -> ModelError {
        let (name, url, check) = (&self.options.name, &self.url, self.check());
        let message = format!(
            "{name} sent what is no chat completion: {what:?}; is {url} the right address? `base_url` ends \
             in /v1 for most servers; check with {check}"
        );
        self.error(None, "invalid_response_error", message)
    }

    /// The server failed in the middle of its answer.
    pub(super) fn failed(&self, words: &Words) -> ModelError {
        let name = &self.options.name;
        if words.is_too_long() {
            return self.too_long(None, words);
        }
        let kind = words.kind.as_deref().unwrap_or("api_error");
        let message = format!(
            "{name} failed while it answered: {}; see the server's own log",
            words.message
        );
        self.error(None, kind, message)
    }

    fn too_long(&self, status: Option<StatusCode>, words: &Words) -> ModelError {
        let name = &self.options.name;
        let message = format!(
            "the conversation is longer than the model can read: {name} says: {}; begin a new session, go \
             back with --fork ID@TURN, or give the model a larger context on the server",
            words.message
        );
        self.error(status, "context_window_exceeded", message)
    }

    /// The server answered with a status that is no success, after so many requests.
    pub(super) fn refused(
        &self,
        status: StatusCode,
        body: &[u8],
        model: &str,
        attempts: u32,
        asked: Option<Duration>,
    ) -> ModelError {
        let words = Words::of_body(body);
        if matches!(status.as_u16(), 400 | 413 | 422 | 500) && words.is_too_long() {
            return self.too_long(Some(status), &words);
        }
        let (name, url, check) = (&self.options.name, &self.url, self.check());
        let said = match words.message.is_empty() {
            true => String::new(),
            false => format!(": {}", words.message),
        };
        let status_text = status.as_u16();
        let tries = match attempts {
            1 => String::new(),
            many => format!(" after {many} requests"),
        };
        let (kind, hint) = match status_text {
            401 | 403 => ("authentication_error", self.about_key()),
            404 => {
                let pull = match &self.options.pull {
                    Some(pull) => format!("; get it with `{}`", pull.replace("MODEL", model)),
                    None => String::new(),
                };
                let hint = format!(
                    "either there is no model {model:?}, or {url} is not the address; {check} lists \
                     the models{pull}"
                );
                ("not_found_error", hint)
            }
            429 => {
                let when = match asked {
                    Some(asked) => format!("in {} s", asked.as_secs_f64().ceil()),
                    None => "later".to_owned(),
                };
                let hint = format!("go on {when} with --continue, or see to your quota there");
                ("rate_limit_error", hint)
            }
            300..=399 => (
                "invalid_response_error",
                "it points elsewhere, which is not followed; set `base_url` to the address itself"
                    .to_owned(),
            ),
            500.. => {
                let hint = format!("see the server's own log, and check with {check}");
                ("api_error", hint)
            }
            _ => (
                "invalid_request_error",
                "the server does not take this request; see what it says".to_owned(),
            ),
        };
        let kind = words.kind.as_deref().unwrap_or(kind);
        let message = format!("{name} refused with {status_text}{tries}{said}; {hint}");
        self.error(Some(status), kind, message)
    }

    fn about_key(&self) -> String {
        let name = &self.options.name;
        match &self.options.key {
            Some(key) => format!(
                "it does not take the key in {}; see whether it is the right one",
                key.variable
            ),
            None => format!(
                "it wants a key: put it into a variable and name that in `key_env` of [models.{name}]"
            ),
        }
    }
}

/// The last cause, which says most: "Connection refused", not "error sending request".
fn innermost(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
