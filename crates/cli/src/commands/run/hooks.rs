//! Which hooks are in force in a run, and that nothing about them is passed over in silence.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use seamline_bridges::{Bridge, BridgeOptions, HookServers, Witness, fires};
use seamline_harness::plugins::PermissionRules;
use seamline_hooks::engine::{EngineParts, Reread};
use seamline_hooks::runner::Supervisor;
use seamline_hooks::trust::{TrustState, TrustStore, kept};
use seamline_hooks::{DialectId, Engine, Handler, HandlerKey, config};
use seamline_providers::mcp::Servers;

use super::reread::{self, Again};
use super::rules::Settings;
use super::scratch::{Scratch, as_in_its_place};
use super::show::Screen;
use super::{RunArgs, Which, approve, ask_trust};
use crate::args::Selection;
use crate::error::CliError;
use crate::output;
use crate::own::Own;
use crate::places::Places;
use crate::render::{count, firing, left_behind, visible};
use crate::servers::ServerSetup;
use crate::setup::{Setup, select};

/// The hooks of a run, read, checked and agreed to.
pub(super) struct Hooks {
    /// Per protocol: its configuration and who is trusted, Claude's first.
    in_force: Vec<(Ready, Arc<Again>)>,
    /// What is off, in words for the user.
    pub(super) off: Vec<String>,
    /// Permission rules, which hold whatever hooks are in force.
    pub(super) rules: PermissionRules,
    /// The servers whose tools the agent has, and hooks may ask.
    pub(super) servers: Servers,
    own: Own,
    supervisor: Arc<Supervisor>,
    attended: bool,
}

impl Hooks {
    /// Reads the configurations that `--hooks` asks for. Broken files and hooks that nobody agreed
    /// to end the run here, before anything is started.
    pub(super) fn read(
        args: &RunArgs,
        places: &Places,
        scratch: Option<&Scratch>,
    ) -> Result<Self, CliError> {
        if let (Which::None, Some(file)) = (args.hooks, &args.hooks_config) {
            let file = file.display();
            return Err(CliError::usage(format!(
                "--hooks none and --hooks-config {file} contradict each other"
            )));
        }
        if !args.settings.codex_config.is_empty()
            && matches!(args.hooks, Which::None | Which::Claude)
        {
            let which = word(args.hooks);
            return Err(CliError::usage(format!(
                "--hooks {which} and -c contradict each other: -c sets a setting of Codex"
            )));
        }
        let selection = Selection {
            dialect: None,
            hooks_config: args.hooks_config.clone(),
            profile: args.profile,
            settings: args.settings.clone(),
        };
        let mut usual = places.clone();
        usual.roots.profile = args.profile.into();
        let places = select(places.clone(), &selection, args.trust_project_hooks)?;
        usual.own = places.own.in_usual_places();
        usual.roots.session = places.roots.session.clone();
        let mut store = TrustStore::open(places.trust_file())?;
        let settings = Settings::read(&usual, &places, &selection, &store);
        let (mut wanted, mut off) = (Vec::new(), places.own.notes(&places));
        for dialect in DialectId::ALL {
            let mut setup = Setup::read(&places, dialect, &store);
            let named = selection.named();
            if !in_force(args.hooks, named, dialect) {
                off.extend(is_off(&setup, args.hooks).filter(|_| named.is_none()));
                setup.keep_managed();
            }
            if setup.loaded.any_file() {
                off.extend(setup.off());
                wanted.push(setup);
            }
        }
        if let Some(file) = &args.hooks_config {
            let file = file.display();
            off.push(format!(
                "your own and the project's hook files are not read (--hooks-config {file})"
            ));
        }
        check_broken(args, &places, &wanted, &settings)?;
        let agreed = agree(args, &places, &wanted, &mut store)?;
        let (rules, idle) = settings.rules(args, &places, scratch, agreed)?;
        off.extend(idle);
        let mut in_force = Vec::new();
        for setup in wanted {
            off.extend(wait_in_vain(&setup, &places));
            let (ready, left_out) = ready(&setup, &places, scratch, agreed)?;
            if left_out {
                off.push("`env` of the project is left out, since it is not trusted".to_owned());
            }
            let again = Again::new(&setup, left_out, &places, scratch.map(Scratch::path));
            in_force.push((ready, Arc::new(again)));
        }
        let folder = scratch.map_or(places.roots.project.as_path(), Scratch::path);
        let mut servers = ServerSetup::read(&places, folder, args.trust_project_hooks);
        servers.check(args.ignore_broken_hooks)?;
        off.append(&mut servers.off);
        let attended = approve::attended() && !args.json;
        Ok(Self {
            in_force,
            off,
            own: places.own,
            rules,
            servers: servers.servers,
            supervisor: Arc::new(Supervisor::new()),
            attended,
        })
    }

