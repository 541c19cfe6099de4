//! Where a person's agreement is kept: one JSON file, written whole or not at all.
//!
//! ```json
//! {"version": 1, "handlers": {
//!   "/p/.claude/settings.json:stop:0:0": {
//!     "hash": "sha256:...", "dialect": "claude", "does": "sh .claude/gate.sh",
//!     "project": "/p", "trusted_at": 1767225600,
//!     "scripts": {"/p/.claude/gate.sh": "sha256:..."}}}}
//! ```
//!
//! A store that cannot be read or understood is an error that names the file and the line: it
//! never passes for a store in which nothing, or everything, is trusted. Every change takes a lock
//! beside the file, reads it anew, and replaces it by a rename, so that two writers lose nothing
//! and a crash leaves the old file. The file is for its owner alone (mode 0600).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::codex_file::{self, CodexFileError};
use super::hash::{hash, kept};
use super::{Standing, TrustState, codex_status, scripts};
use crate::config::Loaded;
use crate::dialect::DialectId;
use crate::handler::{Handler, HandlerKey};

/// The only layout this program knows.
const VERSION: u64 = 1;

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file or its folder cannot be read or written.
    #[error("the trust store {} cannot be {doing}: {source}", path.display())]
    Io {
        /// The store.
        path: PathBuf,
        /// `read`, `locked` or `written`.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not a trust store.
    #[error(
        "the trust store {}:{line}:{column} is broken: {message}; correct it, or move it away \
         and trust the hooks anew",
        path.display()
    )]
    Broken {
        /// The store.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// Another version of this program wrote it.
    #[error(
        "the trust store {} has version {found}, and this program knows version {VERSION} only; \
         use the program that wrote it, or move the file away and trust the hooks anew",
        path.display()
    )]
    Version {
        /// The store.
        path: PathBuf,
        /// The version it has.
        found: u64,
    },
    /// Codex's own file was left as it is.
    #[error(transparent)]
    Codex(#[from] CodexFileError),
}

/// What was agreed to, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The handler's [`hash`](super::hash()) at that time.
    pub hash: String,
    /// `claude` or `codex`.
    pub dialect: String,
    /// One line that says what the handler did.
    pub does: String,
    /// The project in which it was trusted.
    pub project: PathBuf,
    /// Seconds since 1970.
    pub trusted_at: u64,
    /// The script files of the project it ran, with the hash of their content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scripts: BTreeMap<PathBuf, String>,
    /// Hash of the variables that the project's settings gave it, if any: `PATH` alone could make
    /// it another command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u64,
    #[serde(default)]
    handlers: BTreeMap<String, Grant>,
}

/// The trusted handlers of one user, of both dialects.
#[derive(Debug, Clone)]
pub struct TrustStore {
    path: PathBuf,
    grants: BTreeMap<HandlerKey, Grant>,
}

impl TrustStore {
    /// The usual place below a state folder (`$XDG_STATE_HOME`): `seamline/trust.json`.
    #[must_use]
    pub fn place(state: &Path) -> PathBuf {
        state.join("seamline").join("trust.json")
    }

    /// Reads a store. One that is not there is empty.
    ///
    /// # Errors
    /// When the file is there and cannot be read, is broken, or has another version.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, TrustError> {
        let path = path.into();
        let grants = read(&path)?;
        Ok(Self { path, grants })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything that is trusted, by key.
    pub fn list(&self) -> impl Iterator<Item = (&HandlerKey, &Grant)> {
        self.grants.iter()
    }

    /// Whether a handler may run. Reads the scripts its command names.
    #[must_use]
    pub fn status(&self, handler: &Handler, loaded: &Loaded) -> Standing {
        match &handler.layer {
            layer if layer.is_managed() => return Standing::plain(TrustState::Managed),
            layer if !layer.comes_with_project() => return Standing::plain(TrustState::Own),
            _ => {}
        }
        let hash = kept(handler);
        let by_codex = match handler.dialect {
            DialectId::Codex => codex_status(handler, loaded),
            DialectId::Claude => TrustState::Untrusted,
        };
        match (self.grant(&handler.key, &hash), by_codex) {
            (Some(grant), _) if grant.hash == hash && grant.env != project_env(loaded) => {
                Standing::modified("the `env` of its settings has changed since".into())
            }
            (Some(grant), _) if grant.hash == hash => {
                match changed_script(grant, &scripts::fingerprint(handler, &loaded.roots)) {
                    None => Standing::plain(TrustState::Trusted),
                    Some(why) => Standing::modified(why),
                }
            }
            (_, TrustState::Trusted) => Standing::plain(TrustState::Trusted),
            (Some(grant), _) => Standing::modified(format!(
                "it was trusted as `{}`, and its definition has changed since",
                grant.does
            )),
            (None, TrustState::Modified) => {
                Standing::modified("its hash is not the one Codex's [hooks.state] has".into())
            }
            (None, _) => Standing::plain(TrustState::Untrusted),
        }
    }

