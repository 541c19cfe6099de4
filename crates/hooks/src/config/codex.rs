//! Reads Codex's `hooks.json` and the `[hooks]` table of `config.toml`.
//!
//! Measured on 0.171.0: the client parses a file into typed structures, so one wrong type anywhere
//! loses the whole file; unknown events and unknown keys of groups and handlers vanish without a
//! word. A wrong type in `config.toml` keeps the client from starting. Every mistake of a file is
//! reported, not only the one the client stops at. A repeated key that the client knows is refused
//! as well (read in its public source, not measured).

use super::claude::{other_event, strictness};
use super::codex_handler::{self, Draft};
use super::layers::Form;
use super::part::{Part, Slot};
use super::report::{Finding, Report};
use super::tree::{Entry, Node, Span, Table};
use super::{codex_settings, json, projects, toml};
use crate::dialect::{CODEX, DialectId, EventRow, Subject};
use crate::handler::Layer;
use crate::matcher::{Matcher, Reading};

/// Keys of a matcher group.
pub(crate) const GROUP_KEYS: [&str; 2] = ["matcher", "hooks"];

/// Keys of the `[hooks]` table that are no events.
const TABLE_KEYS: [&str; 3] = ["state", "managed_dir", "windows_managed_dir"];

/// A shape the client refuses, in serde's words.
pub(crate) type Shape = (Span, String);

/// Reads a `hooks.json`; `None` when the client drops it.
pub(crate) fn read_json(report: &mut Report<'_>) -> Option<Part> {
    let root = match json::parse(report.body()) {
        Ok(root) => root,
        Err(error) => {
            let message = format!("{}; Codex drops the file", error.message);
            let finding = Finding::broken("bad-json", report.point(error.offset), message);
            report.add(finding.maybe_help(json_help(report.body())));
            return None;
        }
    };
    let mut reading = Reader::new(true);
    let mut part = Part::default();
    match root.as_table() {
        Some(table) => reading.json_file(table, &mut part, report),
        None => reading.wrong(&root, "struct HooksFile"),
    }
    reading.finish(report, part, "Codex drops the file")
}

/// Reads a `config.toml` or `requirements.toml`; `None` when the client does not start with it.
pub(crate) fn read_toml(report: &mut Report<'_>, form: Form) -> Option<Part> {
    let root = match toml::parse(report.body()) {
        Ok(root) => root,
        Err(error) => {
            let message = format!("{}; Codex does not start with this file", error.message);
            report.add(Finding::broken(
                "bad-toml",
                report.point(error.offset),
                message,
            ));
            return None;
        }
    };
    let mut reading = Reader::new(false);
    let mut part = Part::default();
    match root.as_table() {
        Some(table) if form == Form::Requirements => {
            let hooks = table.get("hooks").and_then(Node::as_table);
            report.named =
                hooks.and_then(|hooks| codex_settings::managed_folder(hooks, &mut reading.shapes));
            reading.requirements(table, &mut part, report);
        }
        Some(table) => reading.config(table, &mut part, report),
        None => {}
    }
    reading.finish(report, part, "Codex does not start with this file")
}

fn json_help(text: &str) -> Option<String> {
    if text.starts_with('\u{feff}') {
        return Some("save the file without a byte-order mark".into());
    }
    strictness(text)
}

/// What is found while one file is read.
struct Reader {
    /// JSON: a repeated key that is known is refused. TOML refuses all repeats by itself.
    refuse_repeats: bool,
    shapes: Vec<Shape>,
    findings: Vec<Finding>,
}

