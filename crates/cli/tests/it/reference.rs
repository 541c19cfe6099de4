//! Reference pages are generated; these tests fail when a page is not what the code says.
//!
//! `UPDATE_DOCS=1 cargo nextest run -p seamline reference` writes them.

use std::fmt::Write;
use std::{env, fs};

use seamline_harness::permission::Mode;
use seamline_hooks::DialectId;
use seamline_hooks::dialect::{
    Dialect, EventRow, ExitText, Halting, Plain, Refusal, Subject, Timeouts,
};

use crate::seamline::Seamline;

fn assert_page(name: &str, wanted: &str) {
    let path = crate::root().join("docs").join(name);
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/{name} is out of date: run with UPDATE_DOCS=1\n{wanted}"
    );
}

#[test]
fn the_event_tables_are_what_the_dialects_say() {
    let mut page = String::from(EVENTS_HEAD);
    for dialect in DialectId::ALL {
        events_of(&mut page, dialect.table());
    }
    page.push_str(MODES_HEAD);
    for mode in Mode::ALL {
        let word = |dialect| seamline_bridges::permission_mode(dialect, mode);
        let (claude, codex) = (word(DialectId::Claude), word(DialectId::Codex));
        writeln!(page, "| `{mode}` | `{claude}` | `{codex}` |").unwrap();
    }
    assert_page("events.md", &page);
}

const EVENTS_HEAD: &str = "\
<!-- Generated from the dialect tables: UPDATE_DOCS=1 cargo nextest run -p seamline reference -->

# Events

What each event of the two protocols compares its matcher with, and what a hook's output means
there. The rows are the ones the engine runs by, measured on the clients named below.

* **matcher**: the payload field that a matcher is compared with. *no*: matchers are ignored.
* **types**: the handler types that run.
* **timeout**: the default in seconds, and the most that a handler may ask for.
* **text**: what plain text on standard output means when the hook exits with 0.
* **exit 2**, **block**: what exit code 2 does, and what `decision: block` or a denial in the output
  does. *deny*: the thing asked about is refused. *block*: a prompt is kept out, feedback reaches the
  model, a turn goes on. *ends turn*: the turn is over. *recorded*: an error is noted and nothing
  stops. *–*: no effect.
* **stop**: what `continue: false` does.
* **fires**: whether `seamline run` has the moment. Hooks of the other events are read and listed, a
  run says that they wait in vain, and `seamline hooks fire` fires them.
";

const MODES_HEAD: &str = "
## Permission modes

What `permission_mode` says in payloads that have it. Both clients document these words; measured of
Codex is that approval on request is `default` and approval never is `bypassPermissions`.

| `--permission-mode` | Claude Code's hooks read | Codex's hooks read |
|---|---|---|
";

fn events_of(page: &mut String, dialect: &Dialect) {
    writeln!(page, "\n## {}\n", dialect.measured_on).unwrap();
    writeln!(
        page,
        "| event | when | matcher | types | timeout | text | exit 2 | block | stop | fires |"
    )
    .unwrap();
    writeln!(page, "|---|---|---|---|---|---|---|---|---|---|").unwrap();
    for row in dialect.events {
        let cells = [
            format!("`{}`", row.name),
            row.when.to_owned(),
            subject(row),
            types(row),
            timeout(row.timeouts),
            plain(row.plain).to_owned(),
            refusal(row.exit2).to_owned(),
            refusal(row.block).to_owned(),
            halting(row.halting).to_owned(),
            if seamline_bridges::fires(row.name) {
                "yes"
            } else {
                "–"
            }
            .to_owned(),
        ];
        writeln!(page, "| {} |", cells.join(" | ")).unwrap();
    }
    writeln!(page, "\n### Payloads and output fields\n").unwrap();
    writeln!(
        page,
        "Keys in the order in which they are written; those with `?` may be absent.\n"
    )
    .unwrap();
    for row in dialect.events {
        details(page, row);
    }
}