    /// Whether `apply_patch` is among the tools. Claude Code has no such tool, so that its hooks for Write
    /// and Edit would not see what it writes.
    pub(super) fn allow_patches(&self) -> bool {
        let claude = |((loaded, _), _): &(Ready, _)| loaded.dialect == DialectId::Claude;
        !self.in_force.iter().any(claude)
    }

    /// The variables with keys of models.
    pub(super) fn hidden_variables(&self) -> impl Iterator<Item = String> + use<> {
        self.own.hidden_variables().into_iter()
    }

    /// `claude 4 hooks`, per protocol in force.
    pub(super) fn summary(&self) -> Vec<(DialectId, usize)> {
        self.in_force
            .iter()
            .map(|((loaded, _), _)| {
                let on = loaded.handlers.iter().filter(|it| it.disabled.is_none());
                (loaded.dialect, on.count())
            })
            .collect()
    }

    /// One bridge per protocol, Claude's the elder.
    pub(super) fn bridges(
        &self,
        places: &Places,
        project: &Path,
        witness: &Arc<dyn Witness>,
    ) -> Vec<Arc<Bridge>> {
        let mut bridges: Vec<Arc<Bridge>> = Vec::new();
        for ((loaded, trust), again) in &self.in_force {
            let options = self.options(loaded.dialect);
            let engine = Engine::new(EngineParts {
                loaded: loaded.clone(),
                trust: trust.clone(),
                exec: Arc::clone(&self.supervisor) as Arc<dyn seamline_hooks::runner::Exec>,
                mcp: Arc::new(HookServers::new(Arc::new(self.servers.clone()))),
                base_env: self.own.environment(),
                project: project.to_path_buf(),
                home: places.roots.home.clone(),
                spill_dir: places.state.join("hook-outputs"),
            });
            let engine = engine.reread_by(Arc::clone(again) as Arc<dyn Reread>);
            let elder = bridges.first().cloned();
            bridges.push(Bridge::new(
                Arc::new(engine),
                options,
                elder,
                Arc::clone(witness),
            ));
        }
        bridges
    }

    fn options(&self, dialect: DialectId) -> BridgeOptions {
        let mut options = BridgeOptions::of(dialect);
        options.attended = self.attended;
        let own = self.own.of(dialect);
        options.model.clone_from(&own.model);
        options.stderr_summary = own.stderr_summary.unwrap_or(options.stderr_summary);
        options.stop_cap = own.stop_cap.unwrap_or(options.stop_cap);
        let cap = std::env::var("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP").ok();
        if let (DialectId::Claude, Some(cap)) = (dialect, cap.and_then(|cap| cap.parse().ok())) {
            options.stop_cap = cap;
        }
        options
    }

    /// Ends the servers and what hooks left behind, and says so.
    pub(super) async fn sweep(&self, screen: &Screen) {
        self.servers.close().await;
        let swept = self.supervisor.shutdown().await;
        if let Some(note) = left_behind(swept.ended) {
            screen.note(&note);
        }
    }
}

/// What to say about a protocol that `--hooks` leaves out, if it has hooks.
fn is_off(setup: &Setup, which: Which) -> Option<String> {
    let handlers = setup.loaded.handlers.iter();
    let hooks = handlers.filter(|it| !it.layer.is_managed()).count();
    let are = if hooks == 1 { "is" } else { "are" };
    let (count, dialect) = (count(hooks, "hook", ""), setup.loaded.dialect);
    (hooks > 0).then(|| format!("{count} of {dialect} {are} off (--hooks {})", word(which)))
}

/// What to say about hooks whose events have no moment here.
fn wait_in_vain(setup: &Setup, places: &Places) -> Option<String> {
    let handlers = setup.loaded.handlers.iter();
    let idle = handlers.filter(|handler| handler.disabled.is_none() && !fires(handler.event));
    let idle: Vec<String> = idle
        .map(|handler| format!("{} ({})", handler.event, firing::place(handler, places)))
        .collect();
    let count = count(idle.len(), "hook", "");
    let (wait, dialect) = (
        if idle.len() == 1 { "waits" } else { "wait" },
        setup.loaded.dialect,
    );
    (!idle.is_empty()).then(|| {
        let idle = idle.join(", ");
        format!("{count} of {dialect} {wait} for events that do not happen here yet: {idle}")
    })
}

