//! A program as the agent of a task: it comes to its end, and a daemon that is killed takes it along.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::remains;
use super::service::{Part, SLOW};
use super::stage::{GONE_WITHIN, Props, Stage, WITHIN, send};

const PLAN: &str = "# Greet\n\n## Phase 1: words\n- [ ] 1.1 Write hello.txt with a greeting, and commit it\n";

/// The commit is on trunk, and nothing is left running.
pub fn play(props: &Props<'_>, name: &str) -> Result<String> {
    let stage = set_up(props, &format!("{name}-done"), "task")?;
    stage.swarm(&["run", "--agent", name, "--plan", "../plan.md"])?;
    stage.on_trunk("hello.txt", "hello\n")?;
    stage.is_at_rest()?;
    Ok("commit on trunk, nothing left running".into())
}

/// A daemon that is ended while a tool runs takes the tool with it.
pub fn play_killed(props: &Props<'_>, name: &str) -> Result<String> {
    let mut said = Vec::new();
    for signal in ["TERM", "KILL"] {
        let stage = set_up(props, &format!("{name}-{signal}"), "slow_tool")?;
        let home = stage.home();
        let mut run = stage.start_swarm(&["run", "--agent", name, "--plan", "../plan.md"], "run.log")?;
        let tool = remains::wait_for(&home, WITHIN, |command| command == SLOW);
        let daemon = remains::wait_for(&home, GONE_WITHIN, |command| command.contains(" daemon --spec"));
        let (Some(tool), Some(daemon)) = (tool, daemon) else {
            stage.end(&mut run);
            bail!("no tool and daemon within {} s", WITHIN.as_secs());
        };
        send(signal, daemon)?;
        let began = Instant::now();
        while Path::new("/proc").join(tool.to_string()).exists() && began.elapsed() < WITHIN {
            std::thread::park_timeout(Duration::from_millis(20));
        }
        let took = began.elapsed();
        stage.end(&mut run);
        let left = remains::left_after(&home, Duration::from_secs(30), |_| true);
        if !left.is_empty() {
            bail!("left running after {signal}: {left:?}");
        }
        said.push(format!("{signal}: tool gone after {:.1} s", took.as_secs_f64()));
    }
    Ok(said.join(", "))
}

fn set_up<'a>(props: &'a Props<'a>, scene: &str, scenario: &'static str) -> Result<Stage<'a>> {
    let stage = Stage::set_up(props, scene, &[], &Part::Scenario(scenario))?;
    stage.configure(&serde_json::json!({}))?;
    fs::write(stage.folder.join("plan.md"), PLAN)?;
    Ok(stage)
}
