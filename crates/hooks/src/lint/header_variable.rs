//! A header that will be empty.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::config::words::variables;
use crate::handler::Action;

pub(super) const RULE: Rule = Rule {
    code: "header-variable-not-allowed",
    about: "Headers may name only the variables in `allowedEnvVars`; any other becomes empty text.",
    check: Check::Each(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let Action::Http {
        headers,
        allowed_env,
        ..
    } = &look.handler.action
    else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    for (header, value) in headers {
        for name in variables(value) {
            if !name.is_empty() && !allowed_env.contains(&name) {
                let message = format!(
                    "`${name}` in header `{header}` becomes empty: it is not in `allowedEnvVars`"
                );
                let help = format!("add \"{name}\" to `allowedEnvVars`");
                remarks.push(Remark::warning(At::Field("headers"), message).help(help));
            }
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::super::trial::claude;
    use super::*;

    #[test]
    fn every_variable_of_a_header_is_looked_up() {
        let handler = |allowed: &str| {
            format!(
                r#"{{"type": "http", "url": "http://h", "allowedEnvVars": [{allowed}],
                    "headers": {{"A": "Bearer $TOK", "B": "${{X}}-$TOK"}}}}"#
            )
        };
        assert_eq!(claude(RULE.code, "Stop", "", &handler("\"TOK\"")).len(), 1);
        assert_eq!(claude(RULE.code, "Stop", "", &handler("")).len(), 3);
        assert_eq!(
            claude(RULE.code, "Stop", "", &handler("\"TOK\", \"X\"")),
            [""; 0]
        );
    }
}
