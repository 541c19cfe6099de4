//! Which tests a source file has.

use std::collections::BTreeMap;
use std::str::FromStr as _;

use proc_macro2::{TokenStream, TokenTree};

/// The tests of a file by name; the value says whether the test runs (is not `#[ignore]`d).
pub type Tests = BTreeMap<String, bool>;

/// Finds every function under an attribute that ends in `test` (`#[test]`, `#[tokio::test(…)]`),
/// inside modules and macros such as `proptest!` too. Comments and texts do not count.
///
/// # Errors
/// When the source is no Rust.
pub fn tests_of(source: &str) -> Result<Tests, String> {
    let tokens = TokenStream::from_str(source).map_err(|error| error.to_string())?;
    let mut tests = Tests::new();
    walk(tokens, &mut tests);
    Ok(tests)
}

/// The attributes above the item that is being read.
#[derive(Default)]
struct Above {
    test: bool,
    ignored: bool,
}

fn walk(tokens: TokenStream, tests: &mut Tests) {
    let mut above = Above::default();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                if let Some(TokenTree::Group(group)) = tokens.next() {
                    above.note(group.stream());
                }
            }
            TokenTree::Ident(word) if word == "fn" => {
                if let Some(TokenTree::Ident(name)) = tokens.next()
                    && above.test
                {
                    tests.insert(name.to_string(), !above.ignored);
                }
                above = Above::default();
            }
            TokenTree::Group(group) => walk(group.stream(), tests),
            TokenTree::Punct(punct) if punct.as_char() == ';' => above = Above::default(),
            _ => {}
        }
    }
}

impl Above {
    /// `test`, `tokio :: test (…)`, `ignore = "…"`.
    fn note(&mut self, attribute: TokenStream) {
        let mut last = String::new();
        for token in attribute {
            match token {
                TokenTree::Ident(word) => last = word.to_string(),
                TokenTree::Punct(punct) if punct.as_char() == ':' => {}
                _ => break,
            }
        }
        self.test |= last == "test";
        self.ignored |= last == "ignore";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_wherever_they_stand_and_nothing_else_is() {
        let source = r##"
            #[test]
            fn plain() {}
            #[tokio::test(flavor = "multi_thread")]
            async fn awaited() {}
            mod inner { #[cfg(test)] #[test] pub fn nested() {} }
            proptest::proptest! {
                #![proptest_config(Config::with_cases(512))]
                /// A law.
                #[test]
                fn law(n in 0..3) { assert!(n < 3) }
            }
            #[test] #[ignore = "slow"] fn skipped() {}
            // #[test] fn commented() {}
            const TEXT: &str = "#[test] fn quoted() {}";
            #[cfg(test)]
            fn a_part_of_tests() {}
            fn no_test() {}
        "##;
        let tests = tests_of(source).unwrap();
        let wanted = [("awaited", true), ("law", true), ("nested", true)];
        let wanted = wanted
            .into_iter()
            .chain([("plain", true), ("skipped", false)]);
        let wanted: Tests = wanted.map(|(name, runs)| (name.to_owned(), runs)).collect();
        assert_eq!(tests, wanted);
    }

    #[test]
    fn a_file_that_is_no_rust_is_an_error() {
        assert!(tests_of("fn broken( {").is_err());
    }
}
