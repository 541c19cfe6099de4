//! Reads Claude Code settings, and plugin files of the same shape (`{"hooks": {...}}`).
//!
//! Measured on 2.1.332: a mistake costs the smallest part it is in, except under the events that
//! guard tool calls. There the client fails closed in its own way: it skips the whole file, the
//! rest of its settings included.

use super::claude_handler;
use super::did_you_mean;
use super::json;
use super::part::{Part, Slot};
use super::permissions;
use super::report::{Finding, Report};
use super::switch::Switch;
use super::tree::{Entry, Node, Span, Table, Value};
use crate::dialect::{CLAUDE, CODEX, DialectId, EventRow, Subject};
use crate::matcher::{Matcher, Reading};

/// Events under which one invalid entry costs the whole file.
const GUARDS: [&str; 3] = ["PreToolUse", "PermissionRequest", "PreSkillShellCommand"];

/// Keys of a matcher group.
pub(crate) const GROUP_KEYS: [&str; 2] = ["matcher", "hooks"];

/// Reads one settings file; `None` when the client skips all of it.
pub(crate) fn read(report: &mut Report<'_>) -> Option<Part> {
    let root = match json::parse(report.body()) {
        Ok(root) => root,
        Err(error) => {
            let span = report.point(error.offset);
            let message = format!("not valid JSON: {}; the file is skipped", error.message);
            let finding = Finding::broken("bad-json", span, message);
            report.add(finding.maybe_help(strictness(report.body())));
            return None;
        }
    };
    let Some(table) = root.as_table() else {
        let message = format!(
            "expected an object, found {}; the file is skipped",
            root.describe()
        );
        report.add(Finding::broken("not-an-object", root.span, message));
        return None;
    };
    warn_of_repeats(report, &root);
    let mut part = settings(report, table)?;
    let mut reading = Reader {
        report,
        guard_problem: None,
    };
    if let Some(hooks) = table.entry("hooks") {
        reading.hooks(hooks, &mut part);
    }
    reading.warn_of_events_outside(table);
    match reading.guard_problem {
        None => Some(part),
        Some(problem) => {
            skip_file(report, problem);
            None
        }
    }
}

/// What the commonest kinds of loose JSON need.
pub(crate) fn strictness(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("the file is empty: write {} or remove it".into());
    }
    Some("comments, trailing commas and single quotes are not JSON".into())
}

fn skip_file(report: &mut Report<'_>, (event, span): (&'static str, Span)) {
    let message = format!(
        "Claude Code skips this whole file, other events and settings included: an entry under \
         {event} is invalid"
    );
    report.add(Finding::broken("file-skipped", span, message).help("correct or remove that entry"));
}

/// The settings beside the hooks that matter to them. A value of the wrong type costs the file
/// (measured for `permissions`; the others follow the same schema).
pub(crate) fn settings(report: &mut Report<'_>, table: &Table) -> Option<Part> {
    let mut part = Part::default();
    let mut fits = true;
    let mut wrong = |report: &mut Report<'_>, node: &Node, key: &str, expected: &str| {
        let message = format!(
            "`{key}`: expected {expected}, found {}; the file is skipped",
            node.describe()
        );
        report.add(Finding::broken("bad-setting", node.span, message));
        fits = false;
    };
    if let Some(node) = table.get("permissions") {
        match node
            .as_table()
            .map(|lists| permissions::read(report, lists))
        {
            Some(Ok(read)) => part.permissions = read,
            Some(Err((node, key, expected))) => wrong(report, node, &key, expected),
            None => wrong(report, node, "permissions", "an object"),
        }
    }
    if let Some(node) = table.get("env") {
        match node.as_table() {
            Some(env) => part.env = env.effective().into_iter().filter_map(variable).collect(),
            None => wrong(report, node, "env", "an object"),
        }
    }
    if let Some(node) = table.get("disableAllHooks") {
        match node.as_bool() {
            Some(off) => part.switch = Some(disable_all(report, node, off)),
            None => wrong(report, node, "disableAllHooks", "true or false"),
        }
    }
    fits.then_some(part)
}

fn disable_all(report: &Report<'_>, node: &Node, off: bool) -> Switch {
    Switch {
        pinned: false,
        own_only: false,
        off,
        words: "`disableAllHooks` is true",
        file: report.path.to_path_buf(),
        layer: report.layer.clone(),
        span: report.in_file(node.span),
    }
}

/// Numbers and booleans become text (a number was measured).
fn variable(entry: &Entry) -> Option<(String, String)> {
    let value = match &entry.value.value {
        Value::Text(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        _ => return None,
    };
    Some((entry.key.clone(), value))
}

/// Repeated keys are legal JSON and almost never meant.
fn warn_of_repeats(report: &mut Report<'_>, node: &Node) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| warn_of_repeats(report, item)),
        Value::Table(table) => {
            for lost in table.overridden() {
                let message = format!("`{}` comes again later; only the last one counts", lost.key);
                report.add(Finding::warning("repeated-key", lost.key_span, message));
            }
            for entry in table.effective() {
                warn_of_repeats(report, &entry.value);
            }
        }
        _ => {}
    }
}

struct Reader<'r, 'a> {
    report: &'r mut Report<'a>,
    /// The first invalid entry under one of [`GUARDS`].
    guard_problem: Option<(&'static str, Span)>,
}

impl Reader<'_, '_> {
    fn broken(&mut self, row: &'static EventRow, finding: Finding, span: Span) {
        if GUARDS.contains(&row.name) {
            self.guard_problem.get_or_insert((row.name, span));
        }
        self.report.add(finding);
    }

