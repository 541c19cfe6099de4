//! `updatedPermissions`: what a PermissionRequest hook changes for the rest of the session.
//!
//! Our permissions know two changes: another mode, and a tool that needs no yes any more. Everything
//! else is said not to be done. An update that would restrict and cannot be carried out refuses the
//! call, because a hook that allows a call only together with a restriction has not allowed it
//! without.

use seamline_harness::permission::{Mode, Update};
use serde::Deserialize;
use serde_json::Value;

/// What came of a list of updates.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Updates {
    pub(crate) carried_out: Vec<Update>,
    /// Why the others were not, in words for the user.
    pub(crate) left_out: Vec<String>,
    /// Why the call must not run.
    pub(crate) refused: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    r#type: String,
    mode: Option<String>,
    behavior: Option<String>,
    #[serde(default)]
    rules: Vec<WrittenRule>,
    destination: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenRule {
    tool_name: String,
    rule_content: Option<String>,
}

/// Reads the list as a hook wrote it.
pub(crate) fn read(text: &str) -> Updates {
    let mut updates = Updates::default();
    let list: Vec<Value> = match serde_json::from_str(text) {
        Ok(list) => list,
        Err(why) => {
            updates.refused = Some(format!("updatedPermissions is no list: {why}"));
            return updates;
        }
    };
    for written in list {
        match Written::deserialize(&written) {
            Ok(update) => updates.take(&update, &written),
            Err(why) => updates.refused = Some(format!("updatedPermissions: {written}: {why}")),
        }
    }
    updates
}

impl Updates {
    fn take(&mut self, update: &Written, as_written: &Value) {
        let lasting = update.destination.as_deref().filter(|it| *it != "session");
        if let Some(destination) = lasting {
            self.left_out.push(format!(
                "updatedPermissions: nothing is written to {destination}; the change holds for this \
                 session"
            ));
        }
        match (update.r#type.as_str(), update.behavior.as_deref()) {
            ("setMode", _) => self.set_mode(update.mode.as_deref().unwrap_or_default()),
            ("addRules", Some("allow")) => update.rules.iter().for_each(|rule| self.allow(rule)),
            ("addDirectories", _) | ("removeRules", Some("deny" | "ask")) => {
                self.left_out
                    .push(format!("updatedPermissions: not carried out: {as_written}"));
            }
            _ => {
                self.refused = Some(format!(
                    "updatedPermissions cannot be carried out here, and it may restrict: {as_written}"
                ));
            }
        }
    }

    /// `bypassPermissions` is for whoever starts the session to choose (documented).
    fn set_mode(&mut self, mode: &str) {
        let name = if mode == "manual" { "default" } else { mode };
        match name.parse::<Mode>() {
            Ok(Mode::BypassPermissions) | Err(_) => self.left_out.push(format!(
                "updatedPermissions: a hook cannot set the mode {mode:?} here"
            )),
            Ok(mode) => self.carried_out.push(Update::SetMode(mode)),
        }
    }

    fn allow(&mut self, rule: &WrittenRule) {
        match &rule.rule_content {
            None => {
                let tool = rule.tool_name.clone();
                self.carried_out.push(Update::AllowTool(tool));
            }
            Some(content) => self.left_out.push(format!(
                "updatedPermissions: the rule {}({content}) is not kept: such calls are asked about \
                 again",
                rule.tool_name
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> (Vec<Update>, usize, bool) {
        let Updates {
            carried_out,
            left_out,
            refused,
        } = read(text);
        (carried_out, left_out.len(), refused.is_some())
    }

    #[test]
    fn a_mode_and_a_whole_tool_are_carried_out() {
        for (text, expected) in [
            (
                r#"[{"type":"setMode","mode":"acceptEdits","destination":"session"}]"#,
                (vec![Update::SetMode(Mode::AcceptEdits)], 0),
            ),
            (
                r#"[{"type":"setMode","mode":"manual","destination":"session"}]"#,
                (vec![Update::SetMode(Mode::Default)], 0),
            ),
            (
                r#"[{"type":"addRules","behavior":"allow","rules":[{"toolName":"Bash"}],"destination":"localSettings"}]"#,
                (vec![Update::AllowTool("Bash".to_owned())], 1),
            ),
            ("[]", (vec![], 0)),
        ] {
            assert_eq!(count(text), (expected.0, expected.1, false), "{text}");
        }
    }

    #[test]
    fn what_only_loosens_is_left_out_and_said() {
        for text in [
            r#"[{"type":"setMode","mode":"bypassPermissions","destination":"session"}]"#,
            r#"[{"type":"setMode","mode":"none","destination":"session"}]"#,
            r#"[{"type":"addRules","behavior":"allow","rules":[{"toolName":"Bash","ruleContent":"ls *"}]}]"#,
            r#"[{"type":"addDirectories","directories":["/x"],"destination":"session"}]"#,
            r#"[{"type":"removeRules","behavior":"deny","rules":[{"toolName":"Bash"}]}]"#,
        ] {
            assert_eq!(count(text), (vec![], 1, false), "{text}");
        }
    }

    #[test]
    fn what_restricts_and_cannot_be_done_refuses_the_call() {
        for text in [
            r#"[{"type":"addRules","behavior":"deny","rules":[{"toolName":"Bash"}]}]"#,
            r#"[{"type":"addRules","behavior":"ask","rules":[{"toolName":"Bash"}]}]"#,
            r#"[{"type":"addRules","rules":[{"toolName":"Bash"}]}]"#,
            r#"[{"type":"replaceRules","behavior":"allow","rules":[]}]"#,
            r#"[{"type":"removeRules","behavior":"allow","rules":[{"toolName":"Bash"}]}]"#,
            r#"[{"type":"removeDirectories","directories":["/x"]}]"#,
            r#"[{"mode":"plan"}]"#,
            r#"{"type":"setMode"}"#,
        ] {
            assert!(count(text).2, "{text}");
        }
    }
}
