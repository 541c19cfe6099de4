//! A permission rule against a command: nothing panics, a rule that is shown is the same rule, and
//! what a command is refused for cannot be shaken off by saying more after it.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use seamline_rules::{Call, Places, Reading, Rule};
use serde_json::json;

fuzz_target!(|data: (&str, &str, &str)| {
    let (rule, command, tail) = data;
    let Ok(rule) = Rule::parse(rule) else {
        return;
    };
    let shown = rule.to_string();
    let again = Rule::parse(&shown).map(|rule| rule.to_string());
    assert_eq!(again.as_ref(), Ok(&shown), "shown and read again");
    let acts = |reading: Reading, command: &str| {
        let input = json!({ "command": command });
        let places = Places {
            cwd: Path::new("/p"),
            project: Path::new("/p"),
            home: Path::new("/home/u"),
        };
        let call = Call::new("Bash", &input, places);
        rule.verdict(reading, &call).acts(reading)
    };
    for reading in [
        Reading::Deny,
        Reading::Ask,
        Reading::Condition,
        Reading::Allow,
    ] {
        let _ = acts(reading, command);
    }
    // An unfinished word or quote takes what follows into itself: only a command that stands by
    // itself can be gone on after.
    let whole = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || " -_./=".contains(c);
        !text.trim().is_empty() && text.chars().all(plain)
    };
    if whole(command) && acts(Reading::Deny, command) {
        let longer = format!("{command} && {tail}");
        assert!(acts(Reading::Deny, &longer), "{shown} on {longer}");
    }
});
