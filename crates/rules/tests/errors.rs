//! What is not a rule, where it goes wrong, and what the error tells to do.

use seamline_rules::{Condition, Problem, Rule};

fn check(rows: &[(&str, usize, Problem)]) {
    for (text, column, problem) in rows {
        let found = Rule::parse(text).map_err(|e| (e.rule, e.column, e.problem));
        assert_eq!(found, Err(((*text).to_owned(), *column, problem.clone())));
    }
}

#[test]
fn a_text_that_names_no_tool_is_refused_at_the_right_column() {
    let rows = [
        ("", 1, Problem::Empty),
        ("   ", 1, Problem::Empty),
        ("  Bash  ", 1, Problem::Padded),
        ("Bash ", 5, Problem::Padded),
        ("Bash(ls)\n", 9, Problem::Padded),
        ("Bash|Read", 5, Problem::SeveralTools('|')),
        ("Bash, Read", 5, Problem::SeveralTools(',')),
        ("Bash && Read", 5, Problem::NameCharacter(' ')),
        ("Bash&Read", 5, Problem::SeveralTools('&')),
        ("[", 1, Problem::NameCharacter('[')),
        ("!Bash", 1, Problem::NameCharacter('!')),
        ("^Bash$", 1, Problem::NameCharacter('^')),
        ("Bash)", 5, Problem::NameCharacter(')')),
        ("é|b", 2, Problem::SeveralTools('|')),
        ("(ls)", 1, Problem::NoName),
        ("Bash(", 5, Problem::Unclosed),
        ("Bash(unclosed", 5, Problem::Unclosed),
        ("Bash(ls) x", 5, Problem::Unclosed),
        ("mcp__*(a:b)", 6, Problem::GlobWithSpecifier),
        ("*(ls)", 1, Problem::GlobWithSpecifier),
    ];
    check(&rows);
}

#[test]
fn a_specifier_that_the_tool_does_not_take_is_refused_at_the_right_column() {
    let no_specifier = |tool: &str| Problem::NoSpecifier {
        tool: tool.to_owned(),
    };
    let primary = |field: &str, instead: &str| Problem::PrimaryField {
        field: field.to_owned(),
        instead: instead.to_owned(),
    };
    let rows = [
        ("NoTool(x)", 8, no_specifier("NoTool")),
        ("mcp__tiny__echo(x)", 17, no_specifier("mcp__tiny__echo")),
        (
            "bash(ls)",
            6,
            Problem::WrongCase {
                tool: "bash".to_owned(),
                meant: "Bash",
            },
        ),
        ("Bash(:*)", 6, Problem::NoCommand),
        (
            "Bash(command:rm *)",
            6,
            primary("command", "the command itself: `Bash(text)`"),
        ),
        (
            "Read(file_path:x)",
            6,
            primary("file_path", "the path itself: `Read(path)`"),
        ),
        (
            "Grep(path:x)",
            6,
            primary("path", "the path itself: `Grep(path)`"),
        ),
        (
            "WebFetch(url:x)",
            10,
            primary("url", "`WebFetch(domain:host)`"),
        ),
        ("Agent(model:)", 13, Problem::NoValue("model".to_owned())),
        ("WebFetch(example.com)", 10, Problem::NotADomain),
        ("WebFetch(host:example.com)", 10, Problem::NotADomain),
        ("WebFetch(domain:)", 17, Problem::NotADomain),
        (
            "WebFetch(domain:https://a.b)",
            22,
            Problem::HostCharacter(':'),
        ),
        ("WebFetch(domain:a.b/c)", 20, Problem::HostCharacter('/')),
        (
            "WebFetch(domain:exämple.com)",
            19,
            Problem::HostCharacter('ä'),
        ),
        ("Read(/)", 6, Problem::NoPath),
        ("Read(//)", 6, Problem::NoPath),
        ("Read(./)", 6, Problem::NoPath),
        ("Read(.)", 6, Problem::NoPath),
        ("Read(!)", 6, Problem::NoPath),
        ("Read(../x)", 6, Problem::Climbs),
        ("Read(a/../x)", 8, Problem::Climbs),
        ("Read(!/x)", 7, Problem::AnchoredNegation),
        ("Read(!~/x)", 7, Problem::AnchoredNegation),
        ("Skill( *)", 7, Problem::NoSkill),
        ("Skill(/)", 7, Problem::NoSkill),
    ];
    check(&rows);
}

#[test]
fn a_broken_path_pattern_is_told_with_its_place() {
    for (text, column) in [("Read(x/{a)", 6), ("Read(//{a)", 8), ("Read(!./[b-a])", 9)] {
        let error = Rule::parse(text).expect_err(text);
        assert!(matches!(error.problem, Problem::Glob(_)), "{error}");
        assert_eq!(error.column, column, "{error}");
    }
}

/// The words a person sees; they name the rule, the column, and what to write.
#[test]
fn an_error_says_what_to_do() {
    let shown = |text: &str| Rule::parse(text).expect_err(text).to_string();
    assert_eq!(
        shown("Bash(unclosed"),
        "rule `Bash(unclosed`, column 5: the parenthesis is not closed; \
         a rule that opens one ends with `)`"
    );
    assert_eq!(
        shown("bash(ls)"),
        "rule `bash(ls)`, column 6: no tool is called `bash`; \
         names are compared with their case: write `Bash`"
    );
}

/// Measured: the client drops such conditions in silence; here the problem can be asked for.
#[test]
fn a_broken_condition_keeps_its_problem() {
    assert!(Condition::parse("Bash|Read").problem().is_some());
    assert!(Condition::parse("Bash(ls *)").problem().is_none());
    assert!(Condition::parse("").problem().is_none());
    assert!(
        Condition::parse("*").problem().is_none(),
        "a rule, though no condition can meet it"
    );
}
