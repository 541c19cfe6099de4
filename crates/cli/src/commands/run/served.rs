//! A model of a server.

use std::sync::Arc;

use seamline_providers::chat::presets::{PRESETS, Preset};
use seamline_providers::chat::{Chat, Key, Options};

use super::model::Chosen;
use crate::error::CliError;
use crate::own::Own;
use crate::places::Places;

/// The model of a preset or of a server in the user's configuration, without asking it anything yet.
pub(super) fn served(
    server: &str,
    model: &str,
    own: &Own,
    places: &Places,
) -> Result<Chosen, CliError> {
    let file = places.show(&places.own_file());
    let (preset, configured) = (Preset::named(server), own.model(server));
    if preset.is_none() && configured.is_none() {
        return Err(unknown(server, own, &file));
    }
    let configured = configured.cloned().unwrap_or_default();
    let moved = configured.base_url.is_some();
    let mut options = match (preset, configured.base_url) {
        (Some(preset), url) => Options {
            base_url: url.unwrap_or(preset.base_url.to_owned()),
            ..preset.options()
        },
        (None, Some(url)) => Options::new(server, url),
        (None, None) => {
            return Err(usage(
                format!("[models.{server}] in {file} has no `base_url`"),
                "it is everything before /chat/completions, like http://127.0.0.1:8000/v1"
                    .to_owned(),
            ));
        }
    };
    options.idle = configured.idle_timeout.unwrap_or(options.idle);
    // A key is meant for the server it was made for: at another address it has to be named.
    let of_preset = preset.filter(|_| !moved).and_then(|it| it.key_env);
    let variable = configured.key_env.or(of_preset.map(str::to_owned));
    if let Some(variable) = variable {
        options.key = key(&variable);
        if options.key.is_none() {
            return Err(usage(
                format!("{server} needs a key, and the variable {variable} is not set"),
                format!(
                    "export {variable}=…, or name another variable: `key_env` of [models.{server}] in {file}"
                ),
            ));
        }
    }
    let chat = Chat::new(options).map_err(|error| {
        usage(
            error.to_string(),
            format!("see [models.{server}] in {file}"),
        )
    })?;
    Ok(Chosen {
        model: Arc::new(chat),
        name: model.to_owned(),
        system: system(places),
        scratch: None,
    })
}

/// Keys come from the environment and from nowhere else.
fn key(variable: &str) -> Option<Key> {
    let value = std::env::var(variable).ok()?;
    (!value.trim().is_empty()).then(|| Key::new(variable, value))
}

fn unknown(server: &str, own: &Own, file: &str) -> CliError {
    let presets = PRESETS.iter().map(|preset| preset.name);
    let others = own
        .model_names()
        .filter(|name| Preset::named(name).is_none());
    let known: Vec<&str> = presets.chain(others).collect();
    usage(
        format!("there is no server of models called {server:?}"),
        format!(
            "known are {}; another one is described by [models.{server}] in {file}, with its `base_url`",
            known.join(", ")
        ),
    )
}

fn usage(message: String, hint: String) -> CliError {
    CliError::Usage {
        message,
        hint: Some(hint),
    }
}

/// The same in every session of a project, so that a server may keep what it has read.
fn system(places: &Places) -> String {
    format!(
        "You are a coding agent. You work in the folder {}, with the tools you are given. Read before you \
         change, and check what you did by running it. A call may be denied: then do what the reason says, \
         and do not try the same in another way. Text in <context> was added by the hooks of the user; \
         heed it. When the task is done, say in few words what you did.",
        places.roots.project.display()
    )
}
