//! Facts about the crate itself that its users rely on.

use cargo_metadata::{DependencyKind, MetadataCommand};

/// The crate stays light: these are all its dependencies, with the features it asks for.
const DEPENDENCIES: [(&str, &[&str]); 3] = [
    ("futures-util", &["async-await", "std"]),
    ("tokio", &["rt", "sync", "time"]),
    ("tokio-util", &[]),
];

#[test]
fn the_dependencies_are_exactly_these_and_none_is_ours() {
    let metadata = MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap();
    let package = metadata
        .packages
        .iter()
        .find(|it| it.name == "seamline-seams")
        .unwrap();
    let normal = package
        .dependencies
        .iter()
        .filter(|it| it.kind != DependencyKind::Development);
    let mut found: Vec<_> = normal
        .map(|it| {
            assert!(
                !it.uses_default_features || it.name == "tokio-util",
                "{}",
                it.name
            );
            let mut features = it.features.clone();
            features.sort();
            (it.name.clone(), features)
        })
        .collect();
    found.sort();
    let expected = DEPENDENCIES.map(|(name, features)| {
        (
            name.to_owned(),
            features.iter().map(ToString::to_string).collect::<Vec<_>>(),
        )
    });
    assert_eq!(found, expected);
}

/// The example on the front page is one screen, and the signature is its first line.
#[test]
fn the_front_page_starts_with_the_signature_and_its_example_fits_thirty_lines() {
    let lines: Vec<_> = include_str!("../../src/lib.rs").lines().collect();
    assert!(
        lines[0].starts_with("//! `async fn(Event, Next) -> Result<Reply<Decision>, BoxError>`")
    );
    let mut fences = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.starts_with("//! ```"));
    let (start, end) = (fences.next().unwrap().0, fences.next().unwrap().0);
    assert!(end - start - 1 <= 30, "{} lines", end - start - 1);
}

/// A listener's future, and so everything in it, may move between threads.
#[test]
fn handles_can_be_sent_and_shared() {
    use seamline_seams::{
        Answerers, Around, Collected, Contributors, Fault, FaultLog, Guards, Inner, Late, Next,
        Observers, Registration, Scope, Token, TokenMint, Waterfall,
    };

    use crate::support::{Body, Pre};

    fn send<T: Send + 'static>() {}
    fn share<T: Send + Sync + 'static>() {}
    send::<Next<Pre>>();
    send::<Inner<Body>>();
    send::<Collected<String>>();
    send::<Late<std::cell::Cell<u8>>>();
    share::<Waterfall<Pre>>();
    share::<Around<Body>>();
    share::<Guards<std::cell::Cell<u8>>>();
    share::<Observers<std::cell::Cell<u8>>>();
    share::<Contributors<String, std::cell::Cell<u8>>>();
    share::<Answerers<crate::answerers::MayI>>();
    share::<(Scope, Registration, Fault, FaultLog, Token, TokenMint)>();
}
