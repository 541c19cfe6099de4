//! The moments of a Codex case.
//!
//! SessionStart fires at the first turn, and again at the first turn after a compaction. A prompt
//! that enters is followed by model requests until the model answers with a text and no Stop hook
//! objects. At the end the client closes the session.

mod calls;
mod script;

use seamline_hooks::{Decision, DialectId};
use serde_json::{Map, Value, json};

pub use self::script::ModelTurn;

use self::calls::{After, Call, Kind, call};
use self::script::{Act, During, acts, last_poll};
use super::{CallFate, Fire, Moment, Verdict, Walked, in_order};
use crate::case::CodexCase;
use crate::stage::Stage;

/// More model requests than this in one turn are a loop that only a cap of the client would end.
const MOST_REQUESTS: usize = 60;

/// Plays `case` moment by moment.
///
/// # Errors
/// Says what the runner does not understand, or why a moment could not be fired.
pub async fn walk<F: Fire>(
    case: &CodexCase,
    stage: &Stage,
    fire: &mut F,
) -> Result<Walked, String> {
    let acts = acts(case)?;
    let mut walk = Walk {
        case,
        stage,
        fire,
        turns: case
            .script
            .iter()
            .map(ModelTurn::new)
            .collect::<Result<_, _>>()?,
        sent: String::new(),
        source: Some("startup"),
        turn: 0,
        child: None,
        last_poll: last_poll(case),
        running: Vec::new(),
        walked: Walked::default(),
    };
    let mut threads = 1;
    for act in acts {
        match act {
            Act::Turn { text, during } => walk.turn(&text, during).await?,
            Act::Compact => walk.compact().await?,
            Act::Thread(source) => {
                // Without a turn, the thread before it was only prepared.
                threads += usize::from(walk.turn > 0);
                walk.source = Some(source);
            }
        }
    }
    for _ in 0..threads {
        walk.event("SessionEnd", [("reason", json!("other"))])
            .await?;
    }
    Ok(walk.walked)
}

/// A subagent that is running.
#[derive(Clone)]
struct Child {
    turn: u32,
    sent: String,
}

struct Walk<'a, F> {
    case: &'a CodexCase,
    stage: &'a Stage,
    fire: &'a mut F,
    turns: Vec<ModelTurn>,
    /// Stands for the body of the next request: the patterns of a script look into it.
    sent: String,
    /// Set while a SessionStart is due.
    source: Option<&'static str>,
    turn: u32,
    child: Option<Child>,
    last_poll: Option<String>,
    /// Calls whose process still runs.
    running: Vec<Call>,
    walked: Walked,
}

