//! The person at the terminal, if there is one.

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::Arc;

use seamline_bridges::Bridge;
use seamline_harness::tools::{ApprovalAnswer, ApprovalQuestion, ToolSeams};
use seamline_hooks::DialectId;
use seamline_seams::{Scope, Signal};

use crate::{output, render};

/// Whether somebody can be asked: both ends of the conversation are a terminal.
pub(super) fn attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Registers the terminal as one who may answer; without a terminal nobody is registered, and a
/// call that must be asked about is denied.
///
/// Codex asks its hooks before it asks a person (measured), so their answer is waited for; Claude
/// Code asks both at once.
pub(super) fn register(scope: &Scope, tools: &ToolSeams, bridges: &[Arc<Bridge>], json: bool) {
    if !attended() || json {
        return;
    }
    let codex = bridges
        .iter()
        .find(|bridge| bridge.dialect() == DialectId::Codex)
        .cloned();
    tools
        .approval
        .on(scope, "terminal", move |question, signal| {
            let codex = codex.clone();
            async move {
                if let Some(codex) = codex {
                    codex.approval_settled(question.proposal.token()).await;
                }
                ask(question, signal).await
            }
        });
}

async fn ask(question: ApprovalQuestion, signal: Signal) -> Option<ApprovalAnswer> {
    let proposal = &question.proposal;
    let input = render::cut(proposal.arguments().text(), 300);
    let reason = question
        .reason
        .as_deref()
        .map(|reason| format!("  {}\n", render::visible(reason)));
    output::diagnostic(&format!(
        "? {} {input}\n{}  run it? [y/N] ",
        proposal.name(),
        reason.unwrap_or_default()
    ));
    // A line that is being typed cannot be taken back: the reading thread outlives a question that
    // somebody else has answered, and its line is then nobody's answer.
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let line = tokio::select! {
        line = line => line.ok()?.ok()?,
        () = signal.cancelled() => return None,
    };
    Some(if matches!(line.trim(), "y" | "Y" | "yes") {
        ApprovalAnswer::AllowOnce {
            arguments: None,
            updates: Vec::new(),
        }
    } else {
        ApprovalAnswer::Deny {
            message: None,
            interrupt: false,
        }
    })
}
