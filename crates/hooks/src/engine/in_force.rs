//! The configuration in force, and how it is read again when one of its files is edited.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use super::select::Compiled;
use crate::config::{self, ConfigFile, Loaded, Source};
use crate::handler::{Handler, HandlerKey, Layer};
use crate::trust::{TrustState, kept};

/// A configuration with the trust of its handlers, made ready.
pub struct InForce {
    loaded: Loaded,
    pub(super) compiled: Vec<Compiled>,
}

impl InForce {
    /// A handler that `trust` does not name is untrusted.
    pub(super) fn new(loaded: Loaded, trust: BTreeMap<HandlerKey, TrustState>) -> Self {
        let table = loaded.table();
        let handlers = loaded.handlers.iter();
        let compiled = handlers.map(|handler| {
            let trust = trust.get(&handler.key).copied();
            Compiled::new(table, handler, trust.unwrap_or(TrustState::Untrusted))
        });
        Self {
            compiled: compiled.collect(),
            loaded,
        }
    }

    /// What was loaded.
    #[must_use]
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
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

    /// Files beside the configuration's own by which the answer may change, such as the store of
    /// what a person has agreed to.
    fn besides(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// What is in force now; it may be another configuration at the next event.
pub(super) struct Current {
    now: RwLock<Arc<InForce>>,
    reread: Option<(Arc<dyn Reread>, Mutex<Look>)>,
}

impl Current {
    pub(super) fn new(first: InForce) -> Self {
        let now = RwLock::new(Arc::new(first));
        Self { now, reread: None }
    }

    pub(super) fn reread_by(&mut self, reread: Arc<dyn Reread>) {
        let stamps = Stamps::of(self.get().loaded(), &reread.besides());
        let look = Look {
            stamps,
            refused: None,
        };
        self.reread = Some((reread, Mutex::new(look)));
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
        let (reread, look) = self.reread.as_ref()?;
        let mut look = look.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.get();
        let edited = look.stamps.edited();
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
            Err(why) => {
                let again = look.refused.replace(why.clone());
                (again.as_ref() != Some(&why)).then(|| {
                    format!("{edited} was edited. The hooks of {dialect} stay as they were: {why}")
                })
            }
            Ok((loaded, trust)) => {
                look.stamps = Stamps::of(&loaded, &reread.besides());
                look.refused = None;
                let change = change(before.loaded(), &loaded);
                let after = InForce::new(loaded, trust);
                *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(after);
                change.map(|change| format!("{edited} was edited. Hooks of {dialect}: {change}"))
            }
        }
    }
}

/// What the last look found.
struct Look {
    stamps: Stamps,
    /// Why the files as they were then took no effect.
    refused: Option<String>,
}

/// What is different, in words; `None` when nothing is.
fn change(before: &Loaded, after: &Loaded) -> Option<String> {
    let names = |loaded: &Loaded| -> Vec<(String, String)> {
        let name = |handler: &Handler| format!("{} {}", handler.event, handler.action.summary());
        let handlers = loaded.handlers.iter();
        let handlers = handlers.filter(|handler| handler.disabled.is_none());
        handlers
            .map(|handler| (kept(handler), name(handler)))
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

/// How a file was found.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Absent,
    As(Stamp),
    /// It is not what was read of it: edited between the reading and the look.
    Otherwise,
}

/// The files that were looked for, those that were not there included.
struct Stamps(Vec<(PathBuf, Seen)>);

impl Stamps {
    /// The files that this was read from. A stamp is taken before the text is compared, so that an
    /// edit at any moment after the reading is found by the next look.
    fn of(loaded: &Loaded, besides: &[PathBuf]) -> Self {
        let on_disk = |file: &&ConfigFile| file.layer != Layer::Session;
        let files = loaded.files.iter().filter(on_disk).map(|file| {
            let now = seen(&file.path);
            let same = match (
                loaded.texts.get(&file.path),
                config::read_source(&file.path),
            ) {
                (Some(read), Source::Text(text)) => **read == *text,
                (Some(_), _) => false,
                (None, now) => !matches!(now, Source::Text(_)),
            };
            let now = if same { now } else { Seen::Otherwise };
            (file.path.clone(), now)
        });
        let besides = besides.iter().map(|path| (path.clone(), seen(path)));
        Self(files.chain(besides).collect())
    }

    /// The files that are not as they were. The next look compares with how they are now.
    fn edited(&mut self) -> Vec<PathBuf> {
        let mut edited = Vec::new();
        for (path, before) in &mut self.0 {
            let now = seen(path);
            if now != *before {
                *before = now;
                edited.push(path.clone());
            }
        }
        edited
    }
}

fn seen(path: &Path) -> Seen {
    stamp(path).map_or(Seen::Absent, Seen::As)
}

fn stamp(path: &Path) -> Option<Stamp> {
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
