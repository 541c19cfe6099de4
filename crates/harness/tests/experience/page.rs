//! The page.

use std::fmt::Write;

use similar::{Algorithm, ChangeTag, capture_diff_slices};

use crate::play::{Line, Run};

const HEAD: &str = "\
<!-- Generated from runs through the loop: UPDATE_DOCS=1 cargo nextest run -p seamline-harness --test experience -->

# What the model sees

What each decision looks like to the model, and what it costs. Each entry is a session that was
played through the real loop: the user writes `Say hello.`, the model calls the tool `Echo`, says
that it is done, and the user writes `Go on.`. The marked lines are the difference between the last
request of that session and of one in which nobody decided anything:

```text
";

const RULES: &str = "```

* **`+`** is what the model sees because of the decision, **`-`** what it does not see. The words
  before the colon are ours; how a provider marks up a context or an error is its own business.
* **bytes** are those of the texts behind the colon, in UTF-8: what is added, less what is left out.
  A turn that ends early also leaves out the model's own last words, and nothing is gained by that.
* **tokens** are an estimate by one rule: a token for every four bytes, rounded up. Every later
  request of the session carries them again, at the price of the cache.
* **cache**: *kept* if every request of the session begins with the whole request before it, byte for
  byte, system prompt and tools included. What a provider has cached then stays good. *broken* if not.

Texts such as `are you sure?` are the plugin's own, and reach the model as they are. All others are
the harness's.
";

pub(crate) fn page(runs: &[Run]) -> String {
    let plain = runs.first().unwrap();
    let mut page = String::from(HEAD);
    for Line { label, text } in plain.lines() {
        writeln!(page, "{label}: {text}").unwrap();
    }
    page.push_str(RULES);
    page.push_str("\n| decision | bytes | tokens | requests | cache |\n|---|---|---|---|---|\n");
    let decided = || runs.iter().skip(1);
    for run in decided() {
        let cache = if run.keeps_prefix() { "kept" } else { "broken" };
        let (more, fewer) = cost(&changes(plain, run));
        writeln!(
            page,
            "| {} | {} | {} | {} | {cache} |",
            run.scene.name,
            signed(more, fewer),
            signed(more.div_ceil(4), fewer.div_ceil(4)),
            run.requests.len(),
        )
        .unwrap();
    }
    for run in decided() {
        writeln!(page, "\n## {}\n", run.scene.name).unwrap();
        if !run.scene.note.is_empty() {
            writeln!(page, "{}\n", run.scene.note).unwrap();
        }
        let changes = changes(plain, run);
        if changes.iter().all(|(tag, _)| *tag == ChangeTag::Equal) {
            writeln!(page, "The model sees nothing of it.").unwrap();
            continue;
        }
        page.push_str("```diff\n");
        for (tag, Line { label, text }) in changes {
            let text = text.replace('\n', "\n    ");
            writeln!(page, "{tag} {label}: {text}").unwrap();
        }
        page.push_str("```\n");
    }
    page
}

fn changes(plain: &Run, run: &Run) -> Vec<(ChangeTag, Line)> {
    let (old, new) = (plain.lines(), run.lines());
    let texts = |lines: &[Line]| {
        lines
            .iter()
            .map(|it| format!("{}: {}", it.label, it.text))
            .collect::<Vec<_>>()
    };
    let (left, right) = (texts(&old), texts(&new));
    let ops = capture_diff_slices(Algorithm::Myers, &left, &right);
    let changes = ops.iter().flat_map(|op| op.iter_changes(&old, &new));
    changes
        .map(|change| (change.tag(), change.value().clone()))
        .collect()
}

/// The bytes that are added, and those that are left out.
fn cost(changes: &[(ChangeTag, Line)]) -> (usize, usize) {
    let of = |wanted| {
        let texts = changes.iter().filter(move |(tag, _)| *tag == wanted);
        texts.map(|(_, line)| line.text.len()).sum()
    };
    (of(ChangeTag::Insert), of(ChangeTag::Delete))
}

fn signed(more: usize, fewer: usize) -> String {
    match (more, fewer) {
        (0, 0) => "0".to_owned(),
        (more, 0) => format!("+{more}"),
        (0, fewer) => format!("-{fewer}"),
        (more, fewer) => format!("+{more} -{fewer}"),
    }
}