    fn hooks(&mut self, hooks: &Entry, part: &mut Part) {
        let table = match &hooks.value.value {
            Value::Null => return,
            Value::Table(table) => table,
            _ => {
                let message = format!(
                    "`hooks`: expected an object of events, found {}; it is ignored",
                    hooks.value.describe()
                );
                let finding = Finding::broken("hooks-not-an-object", hooks.value.span, message);
                let names_a_file = hooks.value.as_text().is_some();
                let help =
                    names_a_file.then(|| "if it names a file, read that file instead".into());
                self.report.add(finding.maybe_help(help));
                return;
            }
        };
        for entry in table.effective() {
            match CLAUDE.event(&entry.key) {
                Some(row) => self.event(row, entry, part),
                None => self.unknown_event(entry),
            }
        }
    }

    fn unknown_event(&mut self, entry: &Entry) {
        let message = format!(
            "`{}` is no event of Claude Code; nothing under it runs",
            entry.key
        );
        let finding = Finding::warning("unknown-event", entry.key_span, message);
        self.report
            .add(finding.maybe_help(other_event(DialectId::Claude, &entry.key)));
    }

    fn event(&mut self, row: &'static EventRow, entry: &Entry, part: &mut Part) {
        let node = &entry.value;
        if node.is_null() {
            let message = format!("`{}` is null; nothing runs for it", row.name);
            self.report
                .add(Finding::note("event-is-null", node.span, message));
            return;
        }
        let Some(groups) = node.as_list() else {
            let message = format!(
                "`{}`: expected a list of matcher groups, found {}; the event is dropped",
                row.name,
                node.describe()
            );
            let finding = Finding::broken("event-not-a-list", node.span, message)
                .help("write \"EVENT\": [{\"matcher\": \"...\", \"hooks\": [...]}]");
            self.broken(row, finding, node.span);
            return;
        };
        part.any_group |= !groups.is_empty();
        for (index, group) in groups.iter().enumerate() {
            self.group(row, entry.key_span, (index, group), part);
        }
    }

    fn group(
        &mut self,
        row: &'static EventRow,
        event_span: Span,
        (group, node): (usize, &Node),
        part: &mut Part,
    ) {
        let handlers = match group_handlers(node) {
            Ok(handlers) => handlers,
            Err((span, message)) => {
                let message = format!("{message}; the group is dropped");
                self.broken(row, Finding::broken("bad-group", span, message), span);
                return;
            }
        };
        self.warn_of_invalid_matcher(row, node);
        for (index, handler) in handlers.iter().enumerate() {
            let slot = Slot {
                dialect: DialectId::Claude,
                row,
                event_span,
                group,
                group_node: node,
                index,
                node: handler,
            };
            match claude_handler::read(&slot, self.report) {
                Ok(read) => part.handlers.push(read),
                Err(problems) => self.bad_handler(&slot, problems),
            }
        }
    }

    fn bad_handler(&mut self, slot: &Slot<'_>, problems: Vec<claude_handler::Problem>) {
        let key = slot.key(self.report);
        for problem in problems {
            let message = format!("{}; the handler is dropped", problem.message);
            let finding = Finding::broken("bad-handler", problem.span, message)
                .maybe_help(problem.help)
                .about(&key);
            self.broken(slot.row, finding, problem.span);
        }
    }

    /// The client says nothing and the hook never runs (measured): exactly what a gate must not do.
    fn warn_of_invalid_matcher(&mut self, row: &EventRow, group: &Node) {
        let matcher = group.as_table().and_then(|group| group.get("matcher"));
        let Some((node, text)) = matcher.and_then(|node| Some((node, node.as_text()?))) else {
            return;
        };
        if row.subject == Subject::Ignored {
            return;
        }
        if let Reading::Invalid(why) = Matcher::compile(CLAUDE.matcher, Some(text)).reading() {
            let message = format!(
                "matcher {text:?} is no valid regular expression, so its hooks never run: {why}"
            );
            let finding = Finding::broken("invalid-matcher", node.span, message)
                .help("a list of names is written `Edit|Write`; a permission rule belongs in `if`");
            self.report.add(finding);
        }
    }

    fn warn_of_events_outside(&mut self, table: &Table) {
        for entry in table.effective() {
            if CLAUDE.event(&entry.key).is_some() {
                let message = format!("`{}` stands outside `hooks`; nothing of it runs", entry.key);
                let finding = Finding::warning("event-outside-hooks", entry.key_span, message);
                self.report
                    .add(finding.help("put it into {\"hooks\": {...}}"));
            }
        }
    }
}

/// Checks a group and gives its handlers.
fn group_handlers(node: &Node) -> Result<&[Node], (Span, String)> {
    let Some(table) = node.as_table() else {
        let message = format!("expected a matcher group, found {}", node.describe());
        return Err((node.span, message));
    };
    if let Some(matcher) = table.get("matcher").filter(|node| node.as_text().is_none()) {
        let message = format!("`matcher`: expected a string, found {}", matcher.describe());
        return Err((matcher.span, message));
    }
    match table.get("hooks") {
        None => Err((node.span, "the group has no `hooks` list".into())),
        Some(hooks) => hooks.as_list().ok_or_else(|| {
            let message = format!("`hooks`: expected a list, found {}", hooks.describe());
            (hooks.span, message)
        }),
    }
}

/// Help for a name that is no event of `dialect`.
pub(crate) fn other_event(dialect: DialectId, written: &str) -> Option<String> {
    let names = dialect.table().events.iter().map(|row| row.name);
    did_you_mean(written, names).or_else(|| {
        let (other, client) = match dialect {
            DialectId::Claude => (&CODEX, "Codex"),
            DialectId::Codex => (&CLAUDE, "Claude Code"),
        };
        other
            .event(written)
            .map(|_| format!("it is an event of {client}"))
    })
}
