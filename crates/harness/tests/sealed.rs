//! What must not compile.

/// A call that reached the log cannot be made by hand, changed, or passed on unsealed.
#[test]
fn calls_are_sealed() {
    trybuild::TestCases::new().compile_fail("tests/fail/*.rs");
}