fn details(page: &mut String, row: &EventRow) {
    let keys: Vec<String> = row.keys.iter().map(|key| format!("`{key}`")).collect();
    writeln!(page, "* **{}**: {}.", row.name, keys.join(", ")).unwrap();
    if row.output_ignored {
        writeln!(page, "  Output is not read.").unwrap();
        return;
    }
    match row.specific {
        Some(fields) => {
            let names: Vec<String> = fields.iter().map(|f| format!("`{}`", f.name)).collect();
            writeln!(page, "  `hookSpecificOutput`: {}.", names.join(", ")).unwrap();
        }
        None => writeln!(page, "  No `hookSpecificOutput`.").unwrap(),
    }
    if !row.unsupported.is_empty() {
        let names: Vec<String> = row.unsupported.iter().map(|u| format!("`{u}`")).collect();
        writeln!(page, "  These make the run fail: {}.", names.join(", ")).unwrap();
    }
    for (holds, words) in [
        (row.timeout_refuses, "A timeout refuses."),
        (row.any_exit_refuses, "Any exit code but 0 refuses."),
        (row.context_continues, "A context makes the turn go on."),
        (
            row.first_decision_wins,
            "The first decision to arrive wins.",
        ),
        (
            row.exit_text == ExitText::StderrOrCode,
            "A bad exit code reports standard error.",
        ),
    ] {
        if holds {
            writeln!(page, "  {words}").unwrap();
        }
    }
}

fn subject(row: &EventRow) -> String {
    let field = match row.subject {
        Subject::Tool => "`tool_name`".to_owned(),
        Subject::Field(key) => format!("`{key}`"),
        Subject::BaseName(key) => format!("last part of `{key}`"),
        Subject::Ignored => "no".to_owned(),
    };
    match row.subjects {
        [] => field,
        values => format!("{field}: {}", values.join(", ")),
    }
}

fn types(row: &EventRow) -> String {
    let all = ["command", "http", "mcp_tool", "prompt", "agent"];
    let run: Vec<&str> = all
        .into_iter()
        .filter(|name| row.types.runs(name))
        .collect();
    if run.len() == all.len() {
        "all".to_owned()
    } else {
        run.join(", ")
    }
}

fn timeout(timeouts: Timeouts) -> String {
    let default = timeouts.default.as_secs_f64();
    match timeouts.max {
        Some(max) => format!("{default} (max {})", max.as_secs_f64()),
        None => default.to_string(),
    }
}

fn plain(plain: Plain) -> &'static str {
    match plain {
        Plain::Ignored => "–",
        Plain::Context => "context",
        Plain::Fails => "fails",
        Plain::Instructions => "instructions",
        Plain::Path => "a path",
    }
}

fn refusal(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Deny => "deny",
        Refusal::Block => "block",
        Refusal::EndTurn => "ends turn",
        Refusal::Recorded => "recorded",
        Refusal::Nothing => "–",
    }
}

fn halting(halting: Halting) -> &'static str {
    match halting {
        Halting::EndsRun => "ends the run",
        Halting::ReplacesOutput => "replaces the output",
        Halting::Ignored => "–",
        Halting::Fails => "the run fails",
    }
}

#[test]
fn the_command_reference_is_what_help_says() {
    let mut page = String::from(CLI_HEAD);
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(command) = open.pop() {
        let help = Seamline::new().args(&command).arg("--help").run();
        assert_eq!(help.code, 0, "{command:?}: {}", help.stderr);
        let below = subcommands(&help.stdout).map(|name| [&command[..], &[name]].concat());
        open.extend(below.collect::<Vec<_>>().into_iter().rev());
        let name = [&["seamline".to_owned()], &command[..]].concat().join(" ");
        write!(page, "\n## `{name}`\n\n```text\n{}```\n", help.stdout).unwrap();
    }
    assert_page("cli.md", &page);
}

/// The commands that a help text lists, all but `help` itself.
fn subcommands(help: &str) -> impl Iterator<Item = String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    listed
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(ToOwned::to_owned)
}

const CLI_HEAD: &str = "\
<!-- Generated from --help: UPDATE_DOCS=1 cargo nextest run -p seamline reference -->

# The command line

Exit codes are in [exit-codes.md](exit-codes.md), the JSON in [hooks-json.md](hooks-json.md)
and [run-json.md](run-json.md).
";
