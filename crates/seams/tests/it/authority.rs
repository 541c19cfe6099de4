//! The type is the authority: each program in `tests/fail` oversteps one, and does not compile.

#[test]
fn programs_that_overstep_their_authority_do_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/fail/*.rs");
    // What those programs would be if they kept to it: so each fails for its own reason alone.
    cases.pass("tests/pass/*.rs");
}
