//! The person's own browser.

use std::process::{Command, Stdio};

/// Opens a link, where there is a screen and a program that knows the browser; says what came of it.
pub fn open(url: &str) -> &'static str {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
        return "There is no display here: open the link yourself, from another machine through an SSH tunnel";
    }
    let started = Command::new("xdg-open")
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(mut child) => {
            // It ends when the browser has the link; nobody waits for that.
            std::thread::spawn(move || drop(child.wait()));
            "Opening it in your browser"
        }
        Err(_) => "xdg-open is not installed: open the link yourself",
    }
}
