//! Reads one file, key by key.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::expand::expand;
use super::tree::{self, NoText, Node, Span, Value};
use super::{
    CODEX_INHERITS, Configured, Defaults, Inherits, Offered, Place, Problem, ProblemKind,
    ServerConfig,
};

/// A century: longer is for ever, and no clock overflows.
const LONGEST: f64 = 100.0 * 365.0 * 86_400.0;

/// What is wrong, and where.
type Wrong = (Span, String, ProblemKind);

type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads one file.
pub(super) struct Reader<'a> {
    file: &'a Path,
    defaults: Defaults,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a Path, defaults: Defaults) -> Self {
        Self { file, defaults }
    }

    /// Another time to start, if one is given.
    pub(super) fn startup(mut self, given: Option<Duration>) -> Self {
        self.defaults.startup = given.unwrap_or(self.defaults.startup);
        self
    }

    /// Another time for a call, if one is given.
    pub(super) fn call(mut self, given: Option<Duration>) -> Self {
        self.defaults.call = given.unwrap_or(self.defaults.call);
        self
    }

    /// A `.mcp.json`.
    pub(super) fn project(&self, text: &str, variables: Variables<'_>) -> Configured {
        let servers = tree::json(text).map_err(|no| syntax(&no)).and_then(|root| {
            let wrong = |span, found: &str| {
                let message = format!("expected an object `mcpServers`, found {found}");
                (span, message, ProblemKind::Broken)
            };
            match root.get("mcpServers") {
                Some(servers) if servers.table().is_some() => Ok(servers.clone()),
                Some(other) => Err(wrong(other.span, &other.describe())),
                None => Err(wrong((root.span.0, root.span.0), "none")),
            }
        });
        self.all(text, servers, |fields| fields.project(variables))
    }

    /// A `config.toml` of Codex.
    pub(super) fn codex(&self, text: &str) -> Configured {
        let servers = tree::toml(text).map_err(|no| syntax(&no)).and_then(|root| {
            let nothing = Node {
                span: root.span,
                value: Value::Table(Vec::new()),
            };
            let servers = root.get("mcp_servers").cloned().unwrap_or(nothing);
            match servers.table() {
                Some(_) => Ok(servers),
                None => {
                    let found = servers.describe();
                    let message = format!("expected a table `mcp_servers`, found {found}");
                    Err((servers.span, message, ProblemKind::Broken))
                }
            }
        });
        self.all(text, servers, |fields| fields.codex())
    }

    fn all(
        &self,
        text: &str,
        servers: Result<Node, Wrong>,
        read: impl Fn(&mut Fields<'_>) -> Option<ServerConfig>,
    ) -> Configured {
        let place = |span: Span| Place::of(self.file, text, span.0);
        let mut configured = Configured::default();
        let problem = |server: Option<&str>, (span, message, kind): Wrong| Problem {
            place: place(span),
            span,
            server: server.map(str::to_owned),
            message,
            kind,
        };
        let servers = match servers {
            Ok(servers) => servers,
            Err(wrong) => {
                configured.problems.push(problem(None, wrong));
                return configured;
            }
        };
        let entries = servers.table().unwrap_or_default().iter().enumerate();
        for (at, entry) in entries.clone() {
            let again = entries.clone().skip(at + 1);
            if again.into_iter().any(|(_, later)| later.key == entry.key) {
                continue;
            }
            let mut fields = Fields {
                name: &entry.key,
                table: &entry.node,
                place: place(entry.key_span),
                defaults: self.defaults,
                wrong: Vec::new(),
            };
            let server = read(&mut fields);
            let wrong = fields.wrong.into_iter();
            let problems: Vec<_> = wrong
                .map(|wrong| problem(Some(&entry.key), wrong))
                .collect();
            if problems.is_empty() {
                configured.servers.extend(server);
            }
            configured.problems.extend(problems);
        }
        configured
    }
}

fn syntax(no: &NoText) -> Wrong {
    let span = (no.offset, no.offset);
    (span, no.message.clone(), ProblemKind::Broken)
}

/// The fields of one server; what is wrong is collected.
struct Fields<'t> {
    name: &'t str,
    table: &'t Node,
    place: Place,
    defaults: Defaults,
    wrong: Vec<Wrong>,
}

