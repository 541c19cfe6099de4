//! What holds for every rule and every call.

#![expect(clippy::panic, reason = "a table that is wrong should say where")]

use std::path::Path;

use proptest::prelude::*;
use seamline_rules::{Call, Condition, Places, Policy, Reading, Rule, Source, Tier};
use serde_json::{Value, json};

const READINGS: [Reading; 4] = [
    Reading::Condition,
    Reading::Deny,
    Reading::Ask,
    Reading::Allow,
];

const PATTERNS: [&str; 9] = [
    "Bash(rm *)",
    "Bash(rm -rf *)",
    "Bash(git push *)",
    "Bash(git push)",
    "Bash(*x*)",
    "Bash(ls)",
    "Bash(echo:*)",
    "Read(x)",
    "Edit(out)",
];

fn places() -> Places<'static> {
    Places {
        cwd: Path::new("/p"),
        project: Path::new("/p"),
        home: Path::new("/home/u"),
    }
}

fn acts(rule: &str, reading: Reading, command: &str) -> bool {
    let rule = Rule::parse(rule).unwrap_or_else(|e| panic!("{e}"));
    let input = json!({ "command": command });
    rule.verdict(reading, &Call::new("Bash", &input, places()))
        .acts(reading)
}

fn simple() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["rm", "git", "ls", "echo", "cat", "\"rm\"", "A=1 rm"]);
    let words = vec![
        "x",
        "-rf",
        "push",
        "'a b'",
        "\"$HOME\"",
        "$(date)",
        "`ls`",
        "{a,b}",
        "a\\ b",
        "> out",
        "2>&1",
        "< x",
        "é",
    ];
    let arguments = prop::collection::vec(prop::sample::select(words), 0..4);
    (name, arguments).prop_map(|(name, arguments)| {
        std::iter::once(name)
            .chain(arguments)
            .collect::<Vec<_>>()
            .join(" ")
    })
}

fn joiner() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![" && ", " || ", "; ", " | ", " |& ", " & ", "\n"])
}

fn command() -> impl Strategy<Value = String> {
    simple().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|c| format!("( {c} )")),
            inner.clone().prop_map(|c| format!("{{ {c}; }}")),
            inner
                .clone()
                .prop_map(|c| format!("if {c}; then ls; else {c}; fi")),
            inner
                .clone()
                .prop_map(|c| format!("for f in a b; do {c}; done")),
            inner.clone().prop_map(|c| format!("echo \"$({c})\"")),
            inner.clone().prop_map(|c| format!("y=$({c}) ls")),
            (inner.clone(), joiner(), inner).prop_map(|(a, j, b)| format!("{a}{j}{b}")),
        ]
    })
}

fn any_rule() -> impl Strategy<Value = String> {
    let tools = vec![
        "Bash",
        "Read",
        "Edit",
        "WebFetch",
        "Agent",
        "Skill",
        "mcp__a__b",
        "PowerShell",
    ];
    let content = prop_oneof![
        ".*",
        "[a-z*:/~!. \\[\\]{}]{0,12}",
        "domain:.{0,8}",
        "[a-z]{1,4}:.{0,4}"
    ];
    prop_oneof![
        ".*",
        (prop::sample::select(tools), content).prop_map(|(tool, text)| format!("{tool}({text})")),
    ]
}

