//! Plays a case as whole turns through the harness.
//!
//! An agent is set up over the stage: the case's scripted model, the harness's tools and those of
//! the test servers, the case's permission mode, and the bridge with the engine that was loaded
//! from disk. The prompts are sent one after another, and everything is seen from outside: what
//! the bridge fired, what became of calls, and the last request to the model.

mod needs;
mod perform;
mod script;
mod tools;
mod watch;

use std::sync::Arc;

use seamline_bridges::BridgeOptions;
use seamline_harness::mcp::{register, tool_name};
use seamline_harness::permission::Mode;
use seamline_harness::tools::{Registry, builtin};
use seamline_hooks::DialectId;

use self::perform::Cast;
use self::script::CodexModel;
use self::tools::ApplyPatch;
use super::Level;
use super::kit::Kit;
use super::servers::CaseServers;
use crate::case::{Case, CaseLevel, ClaudeCase, CodexCase, Row};
use crate::observed::Observed;
use crate::stage::Stage;

/// Plays cases through the harness.
pub struct TurnLevel {
    kit: Arc<Kit>,
}

impl TurnLevel {
    /// A level over a kit.
    #[must_use]
    pub fn new(kit: Arc<Kit>) -> Self {
        Self { kit }
    }

    async fn claude(&self, case: &ClaudeCase) -> Result<Observed, String> {
        let stage = Stage::claude(case, &self.kit.bench).map_err(|error| error.to_string())?;
        let registry = builtin::registry().map_err(|error| error.to_string())?;
        let servers = CaseServers::claude(case);
        add(&registry, &servers)?;
        let mode = case.permission_mode.as_deref().unwrap_or("default");
        let mut options = BridgeOptions::of(DialectId::Claude);
        if let Some(cap) = case.env.get("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP") {
            options.stop_cap = cap.parse().unwrap_or(options.stop_cap);
        }
        let cast = Cast {
            dialect: DialectId::Claude,
            model: Arc::new(script::claude(case, &stage.names, stage.pace)),
            registry,
            mode: mode.parse().map_err(|_| format!("no mode {mode}"))?,
            allowed: Vec::new(),
            options,
            answers: None,
            prompts: case
                .prompts
                .iter()
                .map(|prompt| stage.names.fill(prompt))
                .collect(),
        };
        let mut seen = cast.perform(&self.kit, &stage, &servers).await?;
        seen.scripted = case.texts(&stage.names);
        Ok(seen)
    }

    async fn codex(&self, case: &CodexCase) -> Result<Observed, String> {
        let stage = Stage::codex(case, &self.kit.bench).map_err(|error| error.to_string())?;
        let registry = builtin::registry().map_err(|error| error.to_string())?;
        registry
            .add(ApplyPatch)
            .map_err(|error| error.to_string())?;
        let servers = CaseServers::codex(&stage);
        servers.start().await?;
        add(&registry, &servers)?;
        let asks = case
            .toml_extra
            .contains("default_tools_approval_mode=\"prompt\"");
        let tools = servers.shared().tools();
        let tools = tools.iter().filter(|_| !asks);
        let allowed = tools.map(|tool| tool_name(&tool.server, &tool.name));
        let allowed = allowed.collect();
        let never = case.approval == "never";
        let cast = Cast {
            dialect: DialectId::Codex,
            model: Arc::new(CodexModel::new(case, stage.pace)?),
            registry,
            mode: if never {
                Mode::BypassPermissions
            } else {
                Mode::Default
            },
            allowed,
            options: BridgeOptions::of(DialectId::Codex),
            answers: (!never).then(|| case.approve.starts_with("accept")),
            prompts: case.prompts.clone(),
        };
        let mut seen = cast.perform(&self.kit, &stage, &servers).await?;
        seen.scripted = case.texts();
        Ok(seen)
    }
}

fn add(registry: &Registry, servers: &CaseServers) -> Result<(), String> {
    let left_out = register(registry, &servers.shared());
    left_out.into_iter().next().map_or(Ok(()), Err)
}

impl Level for TurnLevel {
    fn name(&self) -> &'static str {
        "turn"
    }

    fn plays(&self, row: &Row) -> Result<(), String> {
        match &row.case {
            _ if row.level != CaseLevel::Turn => Err(format!("level {}", row.level.as_str())),
            Ok(case) => needs::missing(case).map_or(Ok(()), Err),
            Err(why) => Err(why.clone()),
        }
    }

    async fn play(&self, case: &Case) -> Result<Observed, String> {
        match case {
            Case::Claude(case) => self.claude(case).await,
            Case::Codex(case) => self.codex(case).await,
        }
    }
}
