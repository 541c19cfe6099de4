//! What one file gives, and how its handlers are named.

use std::collections::BTreeMap;

use super::permissions::Permissions;
use super::projects::Projects;
use super::report::Report;
use super::switch::Switch;
use super::tree::{Node, Span, Table};
use super::{CodexState, Places};
use crate::dialect::{DialectId, EventRow};
use crate::handler::{Action, Handler, HandlerKey};

/// What one file gives.
#[derive(Default)]
pub(crate) struct Part {
    /// In run order.
    pub(crate) handlers: Vec<(Handler, Places)>,
    /// Claude's `env`.
    pub(crate) env: BTreeMap<String, String>,
    /// Claude's `permissions`.
    pub(crate) permissions: Permissions,
    /// The setting that turns hooks off or on, when the file has one.
    pub(crate) switch: Option<Switch>,
    /// Codex's `[hooks.state]`.
    pub(crate) state: BTreeMap<HandlerKey, CodexState>,
    /// Codex's `[projects]`.
    pub(crate) projects: Projects,
    /// Codex's `allow_managed_hooks_only = true`: where it stands.
    pub(crate) managed_only: Option<Span>,
    /// Whether any event has a group, even an empty one.
    pub(crate) any_group: bool,
}

/// The place of one handler in its file.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'t> {
    pub(crate) dialect: DialectId,
    pub(crate) row: &'static EventRow,
    pub(crate) event_span: Span,
    pub(crate) group: usize,
    pub(crate) group_node: &'t Node,
    pub(crate) index: usize,
    pub(crate) node: &'t Node,
}

impl<'t> Slot<'t> {
    /// `<source path>:<snake_case event>:<group index>:<handler index>`.
    pub(crate) fn key(&self, report: &Report<'_>) -> HandlerKey {
        HandlerKey(format!(
            "{}:{}:{}:{}",
            report.named.as_deref().unwrap_or(report.path).display(),
            self.row.snake,
            self.group,
            self.index
        ))
    }

    pub(crate) fn table(&self) -> Option<&'t Table> {
        self.node.as_table()
    }

    /// A handler that says nothing but what it does.
    pub(crate) fn handler(&self, report: &Report<'_>, action: Action) -> Handler {
        let group = self.group_node.as_table();
        let matcher = group.and_then(|group| group.get("matcher"));
        let source = report.path.to_path_buf();
        let (key, layer) = (self.key(report), report.layer.clone());
        Handler {
            position: report.position(self.node.span.0),
            group: self.group,
            index: self.index,
            matcher: matcher.and_then(Node::as_text).map(str::to_owned),
            ..Handler::new(key, self.dialect, self.row.name, layer, source, action)
        }
    }

    /// Where its parts stand. `group_keys` and `keys` are the known keys of group and handler.
    pub(crate) fn places(&self, report: &Report<'_>, group_keys: &[&str], keys: &[&str]) -> Places {
        let mut places = Places {
            event: report.in_file(self.event_span),
            group: report.in_file(self.group_node.span),
            handler: report.in_file(self.node.span),
            ..Places::default()
        };
        if let Some(group) = self.group_node.as_table() {
            let matcher = group.get("matcher").filter(|matcher| !matcher.is_null());
            places.matcher = matcher.map(|matcher| report.in_file(matcher.span));
            places.unknown.extend(unknown(report, group, group_keys));
        }
        if let Some(table) = self.table() {
            for entry in table.effective() {
                let span = report.in_file(entry.value.span);
                places.fields.insert(entry.key.clone(), span);
            }
            places.unknown.extend(unknown(report, table, keys));
        }
        places
    }
}

fn unknown(report: &Report<'_>, table: &Table, known: &[&str]) -> Vec<(String, Span)> {
    table
        .effective()
        .into_iter()
        .filter(|entry| !known.contains(&entry.key.as_str()))
        .map(|entry| (entry.key.clone(), report.in_file(entry.key_span)))
        .collect()
}
