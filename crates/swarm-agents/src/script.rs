//! The scripted agent: a real program that does what the fenced block ```` ```script ```` of its prompt
//! says, line by line. It edits, commits, prints, fails, hangs and crashes on cue.

mod parse;
mod perform;
mod call;
mod entry;

pub use entry::script_agent_process;
pub use parse::{BadLine, Line, Step, lines_of, script_in};
pub use perform::{EXIT_BAD_SCRIPT, PROBE_VARIABLE, Surroundings, run};

/// The script that the agent plays when it is only asked whether its service answers: a file in the swarm's folder,
/// whose lines are as in a prompt. Without the file it answers.
pub const PROBE_ANSWER: &str = "script-probe";

/// Says what the program is there for; without it, for work.
pub const ROLE_VARIABLE: &str = "SWARM_ROLE";
/// As whom of a council.
pub const MEMBER_VARIABLE: &str = "SWARM_MEMBER";
/// It is to judge the work of somebody else.
pub const ROLE_REVIEW: &str = "review";
/// It is to make a plan.
pub const ROLE_PLAN: &str = "plan";
/// It is to say what becomes of files in which a revert conflicts.
pub const ROLE_RESOLVE: &str = "resolve";
