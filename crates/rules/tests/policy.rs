//! Deny, ask and allow rules together.

#![expect(clippy::panic, reason = "a table that is wrong should say where")]

use std::path::Path;

use seamline_rules::{Call, Places, Policy, Rule, Ruling, Source, Tier};
use serde_json::{Value, json};

const TIERS: [(&str, Tier); 3] = [
    ("deny", Tier::Deny),
    ("ask", Tier::Ask),
    ("allow", Tier::Allow),
];

fn places() -> Places<'static> {
    Places {
        cwd: Path::new("/p"),
        project: Path::new("/p"),
        home: Path::new("/home/u"),
    }
}

/// Each entry is `list rule`, or `list@source rule`.
fn policy(entries: &[&str]) -> Policy {
    let mut policy = Policy::new();
    for (index, entry) in entries.iter().enumerate() {
        let (list, rule) = entry.split_once(' ').unwrap_or((entry, ""));
        let (list, source) = list.split_once('@').unwrap_or((list, "project"));
        let tier = TIERS
            .iter()
            .find(|(name, _)| *name == list)
            .map(|(_, tier)| *tier);
        let source = Source {
            name: source.to_owned(),
            position: Some((index + 1, 1)),
        };
        let rule = Rule::parse(rule).unwrap_or_else(|e| panic!("{e}"));
        policy.add(
            tier.unwrap_or_else(|| panic!("no list in {entry}")),
            rule,
            source,
        );
    }
    policy
}

/// `deny 1` and the like: the outcome and the positions of the rules that made it.
fn decide(policy: &Policy, call: &Call<'_>) -> String {
    let line = |s: &seamline_rules::Stated| s.source.position.map_or(0, |(line, _)| line);
    match policy.decide(call) {
        Ruling::Deny(hit) => format!("deny {}", line(hit.by)),
        Ruling::Ask(hit) => format!("ask {}", line(hit.by)),
        Ruling::Allow(rules) => {
            let lines: Vec<String> = rules.iter().map(|s| line(s).to_string()).collect();
            format!("allow {}", lines.join("+"))
        }
        Ruling::Silent(_) => "silent".to_owned(),
    }
}

fn check(rows: &[(&[&str], &str, Value, &str)]) {
    for (entries, tool, input, expected) in rows {
        let policy = policy(entries);
        let call = Call::new(tool, input, places());
        assert_eq!(
            decide(&policy, &call),
            *expected,
            "{entries:?} on {tool} {input}"
        );
    }
}

fn bash(command: &str) -> Value {
    json!({ "command": command })
}

fn file(path: &str) -> Value {
    json!({ "file_path": path })
}

/// Documented: deny, then ask, then allow; the first list that decides wins, from any source.
#[test]
fn the_lists_are_asked_in_order() {
    check(&[
        (&[], "Bash", bash("ls"), "silent"),
        (&["allow Bash(ls *)"], "Bash", bash("ls -l"), "allow 1"),
        (
            &["allow Bash(ls *)", "deny Bash"],
            "Bash",
            bash("ls -l"),
            "deny 2",
        ),
        (
            &["allow@managed Bash", "deny@local Bash(ls *)"],
            "Bash",
            bash("ls"),
            "deny 2",
        ),
        (
            &["ask Bash(ls *)", "allow Bash(ls -l)"],
            "Bash",
            bash("ls -l"),
            "ask 1",
        ),
        (
            &["ask Bash", "deny Bash(rm *)"],
            "Bash",
            bash("ls && rm x"),
            "deny 2",
        ),
        (
            &["ask Bash", "deny Bash(rm *)"],
            "Bash",
            bash("ls"),
            "ask 1",
        ),
        (&["deny *", "allow Read"], "Read", file("x"), "deny 1"),
        (
            &["deny mcp__a", "allow mcp__a__b"],
            "mcp__a__b",
            json!({}),
            "deny 1",
        ),
        (
            &["deny Agent(model:opus)", "allow Agent"],
            "Task",
            json!({"model": "opus"}),
            "deny 1",
        ),
        (
            &["deny Agent(model:opus)", "allow Agent"],
            "Task",
            json!({"model": "x"}),
            "allow 2",
        ),
    ]);
}