fn any_input() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "command",
        "file_path",
        "url",
        "path",
        "skill",
        "model",
    ]);
    let value = prop_oneof![
        ".*".prop_map(Value::from),
        "[-a-z$(){}<>|&;'\"\\\\`\n =*~#]{0,40}".prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::Null),
        Just(json!({ "a": [1] })),
    ];
    prop::collection::hash_map(key, value, 0..4).prop_map(|fields| json!(fields))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// What restricts, and what runs a hook, cannot be shaken off by a longer command.
    #[test]
    fn a_longer_command_is_still_restricted(
        pattern in prop::sample::select(&PATTERNS[..]),
        (one, join, other) in (command(), joiner(), command()),
    ) {
        for reading in [Reading::Deny, Reading::Ask, Reading::Condition] {
            if acts(pattern, reading, &one) {
                let (before, after) = (format!("{one}{join}{other}"), format!("{other}{join}{one}"));
                prop_assert!(acts(pattern, reading, &before), "{reading:?} {before}");
                prop_assert!(acts(pattern, reading, &after), "{reading:?} {after}");
            }
        }
    }

    /// The same, whatever comes behind, be it a command or not.
    #[test]
    fn no_tail_lifts_a_restriction(
        pattern in prop::sample::select(&PATTERNS[..7]),
        (one, join, tail) in (command(), joiner(), "[-a-z$(){}<>|&;'\"\\\\`\n =*~#]{0,20}"),
    ) {
        if acts(pattern, Reading::Deny, &one) {
            let longer = format!("{one}{join}{tail}");
            prop_assert!(acts(pattern, Reading::Deny, &longer), "{longer}");
        }
    }

    /// What is allowed together is allowed apart.
    #[test]
    fn a_shorter_command_is_still_allowed(
        pattern in prop::sample::select(&PATTERNS[..7]),
        (one, join, other) in (command(), joiner(), command()),
    ) {
        if acts(pattern, Reading::Allow, &format!("{one}{join}{other}")) {
            prop_assert!(acts(pattern, Reading::Allow, &one), "{one}");
            prop_assert!(acts(pattern, Reading::Allow, &other), "{other}");
        }
    }

    /// A rule is shown as it was written, and means the same again.
    #[test]
    fn a_rule_survives_being_shown(text in any_rule()) {
        if let Ok(rule) = Rule::parse(&text) {
            prop_assert_eq!(rule.to_string(), text);
            prop_assert_eq!(Rule::parse(&rule.to_string()), Ok(rule));
        }
    }

    /// An error points into the rule, or right behind it.
    #[test]
    fn an_error_points_into_the_rule(text in any_rule()) {
        if let Err(error) = Rule::parse(&text) {
            prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 1);
            prop_assert_eq!(error.rule, text);
        }
    }

    /// No text and no input makes the crate panic, and every verdict says why.
    #[test]
    fn every_rule_answers_every_call(
        text in any_rule(),
        tool in prop::sample::select(vec!["Bash", "Read", "Write", "Grep", "WebFetch", "Skill", "x"]),
        input in any_input(),
    ) {
        let call = Call::new(tool, &input, places());
        prop_assert!(!Condition::parse(&text).verdict(&call).why.is_empty());
        let mut policy = Policy::new();
        for tier in [Tier::Deny, Tier::Ask, Tier::Allow] {
            if let Ok(rule) = Rule::parse(&text) {
                let source = Source { name: "here".to_owned(), position: None };
                policy.add(tier, rule, source);
            }
        }
        for rule in policy.rules(Tier::Deny) {
            for reading in READINGS {
                prop_assert!(!rule.rule.verdict(reading, &call).why.is_empty());
            }
        }
        let _ = policy.decide(&call);
    }
}

/// Nesting is limited by the length of a command, not by the stack of the thread that reads it.
#[test]
fn deep_nesting_needs_no_stack() {
    let nested = [("$(", ")"), ("{ ", "; }"), ("if a; then ", "; fi")];
    for (open, close) in nested {
        let depth = 4_000 / (open.len() + close.len());
        let command = format!("echo {}rm x{}", open.repeat(depth), close.repeat(depth));
        let small = std::thread::Builder::new().stack_size(256 * 1024);
        let acted = small.spawn(move || {
            let rule = Rule::parse("Bash(rm *)").expect("a rule");
            let input = json!({ "command": command });
            let call = Call::new("Bash", &input, places());
            READINGS.map(|reading| rule.verdict(reading, &call).acts(reading))
        });
        let acted = acted
            .expect("the thread starts")
            .join()
            .expect("the thread ends");
        assert_eq!(acted, [true, true, true, false], "{open}");
    }
    let list = "rm x && ".repeat(1_200) + "ls";
    assert!(acts("Bash(rm *)", Reading::Deny, &list));
}

/// Rules are shared between the agents of a process, and calls between its threads.
#[test]
fn rules_and_calls_cross_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Rule>();
    shared::<Condition>();
    shared::<Policy>();
    shared::<Call<'_>>();
}
