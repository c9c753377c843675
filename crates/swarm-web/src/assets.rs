//! The pages, as they were built into the program.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

/// Path and bytes of each file.
static PAGES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

const INDEX: &str = "/index.html";

/// The file at a path. Whatever is none, and not where files lie, is a place within the pages, which find their way
/// themselves: names of tasks and checkpoints may look like those of files.
pub fn page(path: &str) -> Option<Response> {
    let file = |wanted: &str| PAGES.iter().find(|(name, _)| *name == wanted);
    let (name, bytes) = match file(path) {
        None if !path.starts_with("/assets/") => file(INDEX)?,
        found => found?,
    };
    let mut response = Response::new(Body::from(*bytes));
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
    // The build puts a hash of the contents into these names: another content has another name.
    if name.starts_with("/assets/") {
        let for_ever = HeaderValue::from_static("public, max-age=31536000, immutable");
        headers.insert(header::CACHE_CONTROL, for_ever);
    }
    Some(response)
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "webmanifest" | "json" | "map" => "application/json",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_the_page_and_files_are_themselves_or_nothing() {
        for place in ["/", "/board", "/tasks/1.2", "/checkpoints/before-merge-1.2", "/../Cargo.toml"] {
            let page = page(place).expect("the page");
            assert_eq!(page.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8", "{place}");
            assert!(page.headers().get(header::CACHE_CONTROL).is_none(), "a new build is seen at once");
        }
        assert!(page("/assets/nothing.js").is_none());
        let hashed = PAGES.iter().find(|(name, _)| name.starts_with("/assets/")).expect("an asset").0;
        let cached = page(hashed).expect("it").headers()[header::CACHE_CONTROL].clone();
        assert!(cached.to_str().expect("text").contains("immutable"));
    }
}