/// Measured (cases a-permdeny, d-allow-vs-denyrule, d-upd-denyrule): the call is refused.
#[test]
fn the_recorded_denials_are_denials() {
    check(&[
        (&["deny Bash(touch *)"], "Bash", bash("touch zz"), "deny 1"),
        (
            &["deny Bash(mkdir *)"],
            "Bash",
            bash("mkdir newdir"),
            "deny 1",
        ),
        (&["deny Bash(rm *)"], "Bash", bash("rm -rf zz"), "deny 1"),
        (&["deny Bash(rm *)"], "Bash", bash("echo hi"), "silent"),
    ]);
}

/// Documented: every sub-command needs a rule; they need not share one.
#[test]
fn the_parts_of_a_command_may_be_allowed_by_different_rules() {
    let lists: &[&str] = &[
        "allow Bash(git *)",
        "allow Bash(ls *)",
        "allow Edit(out/**)",
    ];
    check(&[
        (lists, "Bash", bash("git status && ls -l"), "allow 1+2"),
        (lists, "Bash", bash("ls | git x; ls"), "allow 2+1"),
        (lists, "Bash", bash("git status && rm x"), "silent"),
        (lists, "Bash", bash("git log $(rm x)"), "silent"),
        (lists, "Bash", bash("git log $(ls)"), "allow 1+2"),
        (lists, "Bash", bash("ls > out/f"), "allow 2+3"),
        (lists, "Bash", bash("ls > elsewhere"), "silent"),
        (lists, "Bash", bash("ls > out/../x"), "silent"),
        (lists, "Bash", bash("ls > out/$X"), "silent"),
        (lists, "Bash", bash("ls > out/*"), "silent"),
        (lists, "Bash", bash("ls > ~/out/f"), "silent"),
        (lists, "Bash", bash("ls 2>/dev/null"), "allow 2"),
        (lists, "Bash", bash("ls &&"), "silent"),
        (lists, "Bash", bash("# nothing"), "silent"),
        (lists, "Bash", bash(""), "silent"),
        (&["allow Bash"], "Bash", bash("anything > x"), "allow 1"),
        (
            &["allow Write(out/**)", "allow Bash(ls *)"],
            "Bash",
            bash("ls > out/f"),
            "silent",
        ),
        (&["allow Edit(out)"], "Bash", bash("> out"), "silent"),
    ]);
}

/// Ours: a certain denial is reported before one that only cannot be excluded.
#[test]
fn a_certain_rule_comes_before_an_uncertain_one() {
    let broken = bash("rm x &&");
    check(&[
        (
            &["deny Bash(git *)", "deny Bash"],
            "Bash",
            broken.clone(),
            "deny 2",
        ),
        (
            &["deny Bash(git *)", "deny Bash(rm *)"],
            "Bash",
            broken.clone(),
            "deny 1",
        ),
        (&["ask Bash(git *)"], "Bash", broken.clone(), "ask 1"),
        (&["allow Bash(rm *)"], "Bash", broken, "silent"),
    ]);
}

/// Documented: `!` takes back an earlier rule of the same source, not below a blocked folder.
#[test]
fn a_negation_takes_back_earlier_rules_of_its_source() {
    let (keep, other) = (file("keep.env"), file("a.env"));
    let negated = |later: &'static str| ["deny Read(*.env)", later];
    check(&[
        (
            &negated("deny Read(!keep.env)"),
            "Read",
            keep.clone(),
            "silent",
        ),
        (
            &negated("deny Read(!./keep.env)"),
            "Read",
            keep.clone(),
            "silent",
        ),
        (&negated("deny Read(!keep.env)"), "Read", other, "deny 1"),
        (
            &negated("deny Read(!keep.env)"),
            "Bash",
            bash("cat keep.env"),
            "silent",
        ),
        (
            &negated("deny Read(!keep.env)"),
            "Bash",
            bash("cat keep.env a.env"),
            "deny 1",
        ),
        (
            &negated("deny@user Read(!keep.env)"),
            "Read",
            keep.clone(),
            "deny 1",
        ),
        (
            &negated("deny Edit(!keep.env)"),
            "Read",
            keep.clone(),
            "deny 1",
        ),
        (
            &negated("ask Read(!keep.env)"),
            "Read",
            keep.clone(),
            "deny 1",
        ),
        (
            &["deny Read(!keep.env)", "deny Read(*.env)"],
            "Read",
            keep.clone(),
            "deny 2",
        ),
        (
            &["deny Read(d)", "deny Read(!d/keep)"],
            "Read",
            file("d/keep"),
            "deny 1",
        ),
        (
            &["deny Read(d/*)", "deny Read(!d/keep)"],
            "Read",
            file("d/keep"),
            "silent",
        ),
        (
            &["ask Read(*.env)", "ask Read(!keep.env)"],
            "Read",
            keep,
            "silent",
        ),
    ]);
}