impl Fields<'_> {
    fn project(&mut self, variables: Variables<'_>) -> Option<ServerConfig> {
        self.is_a_process(self.table.get("type"))?;
        let command = self.needed("command")?;
        let command = self.expanded("command", &command, variables)?;
        let args = self.texts("args").unwrap_or_default();
        let args = args.iter().map(|arg| self.expanded("args", arg, variables));
        let args = args.collect::<Vec<_>>();
        let env = self.text_table("env").into_iter();
        let env: Vec<_> = env
            .map(|(key, value)| Some((key, self.expanded("env", &value, variables)?)))
            .collect();
        let cwd = self.text("cwd");
        let cwd = cwd.and_then(|cwd| self.expanded("cwd", &cwd, variables));
        Some(ServerConfig {
            args: args.into_iter().collect::<Option<_>>()?,
            env: env.into_iter().collect::<Option<_>>()?,
            cwd: cwd.map(PathBuf::from),
            ..self.server(command, Inherits::All)
        })
    }

    fn codex(&mut self) -> Option<ServerConfig> {
        if self.flag("enabled") == Some(false) {
            return None;
        }
        self.is_a_process(None)?;
        let command = self.needed("command");
        let inherited = self.texts("env_vars").unwrap_or_default();
        let inherits = CODEX_INHERITS.map(str::to_owned).into_iter();
        let inherits = Inherits::Only(inherits.chain(inherited).collect());
        let startup = self.seconds("startup_timeout_sec");
        let milliseconds = self.number("startup_timeout_ms");
        let milliseconds = milliseconds.and_then(|ms| duration(ms / 1000.0));
        let call = self.seconds("tool_timeout_sec");
        let offered = Offered {
            only: self.texts("enabled_tools"),
            without: self.texts("disabled_tools").unwrap_or_default(),
        };
        let args = self.texts("args").unwrap_or_default();
        let (env, cwd) = (self.text_table("env"), self.text("cwd"));
        let server = self.server(command?, inherits);
        Some(ServerConfig {
            args,
            env,
            cwd: cwd.map(PathBuf::from),
            startup_timeout: startup.or(milliseconds).unwrap_or(server.startup_timeout),
            call_timeout: call.unwrap_or(server.call_timeout),
            offered,
            ..server
        })
    }

    fn server(&self, command: String, inherits: Inherits) -> ServerConfig {
        ServerConfig {
            name: self.name.to_owned(),
            place: self.place.clone(),
            command,
            args: Vec::new(),
            env: BTreeMap::new(),
            inherits,
            cwd: None,
            startup_timeout: self.defaults.startup,
            call_timeout: self.defaults.call,
            offered: Offered::default(),
        }
    }

    /// Only processes that speak on standard input and output are supported.
    fn is_a_process(&mut self, kind: Option<&Node>) -> Option<()> {
        if self.table.table().is_none() {
            let message = format!("expected an object, found {}", self.table.describe());
            self.broken(self.table.span, message);
            return None;
        }
        let stdio = kind.is_none_or(|kind| kind.value == Value::Text("stdio".to_owned()));
        if !stdio && let Some(kind) = kind {
            let found = kind.describe();
            let message = format!("servers of type {found} are not supported, only \"stdio\"");
            self.wrong
                .push((kind.span, message, ProblemKind::Unsupported));
            return None;
        }
        let address = self
            .table
            .get("url")
            .filter(|_| self.table.get("command").is_none());
        if let Some(address) = address {
            let message = "servers with a `url` are not supported, only those with a `command`";
            let wrong = (address.span, message.to_owned(), ProblemKind::Unsupported);
            self.wrong.push(wrong);
            return None;
        }
        Some(())
    }

    fn broken(&mut self, span: Span, message: String) {
        self.wrong.push((span, message, ProblemKind::Broken));
    }

    fn mismatch<T>(&mut self, key: &str, node: &Node, expected: &str) -> Option<T> {
        let message = format!("`{key}`: expected {expected}, found {}", node.describe());
        self.broken(node.span, message);
        None
    }

    fn needed(&mut self, key: &str) -> Option<String> {
        if self.table.get(key).is_none() {
            self.broken(self.table.span, format!("`{key}` is missing"));
        }
        let text = self.text(key)?;
        if text.trim().is_empty() {
            let span = self
                .table
                .get(key)
                .map_or(self.table.span, |node| node.span);
            self.broken(span, format!("`{key}` is empty"));
        }
        Some(text)
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let node = self.table.get(key)?;
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => self.mismatch(key, node, "a string"),
        }
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        let node = self.table.get(key)?;
        match node.value {
            Value::Bool(flag) => Some(flag),
            _ => self.mismatch(key, node, "true or false"),
        }
    }

    fn number(&mut self, key: &str) -> Option<f64> {
        let node = self.table.get(key)?;
        match node.value {
            Value::Number(number) if number > 0.0 => Some(number),
            _ => self.mismatch(key, node, "a number above 0"),
        }
    }

    fn seconds(&mut self, key: &str) -> Option<Duration> {
        self.number(key).and_then(duration)
    }

    fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let node = self.table.get(key)?;
        let Value::List(items) = &node.value else {
            return self.mismatch(key, node, "a list of strings");
        };
        let mut texts = Vec::new();
        for item in items {
            match &item.value {
                Value::Text(text) => texts.push(text.clone()),
                _ => return self.mismatch(key, item, "a string in the list"),
            }
        }
        Some(texts)
    }

    fn text_table(&mut self, key: &str) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        let Some(node) = self.table.get(key) else {
            return texts;
        };
        let Some(entries) = node.table() else {
            let _: Option<()> = self.mismatch(key, node, "an object of strings");
            return texts;
        };
        for entry in entries {
            if let Value::Text(text) = &entry.node.value {
                texts.insert(entry.key.clone(), text.clone());
            } else {
                let key = format!("{key}.{}", entry.key);
                let _: Option<()> = self.mismatch(&key, &entry.node, "a string");
            }
        }
        texts
    }

    fn expanded(&mut self, key: &str, text: &str, variables: Variables<'_>) -> Option<String> {
        let name = match expand(text, variables) {
            Ok(expanded) => return Some(expanded),
            Err(name) => name,
        };
        let span = self
            .table
            .get(key)
            .map_or(self.table.span, |node| node.span);
        self.broken(
            span,
            format!(
                "`{key}`: the variable {name} of {text:?} is not set; set it, or write \
                 ${{{name}:-default}}"
            ),
        );
        None
    }
}

fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds.min(LONGEST)).ok()
}