impl Reader {
    fn new(refuse_repeats: bool) -> Self {
        Self {
            refuse_repeats,
            shapes: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn wrong(&mut self, node: &Node, expected: &str) {
        self.shapes.push(mismatch(node, expected));
    }

    /// All mistakes in file order, or what was read.
    fn finish(mut self, report: &mut Report<'_>, part: Part, loss: &str) -> Option<Part> {
        if self.shapes.is_empty() {
            self.findings
                .into_iter()
                .for_each(|finding| report.add(finding));
            return Some(part);
        }
        self.shapes.sort_by_key(|(span, _)| span.0);
        for (span, message) in self.shapes {
            report.add(Finding::broken(
                "bad-shape",
                span,
                format!("{message}; {loss}"),
            ));
        }
        None
    }

    fn json_file(&mut self, table: &Table, part: &mut Part, report: &Report<'_>) {
        for entry in table.effective() {
            match entry.key.as_str() {
                "hooks" => match entry.value.as_table() {
                    Some(events) => self.events(events, part, report),
                    None => self.wrong(&entry.value, "struct HookEventsToml"),
                },
                "description" if entry.value.is_null() => {}
                "description" if entry.value.as_text().is_none() => {
                    self.wrong(&entry.value, "a string");
                }
                "description" => {}
                other => {
                    let message =
                        format!("unknown field `{other}`, expected `description` or `hooks`");
                    self.shapes.push((entry.key_span, message));
                }
            }
        }
        self.repeats(table, |key| matches!(key, "hooks" | "description"));
    }

    /// What an organisation asks for: its switch overrides every other (measured).
    fn requirements(&mut self, table: &Table, part: &mut Part, report: &Report<'_>) {
        part.managed_only = codex_settings::managed_only(table, report, &mut self.shapes);
        self.common(table, part, report);
        if let Some(switch) = &mut part.switch {
            switch.pinned = true;
        }
    }

    fn config(&mut self, table: &Table, part: &mut Part, report: &Report<'_>) {
        if let Some(node) = table.get("projects") {
            part.projects = projects::read(node, report, &mut self.shapes);
        }
        if let Some(node) = table.get("plugins") {
            self.findings.extend(codex_settings::plugins(node));
        }
        self.common(table, part, report);
    }

    fn common(&mut self, table: &Table, part: &mut Part, report: &Report<'_>) {
        if let Some(features) = table.get("features") {
            part.switch = codex_settings::feature(features, report, &mut self.shapes);
            self.findings
                .extend(codex_settings::deprecated_alias(features));
        }
        let Some(hooks) = table.get("hooks") else {
            return;
        };
        match hooks.as_table() {
            None => self.wrong(hooks, "struct HooksToml"),
            Some(hooks) => {
                self.events(hooks, part, report);
                if let Some(state) = hooks.entry("state") {
                    let read = codex_settings::state(&state.value, &mut self.shapes);
                    self.keep_state(state, read, part, report);
                }
            }
        }
    }

    /// Only the user may say what is trusted or off: in the own file or on the command line.
    fn keep_state(
        &mut self,
        entry: &Entry,
        read: codex_settings::States,
        part: &mut Part,
        report: &Report<'_>,
    ) {
        if !matches!(report.layer, Layer::User | Layer::Session) {
            let message = "[hooks.state] is read from the user's own config.toml only";
            self.findings
                .push(Finding::warning("foreign-state", entry.key_span, message));
        } else {
            part.state = read;
        }
    }

    /// Events in the fixed order of the table, whatever the order in the file (measured).
    fn events(&mut self, table: &Table, part: &mut Part, report: &Report<'_>) {
        for row in CODEX.events {
            if let Some(entry) = table.entry(row.name) {
                self.event(row, entry, part, report);
            }
        }
        for entry in table.effective() {
            let known =
                CODEX.event(&entry.key).is_some() || TABLE_KEYS.contains(&entry.key.as_str());
            if !known {
                let message = format!(
                    "`{}` is no event of Codex; nothing under it runs",
                    entry.key
                );
                let finding = Finding::warning("unknown-event", entry.key_span, message)
                    .maybe_help(other_event(DialectId::Codex, &entry.key));
                self.findings.push(finding);
            }
        }
        self.repeats(table, |key| CODEX.event(key).is_some());
    }

    fn event(
        &mut self,
        row: &'static EventRow,
        entry: &Entry,
        part: &mut Part,
        report: &Report<'_>,
    ) {
        let Some(groups) = entry.value.as_list() else {
            self.wrong(&entry.value, "a sequence");
            return;
        };
        part.any_group |= !groups.is_empty();
        for (group, node) in groups.iter().enumerate() {
            match node.as_table() {
                None => self.wrong(node, "struct MatcherGroup"),
                Some(table) => {
                    let slots = Slots {
                        row,
                        event_span: entry.key_span,
                        group,
                        node,
                        table,
                    };
                    self.group(&slots, part, report);
                }
            }
        }
    }

    fn group(&mut self, slots: &Slots<'_>, part: &mut Part, report: &Report<'_>) {
        let matcher = slots.table.get("matcher").filter(|node| !node.is_null());
        if let Some(node) = matcher.filter(|node| node.as_text().is_none()) {
            self.wrong(node, "a string");
        }
        self.repeats(slots.table, |key| GROUP_KEYS.contains(&key));
        self.warn_of_unknown_keys(slots.table, &GROUP_KEYS, "a matcher group");
        let handlers = match slots.table.get("hooks") {
            None => &[],
            Some(hooks) => match hooks.as_list() {
                Some(handlers) => handlers,
                None => return self.wrong(hooks, "a sequence"),
            },
        };
        let dropped = self.invalid_matcher(slots.row, matcher);
        for (index, node) in handlers.iter().enumerate() {
            let slot = slots.slot(index, node);
            let Some(draft) = self.handler(&slot) else {
                continue;
            };
            if dropped {
                continue;
            }
            let (read, findings) = codex_handler::finish(&slot, draft, report);
            self.findings.extend(findings);
            part.handlers.extend(read);
        }
    }

    fn handler(&mut self, slot: &Slot<'_>) -> Option<Draft> {
        let Some(table) = slot.table() else {
            self.wrong(slot.node, "internally tagged enum HookHandlerConfig");
            return None;
        };
        match codex_handler::read(table, slot.node.span) {
            Ok(draft) => {
                let keys = codex_handler::known_keys(draft.type_name);
                self.repeats(table, |key| keys.contains(&key));
                Some(draft)
            }
            Err(shapes) => {
                self.shapes.extend(shapes);
                None
            }
        }
    }

    /// The client drops such a group, with the regex crate's own words (measured).
    fn invalid_matcher(&mut self, row: &EventRow, matcher: Option<&Node>) -> bool {
        let Some((node, text)) = matcher.and_then(|node| Some((node, node.as_text()?))) else {
            return false;
        };
        if row.subject == Subject::Ignored {
            return false;
        }
        let Reading::Invalid(why) = Matcher::compile(CODEX.matcher, Some(text)).reading() else {
            return false;
        };
        let message = format!("invalid matcher {text:?}, the group is dropped: {why}");
        self.findings
            .push(Finding::broken("invalid-matcher", node.span, message));
        true
    }

    fn warn_of_unknown_keys(&mut self, table: &Table, known: &[&'static str], place: &str) {
        for entry in table.effective() {
            if !known.contains(&entry.key.as_str()) {
                let message = format!("Codex ignores `{}` in {place}", entry.key);
                let finding = Finding::warning("ignored-key", entry.key_span, message);
                let near = super::did_you_mean(&entry.key, known.iter().copied());
                self.findings.push(finding.maybe_help(near));
            }
        }
    }

    fn repeats(&mut self, table: &Table, known: impl Fn(&str) -> bool) {
        for lost in table.overridden() {
            if self.refuse_repeats && known(&lost.key) {
                self.shapes
                    .push((lost.key_span, format!("duplicate field `{}`", lost.key)));
            } else {
                let message = format!("`{}` comes again later; only the last one counts", lost.key);
                self.findings
                    .push(Finding::warning("repeated-key", lost.key_span, message));
            }
        }
    }
}

/// The handlers of one group.
struct Slots<'t> {
    row: &'static EventRow,
    event_span: Span,
    group: usize,
    node: &'t Node,
    table: &'t Table,
}

impl<'t> Slots<'t> {
    fn slot(&self, index: usize, node: &'t Node) -> Slot<'t> {
        Slot {
            dialect: DialectId::Codex,
            row: self.row,
            event_span: self.event_span,
            group: self.group,
            group_node: self.node,
            index,
            node,
        }
    }
}

/// serde's words for a value of the wrong type.
pub(crate) fn mismatch(node: &Node, expected: &str) -> Shape {
    let message = format!("invalid type: {}, expected {expected}", node.describe());
    (node.span, message)
}