/// Documented: both the link and its target count; allowing needs both, denying one.
#[test]
fn a_link_counts_by_its_name_and_by_its_target() {
    let input = file("link");
    let target = Path::new("/secret/key");
    for (entries, expected) in [
        (&["deny Read(//secret/**)"][..], "deny 1"),
        (&["deny Read(link)"], "deny 1"),
        (&["allow Read(link)"], "silent"),
        (&["allow Read(//secret/**)"], "silent"),
        (&["allow Read(//**)"], "allow 1"),
        (
            &[
                "deny Read(link)",
                "deny Read(!link)",
                "deny Read(//secret/key)",
            ],
            "deny 3",
        ),
    ] {
        let call = Call::new("Read", &input, places()).resolving_to(target);
        assert_eq!(decide(&policy(entries), &call), expected, "{entries:?}");
        assert_eq!(call.file().as_deref(), Some(Path::new("/p/link")));
    }
}

/// `/path` starts at the base of the file that states the rule.
#[test]
fn a_rule_has_the_base_of_its_file() {
    let rule = Rule::parse("Read(/hooks/**)")
        .expect("a rule")
        .rooted_at("/home/u/.claude");
    let mut policy = Policy::new();
    policy.add(
        Tier::Deny,
        rule,
        Source {
            name: "user".to_owned(),
            position: None,
        },
    );
    for (path, expected) in [
        ("/home/u/.claude/hooks/x", "deny 0"),
        ("/p/hooks/x", "silent"),
    ] {
        assert_eq!(
            decide(&policy, &Call::new("Read", &file(path), places())),
            expected,
            "{path}"
        );
    }
}

/// A rule on any of a tool's names is a rule on the tool.
#[test]
fn a_tool_answers_to_all_its_names() {
    let input = bash("rm x");
    let call = || Call::new("shell", &input, places());
    let policy = policy(&["deny Bash(rm *)"]);
    assert_eq!(decide(&policy, &call()), "silent");
    assert_eq!(decide(&policy, &call().also_called(&["Bash"])), "deny 1");
}

/// Documented as accepted with a warning: these never take effect in their list.
#[test]
fn rules_without_effect_are_told() {
    let policy = policy(&[
        "deny Write(x)",
        "deny Read(x)",
        "ask Glob(x)",
        "allow *",
        "allow mcp__a__*",
        "allow Agent(model:opus)",
        "allow Read(!x)",
        "allow Bash()",
    ]);
    let idle: Vec<String> = policy
        .idle()
        .map(|(_, s, why)| format!("{}: {why}", s.rule))
        .collect();
    assert_eq!(
        idle,
        [
            "Write(x): path rules on Write are not looked at; `Edit(x)` covers Write",
            "Glob(x): path rules on Glob are not looked at; `Read(x)` covers Glob",
            "*: an allow rule takes `*` in a tool name only behind `mcp__server__`; \
             `*` allows nothing",
            "Agent(model:opus): parameter rules only deny or ask",
            "Read(!x): `!` only takes back deny and ask rules",
            "Bash(): `Bash()` allows nothing; drop the parentheses to allow every call",
        ]
    );
}

/// What a person is shown names the rule, its place, and the part of the command it met.
#[test]
fn a_hit_names_the_rule_its_place_and_the_reason() {
    let policy = policy(&["deny Bash(git push *)", "allow Bash(ls *)"]);
    let input = bash("ls && git push origin");
    let Ruling::Deny(hit) = policy.decide(&Call::new("Bash", &input, places())) else {
        panic!("the push is denied");
    };
    assert_eq!(hit.by.to_string(), "`Bash(git push *)` (project:1:1)");
    let why = "yes: sub-command `git push origin` fits `git push *`";
    assert_eq!(hit.verdict.to_string(), why);
    let input = bash("ls; rm x");
    let silent = policy.decide(&Call::new("Bash", &input, places()));
    assert_eq!(
        silent,
        Ruling::Silent("no allow rule covers `rm x`".to_owned())
    );
}
