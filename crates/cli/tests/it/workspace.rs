//! Rules about the workspace as a whole, checked against what cargo itself says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};
use toml_edit::DocumentMut;

/// Which of our crates each of our libraries uses: exactly these, no more and no fewer.
const EDGES: &[(&str, &[&str])] = &[
    ("seamline-seams", &[]),
    ("seamline-rules", &[]),
    ("seamline-hooks", &["seamline-rules"]),
    ("seamline-harness", &["seamline-rules", "seamline-seams"]),
    (
        "seamline-bridges",
        &["seamline-harness", "seamline-hooks", "seamline-seams"],
    ),
    ("seamline-providers", &["seamline-harness"]),
];

/// The programs at the top: they may use every library, and nobody uses them.
const TOPS: &[&str] = &["seamline", "seamline-conformance", NATIVE];

/// The example of a plugin that needs no hooks.
const NATIVE: &str = "seamline-example-native-plugin";

/// Libraries that must build without an HTTP stack.
const NO_HTTP: &[&str] = &["seamline-seams", "seamline-rules", "seamline-harness"];

fn root() -> PathBuf {
    crate::root()
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(["--locked".to_owned()])
        .exec()
        .unwrap()
}

fn manifest(package: &Package) -> DocumentMut {
    fs::read_to_string(&package.manifest_path)
        .unwrap()
        .parse()
        .unwrap()
}

/// Our own crates that `package` names in its manifest, by kind.
fn own_edges(package: &Package, ours: &BTreeSet<String>, dev: bool) -> BTreeSet<String> {
    package
        .dependencies
        .iter()
        .filter(|d| (d.kind == DependencyKind::Development) == dev)
        .map(|d| d.name.clone())
        .filter(|name| ours.contains(name))
        .collect()
}

#[test]
fn crates_use_exactly_the_crates_they_may() {
    let metadata = metadata();
    let ours: BTreeSet<String> = metadata
        .workspace_packages()
        .iter()
        .map(|p| p.name.to_string())
        .collect();
    let libraries: BTreeSet<String> = EDGES.iter().map(|(name, _)| (*name).to_owned()).collect();
    let known: BTreeSet<String> = libraries
        .iter()
        .cloned()
        .chain(TOPS.iter().map(|t| (*t).to_owned()))
        .collect();
    assert_eq!(ours, known, "a crate without a row in EDGES or TOPS");

    let allowed: BTreeMap<&str, BTreeSet<String>> = EDGES
        .iter()
        .map(|(name, uses)| (*name, uses.iter().map(|u| (*u).to_owned()).collect()))
        .collect();
    for package in metadata.workspace_packages() {
        let uses = own_edges(package, &ours, false);
        let in_tests = own_edges(package, &ours, true);
        let name = package.name.as_str();
        if let Some(allowed) = allowed.get(name) {
            assert_eq!(&uses, allowed, "edges of {name}");
            assert!(
                in_tests.is_subset(allowed),
                "{name} tests with {in_tests:?}"
            );
        } else {
            assert!(uses.is_subset(&libraries), "{name} uses {uses:?}");
            assert!(
                in_tests.is_subset(&libraries),
                "{name} tests with {in_tests:?}"
            );
        }
    }
}

/// Packages reachable from `from` through normal and build dependencies.
fn reachable(metadata: &Metadata, from: &str) -> BTreeSet<String> {
    let resolve = metadata.resolve.as_ref().unwrap();
    let start = metadata
        .packages
        .iter()
        .find(|p| p.name.as_str() == from)
        .unwrap();
    let mut seen = BTreeSet::from([start.id.clone()]);
    let mut queue = vec![start.id.clone()];
    while let Some(id) = queue.pop() {
        let node = resolve.nodes.iter().find(|n| n.id == id).unwrap();
        for dep in &node.deps {
            let shipped = dep
                .dep_kinds
                .iter()
                .any(|k| k.kind != DependencyKind::Development);
            if shipped && seen.insert(dep.pkg.clone()) {
                queue.push(dep.pkg.clone());
            }
        }
    }
    seen.iter()
        .map(|id| metadata[id].name.to_string())
        .collect()
}

#[test]
fn the_lower_crates_know_no_http() {
    let metadata = metadata();
    for name in NO_HTTP {
        let all = reachable(&metadata, name);
        for http in ["http", "hyper", "reqwest", "ureq"] {
            assert!(!all.contains(http), "{name} reaches {http}");
        }
    }
}

/// A native plugin can do what a bridge can: the example does it without either of them.
#[test]
fn the_native_plugin_links_neither_hooks_nor_bridges() {
    let all = reachable(&metadata(), NATIVE);
    assert!(all.contains("seamline-harness") && all.contains("seamline-seams"));
    for other in ["seamline-hooks", "seamline-bridges"] {
        assert!(!all.contains(other), "{NATIVE} reaches {other}");
    }
}

