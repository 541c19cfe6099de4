//! What all shipped plugins have in common.

use std::path::Path;
use std::time::Duration;

use seamline_rules::Policy;
use seamline_seams::Scope;

use crate::plugins::{
    Metrics, PermissionRules, ReadOnly, RepeatedCall, Retry, ShellSyntax, Timeout,
};
use crate::worker::Shop;

/// A plugin's name, and how it is put in.
type Install<'a> = (&'a str, &'a dyn Fn(&Scope));

/// Disposing the scope takes a plugin out, whole.
#[tokio::test]
async fn a_disposed_plugin_is_gone() {
    let shop = Shop::new();
    let install: [Install<'_>; 7] = [
        ("timeout", &|scope| {
            let timeout = Timeout::after(Duration::from_secs(1)).unwrap();
            timeout.install(scope, shop.at());
        }),
        ("retry", &|scope| {
            Retry::of_reads(1).install(scope, shop.at())
        }),
        ("metrics", &|scope| Metrics::new().install(scope, shop.at())),
        ("permission-rules", &|scope| {
            PermissionRules::new(Policy::new(), "/").install(scope, shop.at());
        }),
        ("shell-syntax", &|scope| {
            ShellSyntax.install(scope, shop.at())
        }),
        ("read-only", &|scope| ReadOnly.install(scope, shop.at())),
        ("repeated-call", &|scope| {
            RepeatedCall::default().install(scope, shop.at());
        }),
    ];
    for (name, install) in install {
        let scope = Scope::root(name);
        install(&scope);
        let listeners = || [shop.agent.describe(), shop.seams.describe()].concat();
        assert!(!listeners().is_empty());
        assert!(
            listeners().iter().all(|it| it.name == name),
            "{:?}",
            listeners()
        );
        scope.dispose().await;
        assert!(listeners().is_empty(), "{name}");
    }
}

/// A plugin is something one can read at a sitting.
#[test]
fn no_plugin_is_longer_than_100_lines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/plugins");
    let mut plugins = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        let own = path.file_name().is_some_and(|name| name != "mod.rs");
        assert!(!own || lines <= 100, "{}: {lines} lines", path.display());
        plugins += usize::from(own);
    }
    assert!(plugins >= 7);
}
