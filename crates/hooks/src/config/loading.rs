//! Reads the files of every layer and puts together what is in force.

use std::path::{Path, PathBuf};

use super::layers::{self, Form, LayerFiles};
use super::part::Part;
use super::policy::{self, Cause, Policy};
use super::report::{Finding, Report};
use super::source::{self, Source};
use super::{ConfigFile, FileState, Loaded, Roots, claude, codex, lenient, switch};
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::{ConfigStyle, Dialect, DialectId};
use crate::handler::{Handler, Layer};

/// Reads every layer of one dialect.
#[must_use]
pub fn load(dialect: DialectId, roots: &Roots) -> Loaded {
    let mut loaded = Loaded::empty(dialect, roots.absolute());
    let places = layers::files(dialect, &loaded.roots);
    let layers: Vec<_> = places
        .into_iter()
        .map(|place| read_layer(&loaded, place))
        .collect();
    let policy = Policy::of(dialect, &layers, &loaded.roots);
    loaded.codex_project = policy.trusts_project();
    let (mut switches, mut causes) = (Vec::new(), Vec::new());
    for layer in layers {
        let cause = policy.against(&layer.place);
        let unlisted = policy.is_unlisted(&layer.place);
        let (switched, off) = loaded.admit(layer, cause.as_ref());
        switches.extend(switched.into_iter().map(|mut switch| {
            switch.own_only = unlisted;
            switch
        }));
        causes.extend(cause.map(|cause| (cause, off)));
    }
    policy::report(&mut loaded, &causes);
    switch::apply(&mut loaded, &switches);
    loaded
}

impl Loaded {
    /// Takes a layer in, or keeps it only to be shown. Gives what it switches, and how many
    /// hooks are off because of the cause.
    fn admit(&mut self, layer: ReadLayer, against: Option<&Cause>) -> (Vec<switch::Switch>, usize) {
        if against.is_none() {
            self.diagnostics.extend(two_forms(&layer));
        }
        let (mut switches, mut off) = (Vec::new(), 0);
        let place = layer.place;
        for mut file in layer.files {
            if let Some(cause) = against {
                off += file.pass_over(cause);
            }
            if let Some(text) = file.text {
                self.texts.insert(file.path.clone(), text.into());
            }
            self.diagnostics.extend(file.found);
            self.files.push(ConfigFile {
                path: file.path,
                layer: place.layer.clone(),
                state: file.state,
            });
            switches.extend(self.take(&place.layer, file.part));
        }
        (switches, off)
    }

    fn take(&mut self, layer: &Layer, part: Part) -> Option<switch::Switch> {
        for (handler, places) in part.handlers {
            self.places.insert(handler.key.clone(), places);
            self.handlers.push(Handler {
                profile: self.roots.profile,
                default_timeout: self.roots.default_timeout,
                ..handler
            });
        }
        if !part.env.is_empty() {
            self.env.extend(part.env.clone());
            self.env_layers.push((layer.clone(), part.env));
        }
        self.permissions.extend(part.permissions.rules);
        self.no_bypass = self.no_bypass.take().or(part.permissions.no_bypass);
        for (key, state) in part.state {
            let known = self.codex_state.entry(key).or_default();
            known.trusted_hash = state.trusted_hash.or(known.trusted_hash.take());
            known.enabled = state.enabled.or(known.enabled);
        }
        part.switch
    }
}

/// A layer that was read, before anything is known about the others.
pub(super) struct ReadLayer {
    pub(super) place: LayerFiles,
    pub(super) files: Vec<ReadFile>,
}

pub(super) struct ReadFile {
    pub(super) path: PathBuf,
    form: Form,
    state: FileState,
    pub(super) part: Part,
    found: Vec<Diagnostic>,
    text: Option<String>,
}