fn allowed_licences() -> Vec<String> {
    let deny: DocumentMut = fs::read_to_string(root().join("deny.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let list = deny["licenses"]["allow"].as_array().unwrap();
    list.iter()
        .map(|v| v.as_str().unwrap().to_owned())
        .collect()
}

/// Whether `licence` can be satisfied with licences from `allowed`.
fn acceptable(licence: &str, allowed: &[String]) -> bool {
    let lax = spdx::ParseMode::LAX;
    spdx::Expression::parse_mode(licence, lax)
        .unwrap()
        .evaluate(|requirement| {
            requirement.addition.is_none()
                && requirement
                    .license
                    .id()
                    .is_some_and(|id| allowed.iter().any(|a| a == id.name))
        })
}

#[test]
fn shipped_dependencies_have_allowed_licences() {
    let metadata = metadata();
    let allowed = allowed_licences();
    let mut shipped = BTreeSet::new();
    for (name, _) in EDGES {
        shipped.extend(reachable(&metadata, name));
    }
    for top in TOPS {
        shipped.extend(reachable(&metadata, top));
    }
    for package in metadata
        .packages
        .iter()
        .filter(|p| shipped.contains(p.name.as_str()))
    {
        let licence = package.license.as_deref();
        let fine = licence.is_some_and(|l| acceptable(l, &allowed));
        assert!(
            fine,
            "{} {} has licence {licence:?}",
            package.name, package.version
        );
    }
}

#[test]
fn the_licence_check_refuses_what_is_not_on_the_list() {
    let allowed = allowed_licences();
    assert!(acceptable("MIT OR GPL-3.0-only", &allowed));
    assert!(acceptable("(MIT OR Apache-2.0) AND Unicode-3.0", &allowed));
    assert!(!acceptable("GPL-3.0-only", &allowed));
    assert!(!acceptable("MIT AND GPL-3.0-only", &allowed));
}

#[test]
fn every_crate_takes_the_workspace_lints() {
    for package in metadata().workspace_packages() {
        let takes = manifest(package)["lints"]["workspace"].as_bool();
        assert_eq!(
            takes,
            Some(true),
            "{} has no `[lints] workspace = true`",
            package.name
        );
    }
}

#[test]
fn every_published_crate_can_be_presented() {
    for package in metadata().workspace_packages() {
        if package.publish.as_ref().is_some_and(Vec::is_empty) {
            continue;
        }
        let folder = package.manifest_path.parent().unwrap();
        assert!(
            package.description.is_some(),
            "{} has no description",
            package.name
        );
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(folder.join(file).exists(), "{} has no {file}", package.name);
        }
    }
}

/// What a README shows is compiled. That of the command is run instead: `readme::*`.
#[test]
fn every_librarys_readme_is_part_of_its_doctests() {
    for (name, _) in EDGES {
        let folder = root()
            .join("crates")
            .join(name.trim_start_matches("seamline-"));
        let lib = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
        assert!(lib.contains(r#"include_str!("../README.md")"#), "{name}");
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(readme.contains("```rust\n"), "{name} shows no code");
    }
}

/// Faults of listeners are caught where they are called; that needs unwinding in every profile.
#[test]
fn panics_unwind_in_every_profile() {
    let text = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: DocumentMut = text.parse().unwrap();
    for (name, profile) in manifest["profile"].as_table().unwrap() {
        let panic = profile.get("panic").and_then(|p| p.as_str());
        assert!(
            matches!(panic, None | Some("unwind")),
            "profile {name} does not unwind"
        );
    }
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Files that are one table each; a table is read by row, not from end to end.
const TABLES: &[&str] = &[
    "crates/hooks/src/dialect/claude.rs",
    "crates/hooks/src/dialect/codex.rs",
];

#[test]
fn no_source_file_is_over_800_lines() {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    rust_files(&root().join("examples"), &mut files);
    assert!(
        files.len() > 20,
        "the walk found only {} files",
        files.len()
    );
    for file in files {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        let table = TABLES.iter().any(|table| file.ends_with(table));
        assert!(
            table || lines <= 800,
            "{} has {lines} lines",
            file.display()
        );
    }
}

/// `.ci/run` takes the test command from the README, so it must be there exactly once.
#[test]
fn the_readme_names_one_test_command() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let commands: Vec<&str> = readme
        .lines()
        .filter(|l| l.starts_with("cargo nextest run"))
        .collect();
    assert_eq!(commands.len(), 1, "{commands:?}");
}
