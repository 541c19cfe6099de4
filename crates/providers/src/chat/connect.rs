//! The HTTP client of one server.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Url};
use rustls::{ClientConfig, RootCertStore};

use super::{Options, Server};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// Why a server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The address is none.
    #[error("{url:?} is not an address: {why}; write it like http://127.0.0.1:8000/v1")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The key cannot stand in a header.
    #[error("the key in {variable} holds characters that no key has")]
    Key {
        /// Where it was read from.
        variable: String,
    },
    /// The HTTP client cannot be made.
    #[error("cannot prepare the HTTP client: {0}")]
    Client(#[from] reqwest::Error),
    /// The same of its encryption.
    #[error("cannot prepare TLS: {0}")]
    Tls(#[from] rustls::Error),
}

/// Where requests go. The key travels in a header, so an address with one in it is refused.
pub(super) fn endpoint(base: &str) -> Result<Url, BuildError> {
    let wrong = |why: &str| BuildError::Url {
        url: base.to_owned(),
        why: why.to_owned(),
    };
    let mut url = Url::parse(base).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("it begins with neither http:// nor https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BuildError::Url {
            url: "[an address with a password]".to_owned(),
            why: "a key belongs into a variable, named by `key_env`".to_owned(),
        });
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("it has a `?` or `#`"));
    }
    let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

pub(super) fn server(options: Options) -> Result<Server, BuildError> {
    let url = endpoint(&options.base_url)?;
    let mut headers = HeaderMap::new();
    if let Some(key) = &options.key {
        let Some(header) = key.header() else {
            let variable = key.variable.clone();
            return Err(BuildError::Key { variable });
        };
        headers.insert(reqwest::header::AUTHORIZATION, header);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let mut builder = Client::builder()
        .user_agent(concat!("seamline/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .connect_timeout(CONNECT)
        .redirect(Policy::none());
    if url.scheme() == "http" {
        // No certificate is needed, and there may be none on this machine.
        builder = builder.tls_backend_preconfigured(without_roots()?);
    } else {
        // Somebody else may have chosen already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    if is_loopback(&url) {
        builder = builder.no_proxy();
    }
    Ok(Server {
        client: builder.build()?,
        url,
        options,
    })
}

fn without_roots() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth())
}

/// A proxy has no business between us and our own machine.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

impl Server {
    pub(super) fn post(&self, body: &[u8]) -> RequestBuilder {
        self.client.post(self.url.clone()).body(body.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An address is used as it was meant, or refused with what is wrong, without showing a secret.
    #[test]
    fn addresses_are_checked() {
        for base in ["http://h:1/v1", "http://h:1/v1/"] {
            let url = endpoint(base).unwrap();
            assert_eq!(url.as_str(), "http://h:1/v1/chat/completions");
        }
        for (base, why) in [
            ("localhost:11434/v1", "neither http"),
            ("/v1", "relative"),
            ("ftp://h/v1", "neither http"),
            ("http://h/v1?key=1", "`?`"),
            ("http://me:secret@h/v1", "key_env"),
        ] {
            let error = endpoint(base).unwrap_err().to_string();
            assert!(
                error.contains(why) && !error.contains("secret"),
                "{base}: {error}"
            );
        }
    }

    /// What is meant for this machine goes to no proxy.
    #[test]
    fn our_own_machine_is_recognised() {
        let is = |base: &str| is_loopback(&endpoint(base).unwrap());
        assert!(is("http://127.0.0.1:1") && is("http://localhost:1") && is("http://[::1]:1"));
        assert!(!is("http://localhost.example.org") && !is("http://10.0.0.1"));
    }
}