    /// The state of every handler, as the engine takes it.
    #[must_use]
    pub fn states(&self, loaded: &Loaded) -> BTreeMap<HandlerKey, TrustState> {
        let handlers = loaded.handlers.iter();
        handlers
            .map(|handler| (handler.key.clone(), self.status(handler, loaded).state))
            .collect()
    }

    /// The grant of this key, or of the same content elsewhere in the same file.
    fn grant(&self, key: &HandlerKey, hash: &str) -> Option<&Grant> {
        let own = self.grants.get(key);
        if own.is_some_and(|grant| grant.hash == hash) {
            return own;
        }
        let moved = self
            .grants
            .iter()
            .find(|(other, grant)| grant.hash == hash && other.source() == key.source());
        moved.map(|(_, grant)| grant).or(own)
    }

    /// Records agreement to handlers as they are now, and writes the store. Returns how many were
    /// recorded: handlers that need no trust are left out.
    ///
    /// # Errors
    /// When the store cannot be locked, read anew or written; nothing is recorded then.
    pub fn trust<'h>(
        &mut self,
        handlers: impl IntoIterator<Item = &'h Handler>,
        loaded: &Loaded,
    ) -> Result<usize, TrustError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let trusted_at = now.map_or(0, |since| since.as_secs());
        let fresh: Vec<_> = handlers
            .into_iter()
            .filter(|handler| handler.layer.comes_with_project())
            .map(|handler| {
                let grant = Grant {
                    hash: kept(handler),
                    dialect: handler.dialect.to_string(),
                    does: handler.action.summary(),
                    project: loaded.roots.project.clone(),
                    trusted_at,
                    scripts: scripts::fingerprint(handler, &loaded.roots),
                    env: project_env(loaded),
                };
                (handler.key.clone(), grant)
            })
            .collect();
        let count = fresh.len();
        self.change(|grants| grants.extend(fresh))?;
        Ok(count)
    }

    /// Writes into Codex's own `config.toml` that it may trust these handlers as they are now:
    /// those of Codex, in its form, by its hash. Returns the file, if there was anything to write.
    ///
    /// # Errors
    /// When the file cannot be read, is broken or cannot be written; it is as it was then.
    pub fn trust_in_codex<'h>(
        &self,
        handlers: impl IntoIterator<Item = &'h Handler>,
        loaded: &Loaded,
    ) -> Result<Option<PathBuf>, TrustError> {
        self.change_codex(handlers, loaded, |handler| Some(hash(handler)))
    }

    /// Takes the trust of Codex's own `config.toml` back; what it says beside that stays.
    ///
    /// # Errors
    /// When the file cannot be read, is broken or cannot be written; it is as it was then.
    pub fn revoke_in_codex<'h>(
        &self,
        handlers: impl IntoIterator<Item = &'h Handler>,
        loaded: &Loaded,
    ) -> Result<Option<PathBuf>, TrustError> {
        self.change_codex(handlers, loaded, |_| None)
    }

    fn change_codex<'h>(
        &self,
        handlers: impl IntoIterator<Item = &'h Handler>,
        loaded: &Loaded,
        entry: impl Fn(&Handler) -> Option<String>,
    ) -> Result<Option<PathBuf>, TrustError> {
        let changes: Vec<_> = handlers
            .into_iter()
            .filter(|handler| handler.dialect == DialectId::Codex && !handler.layer.is_managed())
            .map(|handler| (handler.key.0.clone(), entry(handler)))
            .collect();
        // Two of us at once lose nothing; Codex itself takes no lock.
        let _lock = lock(&self.path)?;
        let file = loaded.roots.codex_home.join("config.toml");
        let changed = codex_file::apply(&file, &changes)?;
        Ok(changed.then_some(file))
    }

    /// Takes agreement back, for this key and for the same content elsewhere in its file. Returns
    /// whether anything was trusted.
    ///
    /// # Errors
    /// When the store cannot be locked, read anew or written; nothing is taken back then.
    pub fn revoke(&mut self, key: &HandlerKey) -> Result<bool, TrustError> {
        self.change(|grants| {
            let Some(gone) = grants.remove(key) else {
                return false;
            };
            grants.retain(|other, grant| grant.hash != gone.hash || other.source() != key.source());
            true
        })
    }

    /// Reads the file anew under the lock, changes it and writes it.
    fn change<T>(
        &mut self,
        change: impl FnOnce(&mut BTreeMap<HandlerKey, Grant>) -> T,
    ) -> Result<T, TrustError> {
        let _lock = lock(&self.path)?;
        let mut grants = read(&self.path)?;
        let result = change(&mut grants);
        write(&self.path, &grants).map_err(|source| self.io("written", source))?;
        self.grants = grants;
        Ok(result)
    }

    fn io(&self, doing: &'static str, source: std::io::Error) -> TrustError {
        io(&self.path, doing, source)
    }
}

