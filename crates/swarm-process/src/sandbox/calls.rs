//! System calls that no program of a run needs, refused by seccomp: those that reach processes, the kernel or a terminal
//! beside the walls, and those that would get around them.

mod filters;
mod lists;

use seccompiler::apply_filter;

/// What is refused besides what is always refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// Every socket that leads to another machine. For where there is no network namespace to do it.
    pub network: bool,
}

/// Restricts this thread and all that it starts. Cannot be undone.
pub fn refuse(refused: Refused) -> Result<(), String> {
    for filter in filters::all(refused).map_err(|error| error.to_string())? {
        apply_filter(&filter).map_err(|error| error.to_string())?;
    }
    Ok(())
}
