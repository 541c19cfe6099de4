//! The configuration in force, and how it is read again when one of its files is edited.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use super::select::Compiled;
use crate::config::Loaded;
use crate::handler::{Handler, HandlerKey};
use crate::trust::{TrustState, hash};

/// A configuration with the trust of its handlers, made ready.
pub struct InForce {
    loaded: Loaded,
    trust: BTreeMap<HandlerKey, TrustState>,
    pub(super) compiled: Vec<Compiled>,
}

impl InForce {
    pub(super) fn new(loaded: Loaded, trust: BTreeMap<HandlerKey, TrustState>) -> Self {
        let table = loaded.table();
        let handlers = loaded.handlers.iter();
        let compiled = handlers.map(|handler| Compiled::new(table, handler));
        Self {
            compiled: compiled.collect(),
            loaded,
            trust,
        }
    }

    /// What was loaded.
    #[must_use]
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// The trust of a handler; one that nobody spoke of is untrusted.
    #[must_use]
    pub fn trust(&self, key: &HandlerKey) -> TrustState {
        let known = self.trust.get(key).copied();
        known.unwrap_or(TrustState::Untrusted)
    }

    pub(super) fn listens(&self, event: &str) -> bool {
        let fits = |c: &Compiled| c.handler.event == event && c.handler.disabled.is_none();
        self.compiled.iter().any(fits)
    }
}

/// Reads a configuration again. What it refuses leaves in force what was.
pub trait Reread: Send + Sync {
    /// The configuration as it is now, with the trust of its handlers.
    ///
    /// # Errors
    /// Why it must not take effect, in words for the user: what is broken in it, with its place, or
    /// which of its handlers nobody has agreed to.
    fn reread(&self) -> Result<(Loaded, BTreeMap<HandlerKey, TrustState>), String>;
}

/// What is in force now; it may be another configuration at the next event.
pub(super) struct Current {
    now: RwLock<Arc<InForce>>,
    reread: Option<(Arc<dyn Reread>, Mutex<Stamps>)>,
}

impl Current {
    pub(super) fn new(first: InForce) -> Self {
        let now = RwLock::new(Arc::new(first));
        Self { now, reread: None }
    }

    pub(super) fn reread_by(&mut self, reread: Arc<dyn Reread>) {
        let stamps = Stamps::of(self.get().loaded());
        self.reread = Some((reread, Mutex::new(stamps)));
    }

    pub(super) fn can_change(&self) -> bool {
        self.reread.is_some()
    }

    pub(super) fn get(&self) -> Arc<InForce> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks whether a file was edited since the last look, and reads again if so. What came of it,
    /// in words for the user.
    pub(super) fn refresh(&self) -> Option<String> {
        let (reread, stamps) = self.reread.as_ref()?;
        let mut stamps = stamps.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.get();
        let edited = stamps.edited(before.loaded());
        if edited.is_empty() {
            return None;
        }
        let edited: Vec<_> = edited
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let edited = edited.join(", ");
        let dialect = before.loaded.dialect;
        match reread.reread() {
            Err(why) => Some(format!(
                "{edited} was edited. The hooks of {dialect} stay as they were: {why}"
            )),
            Ok((loaded, trust)) => {
                *stamps = Stamps::of(&loaded);
                let change = change(before.loaded(), &loaded);
                let after = InForce::new(loaded, trust);
                *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(after);
                change.map(|change| format!("{edited} was edited. Hooks of {dialect}: {change}"))
            }
        }
    }
}

/// What is different, in words; `None` when nothing is.
fn change(before: &Loaded, after: &Loaded) -> Option<String> {
    let names = |loaded: &Loaded| -> Vec<(String, String)> {
        let name = |handler: &Handler| format!("{} {}", handler.event, handler.action.summary());
        let handlers = loaded.handlers.iter();
        let handlers = handlers.filter(|handler| handler.disabled.is_none());
        handlers
            .map(|handler| (hash(handler), name(handler)))
            .collect()
    };
    let (before_names, after_names) = (names(before), names(after));
    if before_names == after_names && before.env == after.env {
        return None;
    }
    let without = |these: &[(String, String)], those: &[(String, String)]| {
        let mut left = those.to_vec();
        let mut only = Vec::new();
        for this in these {
            match left.iter().position(|that| that.0 == this.0) {
                Some(index) => drop(left.swap_remove(index)),
                None => only.push(this.1.clone()),
            }
        }
        only.join("; ")
    };
    let mut words = vec![format!("{} in force", after_names.len())];
    for (word, names) in [
        ("new", without(&after_names, &before_names)),
        ("gone", without(&before_names, &after_names)),
    ] {
        if !names.is_empty() {
            words.push(format!("{word}: {names}"));
        }
    }
    Some(words.join(", "))
}

/// By what an edit of a file is noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    length: u64,
    changed: Option<SystemTime>,
    identity: (u64, i64, i64),
}

/// The files that were looked for, those that were not there included.
struct Stamps(Vec<(PathBuf, Option<Stamp>)>);

impl Stamps {
    fn of(loaded: &Loaded) -> Self {
        let files = loaded.files.iter();
        Self(
            files
                .map(|file| (file.path.clone(), stamp(&file.path)))
                .collect(),
        )
    }

    /// The files that are not as they were. The next look compares with how they are now.
    fn edited(&mut self, loaded: &Loaded) -> Vec<PathBuf> {
        let now = Self::of(loaded);
        let before = std::mem::replace(&mut self.0, now.0);
        let pairs = self.0.iter().zip(&before);
        let edited = pairs.filter(|(now, before)| now != before);
        edited.map(|(now, _)| now.0.clone()).collect()
    }
}

fn stamp(path: &std::path::Path) -> Option<Stamp> {
    let found = std::fs::metadata(path).ok()?;
    Some(Stamp {
        length: found.len(),
        changed: found.modified().ok(),
        identity: identity(&found),
    })
}

/// A file that takes another's place has another number; one that is written in place, another time
/// of change, whatever its time of modification says.
#[cfg(unix)]
fn identity(found: &std::fs::Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (found.ino(), found.ctime(), found.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(_: &std::fs::Metadata) -> (u64, i64, i64) {
    (0, 0, 0)
}
