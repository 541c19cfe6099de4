//! Reads one handler of Claude Code's settings.
//!
//! Types, required fields and the shape of every known field are checked as the client's schema
//! does; a field that is wrong costs the handler. Unknown keys cost nothing (measured).

use std::collections::BTreeMap;
use std::time::Duration;

use super::claude::GROUP_KEYS;
use super::part::Slot;
use super::report::Report;
use super::tree::{Node, Span, Table, Value};
use super::{Places, did_you_mean};
use crate::handler::{Action, Background, CommandAction, Handler, OnFailure};

/// What is wrong with a handler.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

const TYPES: [&str; 5] = ["command", "http", "mcp_tool", "prompt", "agent"];

const COMMON: [&str; 6] = [
    "type",
    "if",
    "timeout",
    "statusMessage",
    "once",
    "onFailure",
];

/// A century and more: long enough to be for ever, short enough to add to any clock.
const LONGEST: Duration = Duration::from_secs(u32::MAX as u64);

/// The keys of a handler type beside the common ones.
fn own_keys(type_name: &str) -> &'static [&'static str] {
    match type_name {
        "command" => &[
            "command",
            "args",
            "async",
            "asyncRewake",
            "rewakeMessage",
            "rewakeSummary",
            "shell",
        ],
        "http" => &["url", "headers", "allowedEnvVars"],
        "mcp_tool" => &["server", "tool", "input"],
        "prompt" => &["prompt", "model", "continueOnBlock"],
        "agent" => &["prompt", "model"],
        _ => &[],
    }
}

/// Every key a handler of this type may have.
pub(crate) fn known_keys(type_name: &str) -> Vec<&'static str> {
    COMMON.iter().chain(own_keys(type_name)).copied().collect()
}

/// Reads one handler, or says everything that is wrong with it.
pub(crate) fn read(
    slot: &Slot<'_>,
    report: &Report<'_>,
) -> Result<(Handler, Places), Vec<Problem>> {
    let Some(table) = slot.table() else {
        let message = format!("expected a handler object, found {}", slot.node.describe());
        return Err(vec![problem(slot.node.span, message)]);
    };
    let mut fields = Fields {
        table,
        span: slot.node.span,
        problems: Vec::new(),
    };
    let type_name = fields.type_name();
    let action = fields.action(type_name);
    let timeout = fields.optional("timeout", "a number of seconds above 0", seconds);
    let condition = fields.text("if");
    let once = fields.flag("once");
    let status_message = fields.text("statusMessage");
    let judged = matches!(type_name, Some("prompt" | "agent"));
    let on_failure = if judged { None } else { fields.on_failure() };
    let background = fields.background(type_name);
    let (Some(action), true) = (action, fields.problems.is_empty()) else {
        return Err(fields.problems);
    };
    let places = slot.places(report, &GROUP_KEYS, &known_keys(action.type_name()));
    let handler = Handler {
        timeout,
        condition,
        once,
        status_message,
        on_failure: on_failure.unwrap_or_default(),
        background,
        ..slot.handler(report, action)
    };
    Ok((handler, places))
}

fn problem(span: Span, message: String) -> Problem {
    Problem {
        span,
        message,
        help: None,
    }
}

struct Fields<'t> {
    table: &'t Table,
    span: Span,
    problems: Vec<Problem>,
}

impl<'t> Fields<'t> {
    /// A field that may be absent; `null` is a wrong value, not an absent one.
    fn optional<T>(
        &mut self,
        key: &str,
        expected: &str,
        take: impl Fn(&'t Node) -> Option<T>,
    ) -> Option<T> {
        let node = self.table.get(key)?;
        let taken = take(node);
        if taken.is_none() {
            let message = format!("`{key}`: expected {expected}, found {}", node.describe());
            self.problems.push(problem(node.span, message));
        }
        taken
    }

    fn required<T>(
        &mut self,
        key: &str,
        expected: &str,
        take: impl Fn(&'t Node) -> Option<T>,
    ) -> Option<T> {
        if self.table.get(key).is_none() {
            self.problems
                .push(problem(self.span, format!("`{key}` is missing")));
        }
        self.optional(key, expected, take)
    }

    fn text(&mut self, key: &str) -> Option<String> {
        self.optional(key, "a string", |node| node.as_text().map(str::to_owned))
    }

    fn needed_text(&mut self, key: &str) -> Option<String> {
        self.required(key, "a string", |node| node.as_text().map(str::to_owned))
    }

    fn flag(&mut self, key: &str) -> bool {
        self.optional(key, "true or false", Node::as_bool) == Some(true)
    }

    /// The type, if it is one the client knows.
    fn type_name(&mut self) -> Option<&'t str> {
        let written = self.required("type", "a string", Node::as_text)?;
        if !TYPES.contains(&written) {
            let span = self.table.get("type").map_or(self.span, |node| node.span);
            self.problems.push(Problem {
                span,
                message: format!("unknown handler type {written:?}"),
                help: did_you_mean(written, TYPES)
                    .or_else(|| Some(format!("the types are {}", TYPES.join(", ")))),
            });
            return None;
        }
        Some(written)
    }

    fn action(&mut self, type_name: Option<&str>) -> Option<Action> {
        match type_name? {
            "command" => self.command(),
            "http" => {
                let url = self.required("url", "a URL", url);
                let headers = self.optional("headers", "an object of strings", text_map);
                let allowed = self.optional("allowedEnvVars", "a list of strings", text_list);
                Some(Action::Http {
                    url: url?,
                    headers: headers.unwrap_or_default(),
                    allowed_env: allowed.unwrap_or_default(),
                })
            }
            "mcp_tool" => {
                let server = self.needed_text("server");
                let tool = self.needed_text("tool");
                let input = self.optional("input", "an object", object);
                Some(Action::McpTool {
                    server: server?,
                    tool: tool?,
                    input,
                })
            }
            "prompt" => {
                let prompt = self.needed_text("prompt");
                let model = self.text("model");
                let continue_on_block = self.flag("continueOnBlock");
                Some(Action::Prompt {
                    prompt: prompt?,
                    model,
                    continue_on_block,
                })
            }
            _ => {
                let prompt = self.needed_text("prompt");
                let model = self.text("model");
                Some(Action::Agent {
                    prompt: prompt?,
                    model,
                })
            }
        }
    }

    fn command(&mut self) -> Option<Action> {
        let command = self.needed_text("command");
        let args = self.optional("args", "a list of strings", text_list);
        let shells = |node: &'t Node| {
            let shell = node.as_text()?;
            matches!(shell, "bash" | "powershell").then(|| shell.to_owned())
        };
        let shell = self.optional("shell", "\"bash\" or \"powershell\"", shells);
        Some(Action::Command(CommandAction {
            command: command?,
            args,
            shell,
            command_windows: None,
        }))
    }