fn in_force(which: Which, named: Option<DialectId>, dialect: DialectId) -> bool {
    match which {
        Which::None => false,
        Which::Claude => dialect == DialectId::Claude,
        Which::Codex => dialect == DialectId::Codex,
        Which::Auto => named.is_none_or(|named| named == dialect),
    }
}

fn word(which: Which) -> &'static str {
    match which {
        Which::Auto => "auto",
        Which::Claude => "claude",
        Which::Codex => "codex",
        Which::None => "none",
    }
}

/// Broken parts end the run, or are shown when they are to be ignored. Managed ones always end it.
fn check_broken(
    args: &RunArgs,
    places: &Places,
    setups: &[Setup],
    settings: &Settings,
) -> Result<(), CliError> {
    let of_hooks = setups
        .iter()
        .flat_map(|setup| setup.broken().map(move |found| (setup, found)));
    let (mut findings, mut ignored, mut managed) = (Vec::new(), Vec::new(), false);
    for (setup, finding) in of_hooks.chain(settings.broken(setups)) {
        let ends = finding.managed || !args.ignore_broken_hooks;
        managed |= finding.managed;
        let list = if ends { &mut findings } else { &mut ignored };
        list.push(setup.point(finding, places));
    }
    if !findings.is_empty() {
        return Err(CliError::Broken { findings, managed });
    }
    for pointer in ignored {
        output::diagnostic(&pointer.render());
    }
    Ok(())
}

/// Project hooks run only when somebody agreed to them. Says whether that was now, to all of them.
fn agree(
    args: &RunArgs,
    places: &Places,
    setups: &[Setup],
    store: &mut TrustStore,
) -> Result<bool, CliError> {
    let pending: Vec<(&Setup, &Handler)> = setups
        .iter()
        .flat_map(|setup| {
            setup
                .loaded
                .handlers
                .iter()
                .map(move |handler| (setup, handler))
        })
        .filter(|(setup, handler)| handler.disabled.is_none() && !setup.trust_of(handler).runs())
        .collect();
    if pending.is_empty() || args.trust_project_hooks {
        return Ok(args.trust_project_hooks);
    }
    let lines: Vec<String> = pending
        .iter()
        .map(|(setup, handler)| {
            let state = setup.trust_of(handler).as_str();
            let what = visible(&handler.action.summary());
            format!(
                "{}  {}  {state}  {what}",
                firing::place(handler, places),
                handler.event
            )
        })
        .collect();
    if args.json || !approve::attended() || !ask_trust::agreed(&lines) {
        return Err(CliError::Untrusted { lines });
    }
    for setup in setups {
        let of_setup = pending
            .iter()
            .filter(|(owner, _)| owner.loaded.dialect == setup.loaded.dialect)
            .map(|(_, handler)| *handler);
        store.trust(of_setup, &setup.loaded)?;
    }
    Ok(true)
}

/// A configuration with the trust of its handlers.
pub(super) type Ready = (config::Loaded, BTreeMap<HandlerKey, TrustState>);

/// Everything was agreed to; in a rehearsal the same files are read again from the copy, and must
/// say the same. Says whether variables of the project were left out.
fn ready(
    setup: &Setup,
    places: &Places,
    scratch: Option<&Scratch>,
    trust_project: bool,
) -> Result<(Ready, bool), CliError> {
    let (mut loaded, left_out) = setup.with_trusted_variables(trust_project);
    if let Some(scratch) = scratch {
        let mut roots = places.roots_of(setup.loaded.dialect);
        roots.project = scratch.path().to_path_buf();
        let env = loaded.env;
        loaded = config::load(setup.loaded.dialect, &roots);
        loaded.env = env;
        if setup.managed_only {
            loaded.handlers.retain(|handler| handler.layer.is_managed());
        }
        let hashes = |loaded: &config::Loaded| loaded.handlers.iter().map(kept).collect();
        let (agreed, copied): (Vec<String>, Vec<String>) = (hashes(&setup.loaded), hashes(&loaded));
        if agreed != copied {
            let message = "the hook files changed while the project was copied; run it again";
            return Err(CliError::Internal {
                message: message.to_owned(),
            });
        }
        as_in_its_place(&mut loaded, &setup.loaded);
    }
    let trust = reread::states(&loaded);
    Ok(((loaded, trust), left_out))
}
