//! What a request must look like before anything is done about it, and what every answer carries.
//!
//! A page of another site can make the browser send requests here, and a name of its own can lead here. It can choose
//! neither Host nor Origin nor Sec-Fetch-Site, and no form of it can send JSON or a header of ours.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use axum::response::Response;
use swarm_server::api::Fault;

/// Says that a page of ours asks: no form of another site can send it.
pub const WEB_HEADER: &str = "swarm-web";

const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'";

fn refused(kind: &str, message: impl Into<String>, hint: &str) -> Fault {
    Fault::new(StatusCode::FORBIDDEN, kind, message, hint)
}

/// The name that the browser thinks it speaks to must be one of ours: a name of another site that leads here is not.
pub fn host_is_ours<B>(request: &Request<B>, port: u16) -> Result<(), Fault> {
    let hint = "Open the link that `swarm web` prints";
    let mut named = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (named.next(), named.next()) else {
        return Err(refused("wrong_host", "The request must name one host", hint));
    };
    let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")];
    let is_ours = |name: &[u8]| ours.iter().any(|own| own.as_bytes() == name);
    let in_target =
        request.uri().authority().is_none_or(|authority| authority.as_str().as_bytes() == host.as_bytes());
    if is_ours(host.as_bytes()) && in_target {
        return Ok(());
    }
    Err(refused("wrong_host", "This name does not belong to the swarm", hint))
}

/// What the browser says about where a request comes from, where it says so.
pub fn comes_from_us<B>(request: &Request<B>, is_page: bool) -> Result<(), Fault> {
    let headers = request.headers();
    let said = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
    let is_typed =
        || is_page && request.method() == Method::GET && said("sec-fetch-mode") == Some(b"navigate");
    match said("sec-fetch-site") {
        None | Some(b"same-origin") => Ok(()),
        Some(b"none") if is_typed() => Ok(()),
        Some(_) => Err(refused(
            "cross_site",
            "The request comes from a page of another site",
            "Open the link that `swarm web` prints in a new tab",
        )),
    }
}

/// For whatever changes something or opens a live connection. To be asked after the host.
pub fn origin_is_ours(headers: &HeaderMap) -> Result<(), Fault> {
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes).unwrap_or_default();
    let origin = headers.get(header::ORIGIN).map(HeaderValue::as_bytes).unwrap_or_default();
    if origin.strip_prefix(b"http://").is_some_and(|origin| origin == host) {
        return Ok(());
    }
    let hint = "Only pages of the web UI may request this";
    Err(refused("wrong_origin", "The request comes from another origin, or names none", hint))
}

/// For every request with a body.
pub fn is_of_a_page(headers: &HeaderMap) -> Result<(), Fault> {
    origin_is_ours(headers)?;
    if headers.get(WEB_HEADER).is_some_and(|value| value == "1") {
        return Ok(());
    }
    Err(refused("no_web_header", "The header Swarm-Web is missing", "Send the header Swarm-Web: 1"))
}

/// What every answer carries, whatever it is.
pub fn clothed(mut response: Response) -> Response {
    let fixed: [(HeaderName, &'static str); 5] = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    let headers = response.headers_mut();
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(uri: &str, headers: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).expect("a request")
    }

    #[test]
    fn only_three_names_with_our_port_are_ours() {
        for host in ["127.0.0.1:7717", "localhost:7717", "[::1]:7717"] {
            assert!(host_is_ours(&asked("/", &[("host", host)]), 7717).is_ok(), "{host}");
        }
        for host in [
            "127.0.0.1",
            "127.0.0.1:7718",
            "evil.test:7717",
            "localhost.evil.test:7717",
            "127.0.0.1:7717.evil.test",
            "",
        ] {
            assert!(host_is_ours(&asked("/", &[("host", host)]), 7717).is_err(), "{host}");
        }
        assert!(host_is_ours(&asked("/", &[]), 7717).is_err());
        let twice = [("host", "127.0.0.1:7717"), ("host", "evil.test")];
        assert!(host_is_ours(&asked("/", &twice), 7717).is_err());
        let through = asked("http://evil.test/", &[("host", "127.0.0.1:7717")]);
        assert!(host_is_ours(&through, 7717).is_err());
    }

    #[test]
    fn what_is_typed_is_a_page_and_nothing_else() {
        let typed = asked("/", &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")]);
        assert!(comes_from_us(&typed, true).is_ok());
        assert!(comes_from_us(&typed, false).is_err());
        let fetched = asked("/", &[("sec-fetch-site", "none"), ("sec-fetch-mode", "cors")]);
        assert!(comes_from_us(&fetched, true).is_err());
        for site in ["cross-site", "same-site", "x"] {
            let foreign = asked("/", &[("sec-fetch-site", site), ("sec-fetch-mode", "navigate")]);
            assert!(comes_from_us(&foreign, true).is_err(), "{site}");
        }
        assert!(comes_from_us(&asked("/v1/board", &[("sec-fetch-site", "same-origin")]), false).is_ok());
    }
}
