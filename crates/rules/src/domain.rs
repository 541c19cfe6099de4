//! `WebFetch(domain:host)`: the host of a URL.

use crate::answer::Verdict;
use crate::call::Call;
use crate::error::Problem;
use crate::parse::Located;
use crate::wildcard::Wildcard;

/// The host part of a `domain:` specifier, in lower case, without a trailing dot.
///
/// Host names are compared without regard to case and to a trailing dot. A leading `*.` is any
/// subdomain at any depth, not the domain itself; `domain:*` is every host; any other `*` stays
/// within one label (all documented).
///
/// Only plain `scheme://host` URLs are read. One that a browser would repair first (control
/// characters, a missing `//`, percent signs in the host) gives `Unknown`, so that it can slip
/// through neither a deny rule nor an allow rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainPattern(String);

impl DomainPattern {
    pub(crate) fn parse(content: &str) -> Located<Self> {
        let Some((field, host)) = content.split_once(':') else {
            return Err((0, Problem::NotADomain));
        };
        if field.trim() != "domain" {
            return Err((0, Problem::NotADomain));
        }
        let start = content.len() - host.trim_start().len();
        let host = host.trim();
        let bad = host
            .char_indices()
            .find(|(_, c)| !(in_host(*c) || *c == '*'));
        if let Some((at, c)) = bad {
            return Err((start + at, Problem::HostCharacter(c)));
        }
        let host = plain(host);
        if host.is_empty() {
            return Err((start, Problem::NotADomain));
        }
        Ok(Self(host))
    }

    /// The pattern.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `host` is in lower case and without a trailing dot.
    fn matches(&self, host: &str) -> bool {
        if self.0 == "*" {
            return true;
        }
        if let Some(base) = self.0.strip_prefix("*.") {
            let labels = host.match_indices('.').map(|(dot, _)| dot);
            return labels
                .filter_map(|dot| host.get(dot + 1..))
                .any(|rest| same(base, rest));
        }
        same(&self.0, host)
    }
}

/// Label by label, `*` within a label.
fn same(pattern: &str, host: &str) -> bool {
    let (mut wanted, mut found) = (pattern.split('.'), host.split('.'));
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return true,
            (Some(w), Some(f)) if Wildcard::new(w).matches(f) => {}
            _ => return false,
        }
    }
}

pub(crate) fn verdict(pattern: &DomainPattern, call: &Call<'_>) -> Verdict {
    let Some(url) = call.text("url") else {
        return Verdict::unknown("the call has no `url`");
    };
    match host(url) {
        None => Verdict::unknown(format!("the host of `{url}` cannot be read for certain")),
        Some(host) if pattern.matches(&host) => {
            Verdict::yes(format!("`{host}` fits `{}`", pattern.0))
        }
        Some(host) => Verdict::no(format!("`{host}` does not fit `{}`", pattern.0)),
    }
}

fn in_host(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')
}

fn plain(host: &str) -> String {
    let host = host.to_lowercase();
    host.strip_suffix('.').unwrap_or(&host).to_owned()
}

/// The host of a URL that needs no repair.
fn host(url: &str) -> Option<String> {
    if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    if scheme.is_empty()
        || !scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '+')
    {
        return None;
    }
    // A browser reads `\` as `/`.
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let address = authority
        .rsplit_once('@')
        .map_or(authority, |(_, address)| address);
    let host = match address.split_once(':') {
        Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => host,
        Some(_) => return None,
        None => address,
    };
    let host = plain(host);
    (!host.is_empty() && host.chars().all(in_host) && !odd_address(&host)).then_some(host)
}

/// An address a browser would rewrite, such as `0x7f.1` for `127.0.0.1`: the last label is a
/// number, and the whole is not four of them.
fn odd_address(host: &str) -> bool {
    let numeric = |label: &str| label.starts_with(|c: char| c.is_ascii_digit());
    let octet = |label: &str| label.parse::<u8>().is_ok_and(|n| n.to_string() == label);
    let last = host.rsplit('.').next().unwrap_or_default();
    numeric(last) && !(host.split('.').count() == 4 && host.split('.').all(octet))
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn a_host_is_read_only_from_a_url_that_needs_no_repair() {
        for (url, expected) in [
            ("https://example.com/a", Some("example.com")),
            ("https://EXAMPLE.com.:8080?q", Some("example.com")),
            ("https://good.com@evil.com/", Some("evil.com")),
            ("https://evil.com\\@good.com/", Some("evil.com")),
            ("https://u:p@h.org#x", Some("h.org")),
            ("example.com", None),
            ("https:example.com", None),
            ("https:///example.com", None),
            ("https://ex%61mple.com/", None),
            ("https://exa\tmple.com/", None),
            ("https://[::1]/", None),
            ("https://h:80x/", None),
            ("https://exämple.com/", None),
            ("://h", None),
            ("http://127.0.0.1/", Some("127.0.0.1")),
            ("http://0x7f.1/", None),
            ("http://127.0.0.01/", None),
            ("http://7up.com/", Some("7up.com")),
        ] {
            assert_eq!(host(url).as_deref(), expected, "{url}");
        }
    }
}
