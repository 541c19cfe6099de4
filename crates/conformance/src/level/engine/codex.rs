//! Fires the moments of a Codex case, or compares what is loaded.

use std::collections::BTreeSet;
use std::path::PathBuf;

use seamline_hooks::{DialectId, Fired};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::firing::{Player, all_ended, new_files};
use super::model::Drive;
use super::{EngineLevel, listing};
use crate::case::CodexCase;
use crate::level::kit::Trust;
use crate::level::servers::CaseServers;
use crate::moments::{Fire, Moment, Verdict, Walked, walk};
use crate::observed::Observed;
use crate::stage::Stage;

/// The walk through a case says when the model is asked; nothing else matters.
const DRIVE: Drive = Drive {
    dialect: DialectId::Codex,
    alone: true,
    nobody_to_ask: false,
};

impl EngineLevel {
    pub(super) async fn codex(&self, case: &CodexCase) -> Result<Observed, String> {
        let stage = Stage::codex(case, &self.kit.bench).map_err(|error| error.to_string())?;
        let about_trust = case.is_discovery() && !case.bypasses_trust();
        let trust = if about_trust {
            Trust::AsConfigured
        } else {
            Trust::All
        };
        let servers = CaseServers::codex(&stage);
        let engine = self.kit.engine(DialectId::Codex, &stage, &trust, &servers);
        let listed = case
            .is_discovery()
            .then(|| listing::listed(&self.kit.listed(DialectId::Codex, &stage), &stage));
        let reader = self.kit.reader(DialectId::Codex);
        let starts = !engine.in_force().loaded().refuses_start();
        let mut stagehand = Stagehand {
            player: Player::new(engine, DRIVE, &stage, reader),
            read: BTreeSet::new(),
        };
        let walked = if starts {
            walk(case, &stage, &mut stagehand).await
        } else {
            Ok(Walked::default())
        };
        let mut seen = stagehand.player.finish().await;
        servers.close().await;
        let walked = walked?;
        seen.names = stage.names.clone();
        seen.prompts = walked.prompts;
        seen.calls = Some(walked.calls);
        seen.scripted = case.texts();
        if let Some((list, warnings)) = listed {
            seen.listed = Some(list);
            seen.warnings = Some(warnings);
            seen.wrote = Some(stage.fired_words());
        }
        Ok(seen)
    }
}

struct Stagehand<'a> {
    player: Player<'a>,
    /// Payload files that were looked at.
    read: BTreeSet<PathBuf>,
}

impl Fire for Stagehand<'_> {
    fn listens(&self, event: &str) -> bool {
        self.player.engine.listens(event)
    }

    fn requested(&mut self) {
        self.player.requested();
    }

    async fn fire(&mut self, moment: Moment) -> Result<Verdict, String> {
        let signal = CancellationToken::new();
        let (verdict, fired) = self.player.fire(&moment, Vec::new(), signal).await?;
        self.check(&moment, &fired);
        Ok(verdict)
    }
}

impl Stagehand<'_> {
    /// Whether the hooks read the payload we built. Handlers of the standard form keep it in a
    /// file; one that was killed may have kept a part.
    fn check(&mut self, moment: &Moment, fired: &Fired) {
        let files = new_files(&self.player.stage.root, "pl.", &mut self.read);
        if !all_ended(fired) {
            return;
        }
        let text = Value::Object(moment.payload.clone()).to_string();
        for file in files {
            let read = std::fs::read_to_string(&file).unwrap_or_default();
            if read != text {
                let what = format!("{} holds {read:?} instead of {text}", file.display());
                self.player.seen.complaints.push(what);
            }
        }
    }
}
