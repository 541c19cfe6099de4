//! Replies, names and tokens.

use std::collections::HashSet;

use seamline_seams::{Context, Halt, Name, Notice, Reply, Source, TokenMint, When};

fn context(text: &str) -> Context {
    Context {
        source: Source::new("test"),
        text: text.to_owned(),
    }
}

fn notice(text: &str) -> Notice {
    Notice {
        source: Source::new("test").with_key("key"),
        text: text.to_owned(),
    }
}

fn halt(when: When, by: &str) -> Halt {
    Halt {
        when,
        reason: Some("enough".to_owned()),
        by: Source::new(by),
    }
}

#[test]
fn riders_keep_their_order_before_and_after() {
    let inner = Reply::new(1)
        .with_context(context("b"))
        .with_notice(notice("y"));
    let (decision, riders) = inner.riders();
    let own = Reply::new(decision + 1)
        .with_context(context("a"))
        .with_notice(notice("x"));
    let after = own.clone().with_riders_after(riders.clone());
    let texts = |reply: &Reply<i32>| {
        let contexts = reply.contexts.iter().map(|it| it.text.clone());
        contexts
            .chain(reply.notices.iter().map(|it| it.text.clone()))
            .collect::<String>()
    };
    assert_eq!((after.decision, texts(&after).as_str()), (2, "abxy"));
    assert_eq!(texts(&own.with_riders_before(riders)), "bayx");
}

#[test]
fn of_two_halts_the_sooner_wins_and_the_earlier_on_a_tie() {
    use When::{AfterBatch, Now};
    let cases = [
        (AfterBatch, AfterBatch, "first"),
        (Now, Now, "first"),
        (Now, AfterBatch, "first"),
        (AfterBatch, Now, "second"),
    ];
    for (first, second, winner) in cases {
        let (_, riders) = Reply::new(()).with_halt(halt(second, "second")).riders();
        let base = Reply::new(()).with_halt(halt(first, "first"));
        let chained = base.clone().with_halt(halt(second, "second"));
        let merged = base.clone().with_riders_after(riders);
        let (_, riders) = base.riders();
        let before = Reply::new(())
            .with_halt(halt(second, "second"))
            .with_riders_before(riders);
        for reply in [chained, merged, before] {
            assert_eq!(
                reply.halt.unwrap().by.plugin,
                winner,
                "{first:?} {second:?}"
            );
        }
    }
}

#[test]
fn mapping_a_reply_keeps_its_riders() {
    let reply = Reply::from(1)
        .with_context(context("a"))
        .with_halt(halt(When::Now, "x"));
    let (decision, riders) = reply.clone().map(|it| it.to_string()).riders();
    assert_eq!((decision.as_str(), riders), ("1", reply.riders().1));
}

#[test]
fn names_compare_as_text_however_they_were_made() {
    let (fixed, shared) = (Name::from_static("audit"), Name::from("audit".to_owned()));
    assert_eq!(fixed, shared);
    assert!(fixed == "audit" && Name::from_static("b") > fixed);
    assert!(HashSet::from([fixed]).contains("audit"));
    assert_eq!(format!("{shared} {shared:?}"), "audit \"audit\"");
}

#[test]
fn a_token_equals_no_token_of_its_own_mint_or_another() {
    let (mint, other) = (TokenMint::new(), TokenMint::new());
    let tokens: HashSet<_> = (0..50).flat_map(|_| [mint.mint(), other.mint()]).collect();
    assert_eq!(tokens.len(), 100);
    let token = mint.mint();
    assert!(mint.issued(token) && !other.issued(token));
}