/// A hash of the variables that come with the project, in order of their layers.
fn project_env(loaded: &Loaded) -> Option<String> {
    let layers = loaded.env_layers.iter();
    let env: Vec<_> = layers
        .filter(|(layer, env)| layer.comes_with_project() && !env.is_empty())
        .map(|(_, env)| env)
        .collect();
    let text = serde_json::to_string(&env)
        .ok()
        .filter(|_| !env.is_empty())?;
    let digest = Sha256::digest(text.as_bytes());
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What is different about the scripts since the grant, if anything.
fn changed_script(grant: &Grant, now: &BTreeMap<PathBuf, String>) -> Option<String> {
    for (path, content) in now {
        let change = match grant.scripts.get(path) {
            Some(then) if then == content => continue,
            Some(_) => "has changed",
            None => "was not there before, or was not run,",
        };
        return Some(format!(
            "the script {} {change} since it was trusted",
            path.display()
        ));
    }
    let gone = grant.scripts.keys().find(|path| !now.contains_key(*path))?;
    Some(format!(
        "the script {} is gone since it was trusted",
        gone.display()
    ))
}

fn io(path: &Path, doing: &'static str, source: std::io::Error) -> TrustError {
    TrustError::Io {
        path: path.to_path_buf(),
        doing,
        source,
    }
}

fn read(path: &Path) -> Result<BTreeMap<HandlerKey, Grant>, TrustError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(io(path, "read", error)),
    };
    let broken = |error: serde_json::Error| TrustError::Broken {
        path: path.to_path_buf(),
        line: error.line(),
        column: error.column(),
        message: error.to_string(),
    };
    // The version first: what another version wrote is not judged by this one's rules.
    let any: serde_json::Value = serde_json::from_str(&text).map_err(broken)?;
    let found = any.get("version").and_then(serde_json::Value::as_u64);
    if let Some(found) = found.filter(|found| *found != VERSION) {
        let path = path.to_path_buf();
        return Err(TrustError::Version { path, found });
    }
    let contents: Contents = serde_json::from_str(&text).map_err(broken)?;
    let handlers = contents.handlers.into_iter();
    Ok(handlers
        .map(|(key, grant)| (HandlerKey(key), grant))
        .collect())
}

fn lock(path: &Path) -> Result<File, TrustError> {
    let open = || {
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        let file = File::create(path.with_extension("lock"))?;
        file.lock()?;
        Ok(file)
    };
    open().map_err(|error| io(path, "locked", error))
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}

fn write(path: &Path, grants: &BTreeMap<HandlerKey, Grant>) -> std::io::Result<()> {
    let handlers = grants
        .iter()
        .map(|(key, grant)| (key.0.clone(), grant.clone()));
    let contents = Contents {
        version: VERSION,
        handlers: handlers.collect(),
    };
    // A link is followed: the file it names is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = target.parent().unwrap_or(Path::new("."));
    // Created with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut file, &contents)?;
    file.write_all(b"\n")?;
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}
