//! What a handler is given: its process a program, folder, environment and time, its call to an MCP
//! server arguments and time.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Engine, Firing};
use crate::dialect::DialectId;
use crate::handler::{Action, CommandAction, Handler};
use crate::mcp::Ask;
use crate::runner::{BoxFuture, Finished, KillLadder, Spec, shell};

/// How long output is read after the hook itself has exited while somebody else holds its pipe.
///
/// Our choice: both clients wait until the pipe is closed, which lets a forgotten background
/// process hold a turn for ten minutes. The clock restarts with each byte.
pub(super) const DRAIN: Duration = Duration::from_millis(100);

/// One handler, ready to start.
pub(super) enum Job {
    /// A process.
    Process(Spec),
    /// A call to an MCP server, and the folder of the session.
    Call(Ask, PathBuf),
}

impl Job {
    /// Program and arguments; a call has none.
    pub(super) fn argv(&self) -> Vec<String> {
        match self {
            Self::Process(spec) => spec.argv.clone(),
            Self::Call(..) => Vec::new(),
        }
    }

    pub(super) fn cwd(&self) -> PathBuf {
        match self {
            Self::Process(spec) => spec.cwd.clone(),
            Self::Call(_, cwd) => cwd.clone(),
        }
    }
}

impl Engine {
    /// Makes a handler ready.
    pub(super) fn job(&self, handler: &Handler, firing: &Firing, stdin: Arc<[u8]>) -> Job {
        if let Action::McpTool {
            server,
            tool,
            input,
        } = &handler.action
        {
            let asked = (server.as_str(), tool.as_str(), input.as_ref());
            let style = handler.table().placeholders;
            let ask = Ask::new(asked, firing.payload.value(), style, handler.time_limit());
            return Job::Call(ask, firing.cwd.clone());
        }
        Job::Process(self.spec(handler, firing, stdin))
    }

    /// Starts it. When `signal` is cancelled or the future is dropped, it is ended.
    pub(super) fn start(&self, job: Job, signal: CancellationToken) -> BoxFuture<Finished> {
        match job {
            Job::Process(spec) => self.around.exec.run(spec, signal),
            Job::Call(ask, _) => ask.run(&self.around.mcp, signal),
        }
    }

    fn spec(&self, handler: &Handler, firing: &Firing, stdin: Arc<[u8]>) -> Spec {
        let table = handler.table();
        let variables = self.variables(handler);
        let argv = match &handler.action {
            Action::Command(command) => self.argv(handler.dialect, command, &variables),
            // Selection lets no other action through.
            _ => Vec::new(),
        };
        Spec {
            argv,
            cwd: firing.cwd.clone(),
            env: self.env(handler, firing, &variables),
            stdin,
            timeout: handler.time_limit(),
            kill: KillLadder {
                term_grace: table.term_grace,
            },
            drain: DRAIN,
        }
    }

    fn argv(
        &self,
        dialect: DialectId,
        command: &CommandAction,
        variables: &[(String, String)],
    ) -> Vec<String> {
        let text = substitute(&command.command, variables);
        match dialect {
            DialectId::Codex => shell::codex_argv(&text, &self.account_shell),
            DialectId::Claude => {
                let args: Option<Vec<String>> = command
                    .args
                    .as_ref()
                    .map(|args| args.iter().map(|arg| substitute(arg, variables)).collect());
                shell::claude_argv(&text, args.as_deref(), command.shell.as_deref())
            }
        }
    }

    /// Placeholders of this handler: the project's (Claude) and its plugin's.
    fn variables(&self, handler: &Handler) -> Vec<(String, String)> {
        let mut variables: Vec<(String, String)> = handler
            .variables
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if handler.dialect == DialectId::Claude {
            let project = self.around.project.to_string_lossy().into_owned();
            variables.push(("CLAUDE_PROJECT_DIR".to_owned(), project));
        }
        variables
    }

    fn env(
        &self,
        handler: &Handler,
        firing: &Firing,
        variables: &[(String, String)],
    ) -> Vec<(OsString, OsString)> {
        let mut env = self.around.base_env.clone();
        let mut set = |name: &str, value: &str| env.push((name.into(), value.into()));
        for (name, value) in &self.in_force().loaded().env {
            set(name, value);
        }
        if handler.dialect == DialectId::Claude {
            claude_env(firing, &mut set);
        }
        for (name, value) in variables.iter().chain(&firing.env) {
            set(name, value);
        }
        env
    }
}

/// What Claude Code adds (measured), as far as it can be true of another agent.
fn claude_env(firing: &Firing, set: &mut impl FnMut(&str, &str)) {
    set("CLAUDECODE", "1");
    set("CLAUDE_CODE_CHILD_SESSION", "1");
    set("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    set("CLAUDE_CODE_SESSION_ATTENDED", "0");
    set("NoDefaultCurrentDirectoryInExePath", "1");
    set("COREPACK_ENABLE_AUTO_PIN", "0");
    set("PWD", &firing.cwd.to_string_lossy());
    set("CLAUDE_PID", &std::process::id().to_string());
    if let Some(session) = firing.payload.str_field("session_id") {
        set("CLAUDE_CODE_SESSION_ID", session);
    }
    let effort = firing
        .payload
        .value()
        .get("effort")
        .and_then(|effort| effort.get("level"));
    if let Some(level) = effort.and_then(serde_json::Value::as_str) {
        set("CLAUDE_EFFORT", level);
    }
}

/// Replaces every `${NAME}` of a known variable; all others are left to the shell.
fn substitute(text: &str, variables: &[(String, String)]) -> String {
    variables
        .iter()
        .fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("${{{name}}}"), value)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_placeholders_are_replaced_and_all_of_them() {
        let variables = [("A".to_owned(), "/tmp/a b".to_owned())];
        assert_eq!(
            substitute("${A}/x ${A} $A ${B}", &variables),
            "/tmp/a b/x /tmp/a b $A ${B}"
        );
    }
}
