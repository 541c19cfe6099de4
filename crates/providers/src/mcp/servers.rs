//! All servers of a session.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::{BoxFuture, join_all};
use seamline_harness::mcp::{Answer, McpError, McpRequest, McpServers, McpTool};
use tokio_util::sync::CancellationToken;

use super::config::{Configured, ServerConfig};
use super::process::Surroundings;
use super::server::Server;

/// The servers of a session. Clones are the same servers.
#[derive(Clone, Default)]
pub struct Servers(Arc<Vec<(String, Known)>>);

/// A server that is known by name.
enum Known {
    Runs(Arc<Server>),
    /// It is never started, for this reason.
    Refused(String),
}

/// Collects servers. Of several with one name the first counts, and the others are told of: what is
/// the user's own comes first, so that a project can put nothing in its place.
#[derive(Default)]
pub struct ServersBuilder {
    known: Vec<(String, Known)>,
    shadowed: Vec<ServerConfig>,
}

impl ServersBuilder {
    /// Adds what a file says. Servers run in `folder` and inherit from `env`.
    pub fn add(&mut self, configured: &Configured, folder: &Path, env: &[(OsString, OsString)]) {
        for config in &configured.servers {
            let around = Surroundings {
                folder: folder.to_owned(),
                env: env.to_vec(),
            };
            let server = Server::new(config.clone(), around);
            if self.knows(&config.name) {
                self.shadowed.push(config.clone());
            } else {
                self.known.push((config.name.clone(), Known::Runs(server)));
            }
        }
        for problem in &configured.problems {
            if let Some(name) = &problem.server {
                self.refuse(
                    name,
                    &format!("MCP server '{name}' is not started: {problem}"),
                );
            }
        }
    }

    /// Keeps a name whose server is not started; its calls fail with `why`.
    pub fn refuse(&mut self, name: &str, why: &str) {
        if !self.knows(name) {
            self.known
                .push((name.to_owned(), Known::Refused(why.to_owned())));
        }
    }

    fn knows(&self, name: &str) -> bool {
        self.known.iter().any(|(known, _)| known == name)
    }

    /// Servers that are not started because another one has their name.
    #[must_use]
    pub fn shadowed(&self) -> &[ServerConfig] {
        &self.shadowed
    }

    /// The servers; none is started yet.
    #[must_use]
    pub fn build(self) -> Servers {
        Servers(Arc::new(self.known))
    }
}

impl Servers {
    /// Starts all servers at once and waits until each is up or known not to be; the words say which
    /// are not, and why.
    pub async fn start(&self) -> Vec<String> {
        let starts = self.running().map(Server::up);
        let started = join_all(starts).await;
        started.into_iter().filter_map(Result::err).collect()
    }

    /// How many servers there are to start.
    #[must_use]
    pub fn len(&self) -> usize {
        self.running().count()
    }

    /// Whether there is none to start.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends all servers; nothing of them runs afterwards, and no call starts one again.
    pub async fn close(&self) {
        join_all(self.running().map(|server| server.close())).await;
    }

    fn running(&self) -> impl Iterator<Item = &Arc<Server>> {
        self.0.iter().filter_map(|(_, known)| match known {
            Known::Runs(server) => Some(server),
            Known::Refused(_) => None,
        })
    }
}

impl McpServers for Servers {
    fn tools(&self) -> Vec<McpTool> {
        self.running().flat_map(|server| server.tools()).collect()
    }

    fn call(&self, call: McpRequest, signal: CancellationToken) -> BoxFuture<'static, Answer> {
        let known = self.0.iter().find(|(name, _)| *name == call.server);
        let server = match known {
            Some((_, Known::Runs(server))) => Ok(Arc::clone(server)),
            Some((_, Known::Refused(why))) => Err(McpError::Failed(why.clone())),
            None => Err(McpError::UnknownServer(call.server.clone())),
        };
        Box::pin(async move {
            let server = server?;
            let answer = signal.run_until_cancelled(server.call(call)).await;
            answer.unwrap_or_else(|| Err(McpError::Failed("the call was cancelled".to_owned())))
        })
    }
}
