//! Variables nobody sets.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::config::words::{Role, Word, variables};
use crate::dialect::DialectId;
use crate::handler::Layer;

pub(super) const RULE: Rule = Rule {
    code: "unset-variable",
    about: "The payload comes on standard input. Variables such as `$CLAUDE_TOOL_INPUT` of early \
            versions and of many templates are set by no client, so the hook reads nothing.",
    check: Check::Each(check),
};

/// What Claude Code sets for every hook (measured).
const CLAUDE: [&str; 5] = [
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_ENV_FILE",
    "CLAUDE_EFFORT",
    "CLAUDE_PID",
    "CLAUDE_CONFIG_DIR",
];

/// What both clients set for hooks of plugins.
const PLUGIN: [&str; 4] = [
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PLUGIN_DATA",
    "PLUGIN_ROOT",
    "PLUGIN_DATA",
];

/// Names that templates read although nobody sets them.
const MISTAKEN: [&str; 8] = [
    "INPUT",
    "HOOK_INPUT",
    "HOOK_EVENT",
    "TOOL_INPUT",
    "TOOL_NAME",
    "TOOL_OUTPUT",
    "TOOL_RESPONSE",
    "TOOL_FILE_PATH",
];

/// Part of a name, and where the payload has what is meant.
const MEANT: [(&str, &str); 12] = [
    ("FILE_PATH", ".tool_input.file_path"),
    ("COMMAND", ".tool_input.command"),
    ("TOOL_INPUT", ".tool_input"),
    ("TOOL_NAME", ".tool_name"),
    ("OUTPUT", ".tool_response"),
    ("RESPONSE", ".tool_response"),
    ("EVENT", ".hook_event_name"),
    ("PROMPT", ".prompt"),
    ("NOTIFICATION", ".message"),
    ("TRANSCRIPT", ".transcript_path"),
    ("SESSION", ".session_id"),
    ("CWD", ".cwd"),
];

fn check(look: &Look<'_>) -> Vec<Remark> {
    let Some(text) = look.shell_text() else {
        return Vec::new();
    };
    let mut names = variables(text);
    names.sort();
    names.dedup();
    names
        .iter()
        .filter(|name| !given(look, name) && !assigned(&look.words, name))
        .filter_map(|name| remark(look, name))
        .collect()
}

/// Whether the environment or a setting has it.
fn given(look: &Look<'_>, name: &str) -> bool {
    look.context.variables.iter().any(|known| known == name)
        || look.loaded.env.contains_key(name)
        || look.handler.variables.contains_key(name)
}

/// Whether the command itself sets it: `NAME=`, `read NAME`, `for NAME in`.
fn assigned(words: &[Word], name: &str) -> bool {
    let sets = |word: &Word| {
        let text = word.pieces.first();
        matches!(text, Some(crate::config::words::Piece::Text { text, .. })
            if text.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
    };
    let reads = words.iter().any(|word| {
        let program = word.literal();
        word.role == Role::Program
            && matches!(
                program.as_deref(),
                Some("read" | "for" | "mapfile" | "readarray")
            )
    });
    let named = words
        .iter()
        .any(|word| word.literal().as_deref() == Some(name));
    words.iter().any(sets) || reads && named
}

fn remark(look: &Look<'_>, name: &str) -> Option<Remark> {
    let at = At::Field("command");
    if PLUGIN.contains(&name) {
        let outside = matches!(
            look.handler.layer,
            Layer::User | Layer::Project | Layer::Local
        );
        let message = format!("`${name}` is set for hooks of plugins only, and empty here");
        return outside.then(|| Remark::warning(at, message).maybe_help(project_folder(look)));
    }
    if look.is(DialectId::Codex) && name == "CLAUDE_PROJECT_DIR" {
        let message = "`$CLAUDE_PROJECT_DIR` is Claude Code's; Codex does not set it";
        return Some(Remark::warning(at, message).maybe_help(project_folder(look)));
    }
    let of_claude = CLAUDE.contains(&name)
        || name.starts_with("CLAUDE_CODE_")
        || name.starts_with("CLAUDE_PLUGIN_OPTION_");
    let set = look.is(DialectId::Claude) && of_claude;
    if set || !(name.starts_with("CLAUDE_") || MISTAKEN.contains(&name)) {
        return None;
    }
    let message = format!(
        "`${name}` is not set by {}: the payload is JSON on standard input",
        look.client()
    );
    let meant = MEANT.iter().find(|(part, _)| name.contains(part));
    let help = match meant {
        Some((_, path)) => format!("read it: jq -r '{path}'"),
        None => "read the payload from standard input".to_owned(),
    };
    Some(Remark::warning(at, message).help(help))
}

fn project_folder(look: &Look<'_>) -> Option<String> {
    Some(match look.handler.dialect {
        DialectId::Claude => "the project's folder is \"$CLAUDE_PROJECT_DIR\"".into(),
        DialectId::Codex => "the project's folder is \"$(git rev-parse --show-toplevel)\"".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex, command};
    use super::*;

    #[test]
    fn variables_of_the_past_are_found_and_real_ones_are_not() {
        for (text, in_claude, in_codex) in [
            ("ruff \"$CLAUDE_TOOL_FILE_PATH\"", 1, 1),
            (
                "echo $CLAUDE_FILE_PATHS ${CLAUDE_TOOL_INPUT} $CLAUDE_MODEL",
                3,
                3,
            ),
            ("echo \"$INPUT\" | jq -e .x && exit 2", 1, 1),
            ("INPUT=$(cat); echo \"$INPUT\" | jq .", 0, 0),
            ("read -r INPUT; echo $INPUT", 0, 0),
            ("\"$CLAUDE_PROJECT_DIR\"/x.sh", 0, 1),
            ("echo $HOME $MINE $1 $?", 0, 0),
            ("echo $CLAUDE_CODE_SESSION_ID $CLAUDE_EFFORT", 0, 2),
            ("echo '$CLAUDE_TOOL_NAME'", 0, 0),
            ("sh \"$CLAUDE_PLUGIN_ROOT\"/x", 0, 0),
        ] {
            let found = claude(RULE.code, "Stop", "", &command(text));
            assert_eq!(found.len(), in_claude, "claude {text}: {found:?}");
            let found = codex(RULE.code, "Stop", "", &command(text));
            assert_eq!(found.len(), in_codex, "codex {text}: {found:?}");
        }
    }
}
