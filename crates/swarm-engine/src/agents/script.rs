//! The scripted agent: a real program that does what the fenced block ```` ```script ```` of its prompt
//! says, line by line. It edits, commits, prints, fails, hangs and crashes on cue.

mod parse;
mod perform;
mod entry;

pub use entry::script_agent_process;
pub use parse::{BadLine, Line, Step, script_in};
pub use perform::{EXIT_BAD_SCRIPT, Surroundings, run};