    fn on_failure(&mut self) -> Option<OnFailure> {
        self.optional(
            "onFailure",
            "\"continue\" or \"block\"",
            |node| match node.as_text()? {
                "continue" => Some(OnFailure::Continue),
                "block" => Some(OnFailure::Block),
                _ => None,
            },
        )
    }

    fn background(&mut self, type_name: Option<&str>) -> Background {
        if type_name != Some("command") {
            return Background::No;
        }
        match (self.flag("asyncRewake"), self.flag("async")) {
            (true, _) => Background::AsyncRewake,
            (false, true) => Background::Async,
            (false, false) => Background::No,
        }
    }
}

/// Fractions count (measured); 0 and negative numbers are wrong, and no number is too large.
fn seconds(node: &Node) -> Option<Duration> {
    let Value::Number(number) = &node.value else {
        return None;
    };
    let seconds = number.as_f64().filter(|seconds| *seconds > 0.0)?;
    Some(Duration::try_from_secs_f64(seconds).map_or(LONGEST, |given| given.min(LONGEST)))
}

fn text_list(node: &Node) -> Option<Vec<String>> {
    let texts = node.as_list()?.iter();
    texts
        .map(|item| item.as_text().map(str::to_owned))
        .collect()
}

fn text_map(node: &Node) -> Option<BTreeMap<String, String>> {
    let entries = node.as_table()?.effective().into_iter();
    entries
        .map(|entry| Some((entry.key.clone(), entry.value.as_text()?.to_owned())))
        .collect()
}

fn object(node: &Node) -> Option<serde_json::Value> {
    node.as_table().map(|_| node.to_json())
}

/// What a URL needs to be one: a scheme, and a host where the scheme has hosts.
fn url(node: &Node) -> Option<String> {
    let text = node.as_text()?;
    let (scheme, rest) = text.trim().split_once(':')?;
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let host = rest.trim_start_matches(['/', '\\']);
    let host = host.split(['/', '\\', '?', '#']).next().unwrap_or("");
    let needs_host = matches!(
        scheme.to_ascii_lowercase().as_str(),
        "http" | "https" | "ws" | "wss" | "ftp"
    );
    let bad_host = host.is_empty() || host.starts_with(':') || host.contains(char::is_whitespace);
    (named && !(needs_host && bad_host)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(text: &str) -> Node {
        crate::config::json::parse(text).unwrap()
    }

    #[test]
    fn a_timeout_is_any_number_above_zero() {
        for (text, expected) in [
            ("5", Some(Duration::from_secs(5))),
            ("0.5", Some(Duration::from_millis(500))),
            ("99999999", Some(Duration::from_secs(99_999_999))),
            ("1e300", Some(LONGEST)),
            ("0", None),
            ("-0.0", None),
            ("-1", None),
            ("\"5\"", None),
            ("null", None),
            ("true", None),
        ] {
            assert_eq!(seconds(&node(text)), expected, "{text}");
        }
    }

    #[test]
    fn a_url_has_a_scheme_and_a_host() {
        for good in [
            "http://127.0.0.1:9/hook",
            "https://h",
            "HTTP://h?x",
            "http:host/path",
            "ftp://h",
            "x:y",
        ] {
            assert!(url(&node(&format!("{good:?}"))).is_some(), "{good}");
        }
        for bad in [
            "nope",
            "",
            "http://",
            "https:///",
            "://h",
            "1x://h",
            "http://:80",
            "http://a b",
        ] {
            assert!(url(&node(&format!("{bad:?}"))).is_none(), "{bad}");
        }
    }
}
