//! `*` as the files to watch.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::dialect::{DialectId, Subject};

pub(super) const RULE: Rule = Rule {
    code: "watches-nothing",
    about: "FileChanged watches the files its matchers name. `*` names a file called `*`.",
    check: Check::Group(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let star = look.is(DialectId::Claude)
        && matches!(look.row.subject, Subject::BaseName(_))
        && look.handler.matcher.as_deref() == Some("*");
    let message = format!("{} with matcher `*` watches no file", look.row.name);
    let remark = Remark::warning(At::Matcher, message).help("name the files: `.envrc|.env`");
    star.then_some(remark).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, command};
    use super::*;

    #[test]
    fn only_the_star_of_file_changed_is_reported() {
        assert_eq!(
            claude(RULE.code, "FileChanged", "*", &command("x")).len(),
            1
        );
        assert_eq!(
            claude(RULE.code, "FileChanged", ".env|.envrc", &command("x")),
            [""; 0]
        );
        assert_eq!(claude(RULE.code, "PreToolUse", "*", &command("x")), [""; 0]);
    }
}
