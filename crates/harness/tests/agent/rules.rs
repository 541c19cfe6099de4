//! Permission rules in a run.

use seamline_harness::model::scripted::Play;
use seamline_harness::permission::Mode;
use seamline_harness::plugins::{PermissionRules, ShellSyntax};
use seamline_harness::tools::{ApprovalAnswer, PreDecision, ProposeDecision, builtin};
use seamline_rules::{Policy, Rule, Source, Tier};
use seamline_seams::Reply;
use serde_json::json;

use crate::bench::{Bench, soon, speaker};

const DENY: (Tier, &str) = (Tier::Deny, "Bash(touch *)");
const ASK: (Tier, &str) = (Tier::Ask, "Bash(touch *)");
const ALLOW: (Tier, &str) = (Tier::Allow, "Bash(touch *)");

/// A bench on which this command is called, with rules in force.
fn bench(command: &str, rules: &[(Tier, &str)]) -> Bench {
    playing(Play::call("Bash", json!({ "command": command })), rules)
}

fn playing(call: Play, rules: &[(Tier, &str)]) -> Bench {
    let mut bench = Bench::new([call, Play::text("done")]);
    bench.registry = builtin::registry().unwrap();
    let mut policy = Policy::new();
    for (tier, rule) in rules {
        let source = Source {
            name: "rules".to_owned(),
            position: Some((1, 1)),
        };
        policy.add(*tier, Rule::parse(rule).unwrap(), source);
    }
    let rules = PermissionRules::new(policy, bench.project());
    rules.install(&bench.scope, (&bench.seams, &bench.tool_seams));
    bench
}

/// A policy that says this of each call.
fn says(bench: &Bench, decision: PreDecision) {
    let seam = &bench.tool_seams.pre;
    seam.on(&bench.scope, "hooks", move |_, next| {
        let decision = decision.clone();
        async move { Ok(next.run().await?.map(|_| decision)) }
    });
}

/// Somebody who says yes to each question, and notes it.
fn agrees(bench: &Bench) {
    let seen = bench.seen.clone();
    let seam = &bench.tool_seams.approval;
    seam.on(&bench.scope, "person", move |question, _| {
        seen.note(format!("asked: {}", question.reason.unwrap_or_default()));
        async {
            Some(ApprovalAnswer::AllowOnce {
                arguments: None,
                updates: Vec::new(),
            })
        }
    });
}

async fn ran(bench: &Bench, mode: Mode) -> bool {
    let agent = bench.builder().mode(mode).build();
    soon(agent.send("go")).await;
    soon(agent.close("test")).await.unwrap();
    bench.project().join("x").exists()
}

/// Deny beats all, ask beats an allow of any kind, an allow rule stands for the mode's question.
#[tokio::test]
async fn what_rules_do_in_each_mode() {
    let allow = || PreDecision::Allow { pre_approved: true };
    for mode in Mode::ALL {
        let free = mode == Mode::BypassPermissions;
        let plan = mode == Mode::Plan;
        let cases = [
            (vec![], false, free),
            (vec![DENY], false, false),
            (vec![DENY, ALLOW], true, false),
            (vec![ASK], false, false),
            (vec![ASK, ALLOW], true, false),
            (vec![ALLOW], false, !plan),
            (vec![(Tier::Allow, "Read")], false, free),
        ];
        for (rules, allowed, expected) in cases {
            let bench = bench("touch x", &rules);
            if allowed {
                says(&bench, allow());
            }
            assert_eq!(
                ran(&bench, mode).await,
                expected,
                "{mode} {rules:?} {allowed}"
            );
        }
    }
}

/// The model is told the rule and its place; nobody is asked about what is denied.
#[tokio::test]
async fn a_denial_names_its_rule() {
    let bench = bench("touch x", &[DENY, ASK]);
    agrees(&bench);
    assert!(!ran(&bench, Mode::Default).await);
    let result = "result Error: denied by the rule `Bash(touch *)` (rules:1:1)";
    assert_eq!(bench.asked(1)[2], result);
    assert_eq!(bench.seen.all(), Vec::<String>::new());
}

/// An ask rule asks even where the mode would not, and says why.
#[tokio::test]
async fn an_ask_rule_asks_a_person() {
    let bench = bench("touch x", &[ASK]);
    agrees(&bench);
    assert!(ran(&bench, Mode::BypassPermissions).await);
    let asked = "asked: the rule `Bash(touch *)` (rules:1:1) asks for approval";
    assert_eq!(bench.seen.all(), [asked]);
}

/// A policy's ask stands beside an allow rule, and its denial keeps its own words.
#[tokio::test]
async fn policies_keep_their_objections() {
    let bench = bench("touch x", &[ALLOW]);
    says(
        &bench,
        PreDecision::Ask {
            reason: Some("hm".to_owned()),
            by: speaker(),
        },
    );
    assert!(!ran(&bench, Mode::Default).await);
    assert_eq!(bench.asked(1)[2], "result Error: hm");

    let bench = self::bench("touch x", &[DENY]);
    says(
        &bench,
        PreDecision::Deny {
            reason: "no".to_owned(),
            by: speaker(),
        },
    );
    assert!(!ran(&bench, Mode::Default).await);
    assert_eq!(bench.asked(1)[2], "result Error: no");
}