impl ReadFile {
    /// Keeps of a file what is shown, and gives the number of hooks that are off. A
    /// `config.toml` that the client does not start with stays broken where it is read at all.
    fn pass_over(&mut self, cause: &Cause) -> usize {
        let fatal = self.form != Form::Json && !cause.hides_settings();
        self.found
            .retain(|found| fatal && found.severity == Severity::Broken);
        let unread = self.state == FileState::Broken;
        if self.state != FileState::Absent && !(fatal && unread) {
            self.state = FileState::PassedOver;
        }
        if cause.hides_settings() {
            self.part.switch = None;
        }
        for (handler, _) in &mut self.part.handlers {
            handler.disabled = Some(cause.words());
        }
        self.part.handlers.len() + usize::from(unread)
    }
}

/// Codex loads both files of a layer and says so (measured).
fn two_forms(layer: &ReadLayer) -> Vec<Diagnostic> {
    let mut with_hooks = layer.files.iter().filter(|file| file.part.any_group);
    let (Some(first), Some(second)) = (with_hooks.next(), with_hooks.next()) else {
        return Vec::new();
    };
    let message = format!(
        "hooks are loaded from both {} and {}",
        first.path.display(),
        second.path.display()
    );
    let mut report = Report::new(&second.path, &layer.place.layer, "", false);
    report.add(
        Finding::warning("two-forms", (0, 0), message)
            .without_place()
            .help("prefer a single representation for this layer"),
    );
    report.finish()
}

fn read_layer(loaded: &Loaded, place: LayerFiles) -> ReadLayer {
    let files = place.files.iter();
    let files = files
        .map(|(path, form)| read_file(loaded, &place.layer, path, *form))
        .collect();
    ReadLayer { place, files }
}

fn read_file(loaded: &Loaded, layer: &Layer, path: &Path, form: Form) -> ReadFile {
    let source = match layer {
        Layer::Session => Source::Text(loaded.roots.session.text()),
        _ => source::read(path),
    };
    let mut read = None;
    let (state, part, found) = match source {
        Source::Absent if *layer == Layer::Explicit => {
            unreadable(path, layer, "there is no such file")
        }
        Source::Absent => (FileState::Absent, Part::default(), Vec::new()),
        Source::Unreadable(why) => unreadable(path, layer, &why),
        Source::Text(text) => {
            let result = read_text(loaded.table(), layer, path, form, &text);
            read = Some(text);
            result
        }
    };
    ReadFile {
        path: path.to_path_buf(),
        form,
        state,
        part,
        found,
        text: read,
    }
}

type ReadText = (FileState, Part, Vec<Diagnostic>);

fn unreadable(path: &Path, layer: &Layer, why: &str) -> ReadText {
    let mut report = Report::new(path, layer, "", false);
    let message = format!("the file cannot be read: {why}");
    report.add(Finding::broken("unreadable-file", (0, 0), message).without_place());
    (FileState::Broken, Part::default(), report.finish())
}

fn read_text(
    dialect: &'static Dialect,
    layer: &Layer,
    path: &Path,
    form: Form,
    text: &str,
) -> ReadText {
    let mut report = Report::new(path, layer, text, dialect.id == DialectId::Claude);
    let part = match (dialect.id, form) {
        (_, Form::Json) if dialect.config == ConfigStyle::Lenient => {
            lenient::read(dialect, &mut report)
        }
        (DialectId::Claude, Form::Json) => claude::read(&mut report),
        (DialectId::Codex, Form::Json) => codex::read_json(&mut report),
        (DialectId::Codex, form) => codex::read_toml(&mut report, form),
        (DialectId::Claude, _) => {
            let message = "Claude Code's settings are JSON, not TOML";
            report.add(
                Finding::broken("not-json", (0, 0), message)
                    .help("read this file with the Codex dialect"),
            );
            None
        }
    };
    let state = match part {
        Some(_) => FileState::Loaded,
        None => FileState::Broken,
    };
    (state, part.unwrap_or_default(), report.finish())
}
