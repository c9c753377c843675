//! The whole process `swarm script-agent`: prompt on stdin, exit code at the end.

use std::io::Read;

use super::perform::{Surroundings, run};

/// A prompt is never longer than a frame of the work channel.
const PROMPT_MAX: u64 = swarm_protocol::channel::FRAME_MAX as u64;

/// The world around the agent is not as it must be.
const EXIT_NO_WORLD: u8 = 3;

/// Reads the prompt and plays it.
pub fn script_agent_process() -> u8 {
    match play() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("Cannot play the script: {error}");
            EXIT_NO_WORLD
        }
    }
}

fn play() -> std::io::Result<u8> {
    let mut prompt = String::new();
    std::io::stdin().take(PROMPT_MAX).read_to_string(&mut prompt)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { Ok(run(&prompt, &Surroundings::from_env()?).await) })
}
