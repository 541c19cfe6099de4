//! What a handler would do, as one short text.
//!
//! * **Codex**: byte for byte the client's own hash (reproduced on 69 measured hashes): SHA-256
//!   over compact JSON with sorted keys of the event, the matcher where the event has one, and the
//!   handler with its timeout filled in. The path is not part of it, so JSON and TOML agree;
//!   `commandWindows` is not either.
//! * **Claude Code** has no such hash. Ours follows the same idea over every field that changes
//!   what the handler does or when it runs: event, matcher, type, command, args, shell, URL,
//!   headers, allowed variables, server, tool, input, prompt, model, `continueOnBlock`, `if`,
//!   `timeout`, `async`, `asyncRewake`, `onFailure`, `once`. `statusMessage` is left out: it is
//!   only shown.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::dialect::{DialectId, EventRow, Subject};
use crate::handler::{Action, Background, CommandAction, Handler, OnFailure};

/// `sha256:` and 64 hexadecimal digits.
#[must_use]
pub fn hash(handler: &Handler) -> String {
    let row = handler.dialect.table().event(handler.event);
    let hook = match handler.dialect {
        DialectId::Codex => codex(handler, row),
        DialectId::Claude => claude(handler),
    };
    let mut identity = Map::new();
    if handler.dialect == DialectId::Claude {
        identity.insert("dialect".into(), "claude".into());
    }
    let snake = row.map_or(handler.event, |row| row.snake);
    identity.insert("event_name".into(), snake.into());
    identity.insert("hooks".into(), json!([hook]));
    let matched = row.is_none_or(|row| row.subject != Subject::Ignored);
    if let Some(matcher) = handler.matcher.as_deref().filter(|_| matched) {
        identity.insert("matcher".into(), matcher.into());
    }
    let text = sorted(&Value::Object(identity)).to_string();
    hex(&Sha256::digest(text.as_bytes()))
}

/// What our own store keeps of a handler: the hash, and with it what Codex's leaves out and we act
/// on. A project that takes `onFailure: "block"` back is not the one that was agreed to.
#[must_use]
pub fn kept(handler: &Handler) -> String {
    let hash = hash(handler);
    match (handler.dialect, handler.on_failure) {
        (DialectId::Codex, OnFailure::Block) => format!("{hash}+onFailure=block"),
        _ => hash,
    }
}

/// The written form of a digest.
pub(super) fn hex(digest: &[u8]) -> String {
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

/// The same value with the keys of every object in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(map) => {
            let mut keys: Vec<_> = map.iter().collect();
            keys.sort_by_key(|(key, _)| key.as_str());
            keys.into_iter()
                .map(|(key, value)| (key.clone(), sorted(value)))
                .collect()
        }
        other => other.clone(),
    }
}

fn codex(handler: &Handler, row: Option<&EventRow>) -> Value {
    let mut hook = action(&handler.action);
    if matches!(handler.action, Action::Command(_)) {
        let background = handler.background != Background::No;
        hook.insert("async".into(), background.into());
    }
    let default = row.map(|row| row.timeouts.default);
    let timeout = handler.timeout.or(default).unwrap_or_default().as_secs();
    hook.insert("timeout".into(), timeout.into());
    if let Some(message) = &handler.status_message {
        hook.insert("statusMessage".into(), message.as_str().into());
    }
    if let Some(limit) = handler.context_limit {
        hook.insert("additionalContextLimit".into(), limit.into());
    }
    if let Action::McpTool { input: None, .. } = handler.action {
        hook.insert("input".into(), json!({}));
    }
    Value::Object(hook)
}

fn claude(handler: &Handler) -> Value {
    let mut hook = action(&handler.action);
    if let Some(timeout) = handler.timeout {
        hook.insert("timeout".into(), timeout.as_secs_f64().into());
    }
    if let Some(condition) = &handler.condition {
        hook.insert("if".into(), condition.as_str().into());
    }
    match handler.background {
        Background::No => None,
        Background::Async => hook.insert("async".into(), true.into()),
        Background::AsyncRewake => hook.insert("asyncRewake".into(), true.into()),
    };
    if handler.on_failure == OnFailure::Block {
        hook.insert("onFailure".into(), "block".into());
    }
    if handler.once {
        hook.insert("once".into(), true.into());
    }
    Value::Object(hook)
}

/// The action's own fields; absent ones are absent.
fn action(action: &Action) -> Map<String, Value> {
    let fields = match action {
        Action::Command(command) => command_fields(command),
        Action::Http {
            url,
            headers,
            allowed_env,
        } => json!({ "url": url, "headers": headers, "allowedEnvVars": allowed_env }),
        Action::McpTool {
            server,
            tool,
            input,
        } => json!({ "server": server, "tool": tool, "input": input }),
        Action::Prompt {
            prompt,
            model,
            continue_on_block,
        } => json!({ "prompt": prompt, "model": model, "continueOnBlock": continue_on_block }),
        Action::Agent { prompt, model } => json!({ "prompt": prompt, "model": model }),
    };
    let mut map = Map::new();
    map.insert("type".into(), action.type_name().into());
    if let Value::Object(fields) = fields {
        map.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
    }
    map
}

fn command_fields(command: &CommandAction) -> Value {
    json!({ "command": command.command, "args": command.args, "shell": command.shell })
}