impl<F: Fire> Walk<'_, F> {
    async fn turn(&mut self, text: &str, during: Vec<During>) -> Result<(), String> {
        self.turn += 1;
        if let Some(source) = self.source.take() {
            let started = self
                .event("SessionStart", [("source", json!(source))])
                .await?;
            if started.halted {
                self.walked.prompts.push(false);
                return Ok(());
            }
        }
        let entered = self.prompt(text).await?;
        self.walked.prompts.push(entered);
        if entered {
            self.answer(during).await?;
        }
        Ok(())
    }

    async fn prompt(&mut self, text: &str) -> Result<bool, String> {
        let verdict = self
            .event("UserPromptSubmit", [("prompt", json!(text))])
            .await?;
        let entered = !verdict.refuses();
        if entered {
            self.send(text);
        }
        Ok(entered)
    }

    /// Asks the model until the turn ends.
    async fn answer(&mut self, mut during: Vec<During>) -> Result<(), String> {
        let mut active = false;
        for _ in 0..MOST_REQUESTS {
            let interrupt = during.contains(&During::Interrupt);
            let answer = self.request("sampling", !interrupt).await?;
            if interrupt {
                self.event("Interrupt", []).await?;
                return Ok(());
            }
            let Some(items) = answer else {
                return Ok(());
            };
            let mut more = false;
            for step in during.drain(..) {
                if let During::Steer(text) = step {
                    more |= self.prompt(&text).await?;
                }
            }
            let (called, text) = self.items(&items).await?;
            if called || more {
                continue;
            }
            let stop = self.stop("Stop", active, &text).await?;
            if stop.halted || stop.decision != Decision::Block {
                return Ok(());
            }
            active = true;
        }
        Ok(())
    }

    /// One request: the items of the answer, or none when it failed. A request that is
    /// interrupted has no end.
    async fn request(&mut self, kind: &str, ends: bool) -> Result<Option<Vec<Value>>, String> {
        self.event("PreModelRequest", [("kind", json!(kind))])
            .await?;
        self.fire.requested();
        let sent = self.child.as_ref().map_or(&self.sent, |child| &child.sent);
        let turn = self.turns.iter_mut().find(|turn| turn.answers(sent));
        let answer = turn.map(|turn| {
            turn.used = true;
            (!turn.fails).then(|| turn.items.clone())
        });
        let answer = answer.unwrap_or_else(|| Some(vec![json!({"text": "done"})]));
        if ends {
            let status = match &answer {
                Some(_) => "completed",
                None => "failed",
            };
            let values = [("kind", json!(kind)), ("status", json!(status))];
            self.event("PostModelRequest", values).await?;
        }
        Ok(answer)
    }

    /// Whether an answer had calls, and its text.
    async fn items(&mut self, items: &[Value]) -> Result<(bool, String), String> {
        let (mut called, mut text) = (false, String::new());
        for item in items {
            self.send(&item.to_string());
            if let Some(said) = item.get("text").and_then(Value::as_str) {
                said.clone_into(&mut text);
            }
            if let Some(call) = call(self.case, self.stage, item) {
                called = true;
                self.call(call).await?;
            }
        }
        Ok((called, text))
    }

    async fn stop(&mut self, event: &str, active: bool, text: &str) -> Result<Verdict, String> {
        let values = [
            ("stop_hook_active", json!(active)),
            ("last_assistant_message", json!(text)),
        ];
        self.event(event, values).await
    }

    async fn call(&mut self, mut call: Call) -> Result<(), String> {
        let mut fate = CallFate {
            id: call.id.clone(),
            name: call.name.clone(),
            ran: Some(false),
            denied: Some(false),
            ..CallFate::default()
        };
        match call.kind.clone() {
            Kind::Invalid => {}
            Kind::Poll => {
                fate.ran = Some(true);
                self.polled(&call).await?;
            }
            Kind::Spawn(task) => {
                if self.proposed(&mut call, &mut fate).await? {
                    Box::pin(self.spawned(&task)).await?;
                    self.after(&call).await?;
                }
                fate.name = "Agent".to_owned();
            }
            Kind::Tool { after, asks, extra } => {
                let goes = self.proposed(&mut call, &mut fate).await?;
                if !is_usable(&call) || after == After::Refused {
                    fate.ran = Some(false);
                } else if goes && (!asks || self.approved(&call, &extra, &mut fate).await?) {
                    match after {
                        After::Now => self.after(&call).await?,
                        After::LastPoll => self.running.push(call.clone()),
                        After::Never | After::Refused => {}
                    }
                }
            }
        }
        if fate.ran == Some(true) {
            fate.input = Some(call.input);
        }
        self.walked.calls.push(fate);
        Ok(())
    }

    /// PreToolUse; whether the call goes on.
    async fn proposed(&mut self, call: &mut Call, fate: &mut CallFate) -> Result<bool, String> {
        let verdict = self.event("PreToolUse", tool_values(call)).await?;
        if let Some(input) = verdict.input {
            call.input = input;
        }
        let denied = verdict.decision == Decision::Deny;
        fate.denied = Some(denied);
        fate.ran = Some(!denied && !verdict.halted);
        Ok(fate.ran == Some(true))
    }

    /// PermissionRequest; whether the call goes on. The client answers what no hook answers.
    async fn approved(
        &mut self,
        call: &Call,
        extra: &Map<String, Value>,
        fate: &mut CallFate,
    ) -> Result<bool, String> {
        let mut asked = call.clone();
        if call.name == "apply_patch" {
            let patch = call.input.get("command").and_then(Value::as_str);
            let patch = patch.unwrap_or("");
            asked.input = json!({"command": patch.trim_end_matches('\n')});
        }
        if let Value::Object(input) = &mut asked.input {
            input.extend(extra.clone());
        }
        let verdict = self.event("PermissionRequest", tool_values(&asked)).await?;
        let denied = match verdict.decision {
            Decision::Deny => true,
            Decision::Allow => false,
            _ => !self.case.approve.starts_with("accept"),
        };
        fate.denied = Some(denied);
        fate.ran = Some(!denied);
        Ok(!denied)
    }

    async fn after(&mut self, call: &Call) -> Result<(), String> {
        let known = self
            .case
            .payload_in
            .as_ref()
            .and_then(|payload| payload.get("tool_response"));
        let response = known.cloned().unwrap_or_else(|| json!(""));
        let mut values = tool_values(call).to_vec();
        values.push(("tool_response", response));
        self.event("PostToolUse", values).await?;
        Ok(())
    }

    async fn polled(&mut self, poll: &Call) -> Result<(), String> {
        if poll.id == self.last_poll {
            for call in std::mem::take(&mut self.running) {
                self.after(&call).await?;
            }
        }
        Ok(())
    }

    /// A subagent from its start to its end, as if its parent waited for it.
    async fn spawned(&mut self, task: &str) -> Result<(), String> {
        let turn = self.turn + 100;
        self.child = Some(Child {
            turn,
            sent: String::new(),
        });
        self.event("SubagentStart", []).await?;
        let mut active = false;
        if self.prompt(task).await? {
            for _ in 0..MOST_REQUESTS {
                let Some(items) = self.request("sampling", true).await? else {
                    break;
                };
                let (called, text) = self.items(&items).await?;
                if called {
                    continue;
                }
                let stop = self.stop("SubagentStop", active, &text).await?;
                if stop.halted || stop.decision != Decision::Block {
                    break;
                }
                active = true;
            }
        }
        self.child = None;
        Ok(())
    }

    async fn compact(&mut self) -> Result<(), String> {
        self.turn += 1;
        let trigger = || [("trigger", json!("manual"))];
        if !self.event("PreCompact", trigger()).await?.refuses() {
            self.request("foreground_compaction", true).await?;
            self.event("PostCompact", trigger()).await?;
            self.source = Some("compact");
        }
        Ok(())
    }

    fn send(&mut self, text: &str) {
        match &mut self.child {
            Some(child) => child.sent.push_str(text),
            None => self.sent.push_str(text),
        }
    }

    async fn event(
        &mut self,
        event: &str,
        values: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Result<Verdict, String> {
        if !self.fire.listens(event) {
            return Ok(Verdict::default());
        }
        let mut all = self.common(event);
        for (key, value) in values {
            all.insert(key.to_owned(), value);
        }
        let moment: Moment = in_order(DialectId::Codex, event, &all)?;
        self.fire.fire(moment).await
    }

    /// Values that do not depend on the moment.
    fn common(&self, event: &str) -> Map<String, Value> {
        let turn = self.child.as_ref().map_or(self.turn, |child| child.turn);
        let text = |text: &str| Value::from(self.stage.names.fill(text));
        let rollout = "$CODEX_HOME/sessions/$YYYY/$MM/$DD/rollout-$TS-$SESSION_ID.jsonl";
        let mode = if self.case.approval == "never" {
            "bypassPermissions"
        } else {
            "default"
        };
        let mut values = json!({
            "session_id": text("$SESSION_ID"),
            "thread_id": text("$SESSION_ID"),
            "turn_id": text(&format!("$UUID{}", turn + 1)),
            "transcript_path": text(rollout),
            "agent_transcript_path": text(rollout),
            "cwd": self.stage.project.display().to_string(),
            "hook_event_name": event,
            "model": self.case.model,
            "permission_mode": mode,
            "request_id": text("$UUID500"),
            "attempt_number": 1,
            "status": "completed",
            "error": null,
            "token_usage": {"input_tokens": 10, "cached_input_tokens": 0,
                "cache_write_input_tokens": 0, "output_tokens": 5,
                "reasoning_output_tokens": 0, "total_tokens": 15},
            "response_id": "resp_0_1",
        });
        if let (Some(values), true) = (values.as_object_mut(), self.child.is_some()) {
            values.insert("agent_id".to_owned(), text("$UUID600"));
            values.insert("agent_type".to_owned(), json!("default"));
        }
        match values {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

/// Shell calls and patches that were rewritten to something without a command are not run.
fn is_usable(call: &Call) -> bool {
    let needs_command = matches!(call.name.as_str(), "Bash" | "apply_patch");
    !needs_command || call.input.get("command").is_some_and(Value::is_string)
}

fn tool_values(call: &Call) -> [(&'static str, Value); 3] {
    [
        ("tool_name", json!(call.name)),
        ("tool_input", call.input.clone()),
        ("tool_use_id", json!(call.id.as_deref().unwrap_or("exec-1"))),
    ]
}

#[cfg(test)]
mod tests;
