//! G11: what an idle agent costs the coordinator, and what its daemon costs on its own.

use anyhow::{Result, ensure};
use serde_json::json;
use swarm_sim::bench::report::{Report, Target, median};

use crate::arena::Arena;
use crate::goals::crowd::Crowd;
use crate::readings::{Parts, parts, private_kb, rollup_kb};
use crate::running::daemons_of;
use crate::setting::{ROUNDS, Setting};

const FEW: usize = 8;
const MANY: usize = 64;

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let arena = Arena::new(setting, "g11", 20, json!({}))?;
    let mut crowd = Crowd::new(&arena, MANY)?;
    let few = adopted(&mut crowd, FEW)?;
    let many = adopted(&mut crowd, MANY)?;
    let slopes: Vec<f64> =
        few.iter().zip(&many).map(|(few, many)| (many - few) / (MANY - FEW) as f64).collect();
    let what = format!("kB PSS of the coordinator per silent agent, {FEW} → {MANY}");
    report.judge("G11", &what, &slopes, Target::AtMost(32.0));
    let (few, many) = (median(&few), median(&many));
    report.note("G11", &format!("its memory, without the pages of files, which it shares with the daemons: {few:.0} kB, {many:.0} kB"));
    report.note(
        "G11",
        "100 → 500 cannot be reached: 64 agents are the most, and the socket has 96 places for daemons",
    );
    daemons(&arena, report)
}

/// Memory of coordinators that have done nothing but take so many agents over.
fn adopted(crowd: &mut Crowd<'_>, agents: usize) -> Result<Vec<f64>> {
    crowd.grow_to(agents)?;
    (0..ROUNDS)
        .map(|_| {
            crowd.killed_and_back(agents)?;
            rollup_kb(crowd.coordinator()?, "Pss_Anon")
        })
        .collect()
}

fn daemons(arena: &Arena, report: &mut Report) -> Result<()> {
    let daemons = daemons_of(&arena.root);
    ensure!(daemons.len() >= MANY, "{} daemons of {MANY} live", daemons.len());
    let private: Vec<f64> =
        daemons.iter().filter_map(|pid| private_kb(*pid).ok()).map(|kb| kb / 1024.0).collect();
    report.judge("G11", "MiB private memory of a daemon", &private, Target::AtMost(4.0));
    let each: Vec<Parts> = daemons.iter().filter_map(|pid| parts(*pid, &arena.swarm).ok()).collect();
    let of = |part: fn(&Parts) -> f64| median(&each.iter().map(part).collect::<Vec<_>>());
    report.note(
        "G11",
        &format!(
            "of it relocations {:.0} kB, heap {:.0} kB, stacks {:.0} kB, libraries {:.0} kB, clean pages {:.0} kB",
            of(|p| p.relocations),
            of(|p| p.heap),
            of(|p| p.stacks),
            of(|p| p.libraries),
            of(|p| p.clean),
        ),
    );
    Ok(())
}