/// Rules see what would run: a rewrite, an amendment of an approval, the target of a link.
#[tokio::test]
async fn what_would_run_is_what_is_judged() {
    let rewritten = json!({"command": "touch x"});
    let bench = bench("echo", &[DENY]);
    let arguments = seamline_harness::json::Json::from_value(rewritten.clone());
    let seam = &bench.tool_seams.propose;
    seam.on(&bench.scope, "rewriter", move |_, _| {
        let decision = ProposeDecision::rewrite(arguments.clone(), speaker());
        async { Ok(Reply::new(decision)) }
    });
    assert!(!ran(&bench, Mode::BypassPermissions).await);
    assert!(
        bench.asked(1)[2].contains("denied by the rule"),
        "{:?}",
        bench.asked(1)
    );

    let bench = self::bench("echo", &[DENY, (Tier::Ask, "Bash(echo *)")]);
    let seam = &bench.tool_seams.approval;
    seam.on(&bench.scope, "person", move |_, _| {
        let arguments = seamline_harness::json::Json::from_value(rewritten.clone());
        async {
            Some(ApprovalAnswer::AllowOnce {
                arguments: Some(arguments),
                updates: Vec::new(),
            })
        }
    });
    assert!(!ran(&bench, Mode::BypassPermissions).await);
    assert!(
        bench.asked(1)[2].contains("denied by the rule"),
        "{:?}",
        bench.asked(1)
    );
}

/// A link does not lead around a rule.
#[cfg(unix)]
#[tokio::test]
async fn links_are_followed() {
    let read = Play::call("Read", json!({"file_path": "plain"}));
    let bench = playing(read, &[(Tier::Deny, "Read(secret)")]);
    let project = bench.project();
    std::fs::write(project.join("secret"), "the secret").unwrap();
    std::os::unix::fs::symlink("secret", project.join("plain")).unwrap();
    ran(&bench, Mode::BypassPermissions).await;
    assert!(
        bench.asked(1)[2].contains("denied by the rule"),
        "{:?}",
        bench.asked(1)
    );
}

/// Disposing the scope takes the rules back.
#[tokio::test]
async fn disposed_rules_are_gone() {
    let bench = bench("touch x", &[DENY]);
    bench.scope.dispose().await;
    assert!(ran(&bench, Mode::BypassPermissions).await);
}

/// A command that is no shell is refused, in every mode, and nothing of it runs; what only our
/// parser doubts runs.
#[tokio::test]
async fn what_is_no_shell_does_not_run() {
    let cases = [
        ("touch x\n(((", false),
        ("touch x; unparsable ((( \" ", false),
        ("touch x &&", false),
        ("touch x", true),
        ("touch x # (((", true),
        ("touch x\ncat <<'EOF' >/dev/null\n(((\nEOF", true),
        (
            "touch x; for ((i=0;i<1;i++)); do :; done; [[ a =~ ^(a|b)$ ]]",
            true,
        ),
    ];
    for (command, runs) in cases {
        let bench = bench(command, &[]);
        ShellSyntax.install(&bench.scope, (&bench.seams, &bench.tool_seams));
        assert_eq!(
            ran(&bench, Mode::BypassPermissions).await,
            runs,
            "{command}"
        );
        let refused =
            bench.asked(1)[2].contains("nothing was run, the command is not valid shell: ");
        assert_eq!(refused, !runs, "{command}: {:?}", bench.asked(1));
    }
    let bench = bench("touch x; (((", &[]);
    ShellSyntax.install(&bench.scope, (&bench.seams, &bench.tool_seams));
    let reason = "no".to_owned();
    says(
        &bench,
        PreDecision::Deny {
            reason,
            by: speaker(),
        },
    );
    assert!(!ran(&bench, Mode::BypassPermissions).await);
    assert_eq!(bench.asked(1)[2], "result Error: no");
}

/// What the parser cannot take apart and the shell can is the shell's to judge.
#[tokio::test]
async fn a_doubt_of_the_parser_is_no_refusal() {
    let long = format!("touch x; : {}", "a".repeat(20_000));
    assert!(seamline_rules::shell_problem(&long).is_some());
    let bench = bench(&long, &[]);
    ShellSyntax.install(&bench.scope, (&bench.seams, &bench.tool_seams));
    assert!(ran(&bench, Mode::BypassPermissions).await);
}

/// A patch is an Edit of each of its files: one that is denied denies it, and an allow has to cover all.
#[tokio::test]
async fn a_patch_is_an_edit_of_each_of_its_files() {
    let deny = (Tier::Deny, "Edit(secret/**)");
    let (one, all) = ((Tier::Allow, "Edit(x)"), (Tier::Allow, "Edit(*)"));
    let cases = [
        (
            "x",
            "*** Add File: y\n+1",
            Mode::BypassPermissions,
            vec![deny],
            true,
        ),
        (
            "x",
            "*** Add File: secret/y\n+1",
            Mode::BypassPermissions,
            vec![deny],
            false,
        ),
        (
            "secret/y",
            "*** Add File: x\n+1",
            Mode::BypassPermissions,
            vec![deny],
            false,
        ),
        ("x", "*** Add File: y\n+1", Mode::Default, vec![one], false),
        ("x", "*** Add File: y\n+1", Mode::Default, vec![all], true),
    ];
    for (first, rest, mode, rules, expected) in cases {
        let patch = format!("*** Begin Patch\n*** Add File: {first}\n+1\n{rest}\n*** End Patch\n");
        let bench = playing(
            Play::call("apply_patch", json!({ "command": patch })),
            &rules,
        );
        bench.registry.add(builtin::ApplyPatch).unwrap();
        assert_eq!(ran(&bench, mode).await, expected, "{patch} {rules:?}");
    }
}
