//! What executors report of operations, by the words of the scripts: `surveyed c2` finds the merge of the first task on trunk,
//! `saved c2` its checkpoint, `moved c2`; `clashes c2` its reverts conflict and an agent could say more, `unfit c2` nobody could,
//! `refuted c2` what the agent said is red; `resolves c2` `misses c2` `gives-up c2` `uses-up c2` `breaks c2` what came of asking it.

use swarm_core::effect::Key;
use swarm_core::input::{KeyName, Report};
use swarm_core::operation::Step;
use swarm_core::state::State;
use swarm_protocol::failure::{Failure, FailureClass, Usage};
use swarm_protocol::ids::CommandId;
use swarm_protocol::operation::{Moved, Saved, Survey, TrunkCommit};

use super::oid;

pub fn report(state: &State, words: &[&str]) -> Option<Report> {
    let [what, name] = words else { return None };
    let op = CommandId::new(*name).ok()?;
    let conflict = |why: Option<&str>, asks| {
        let (op, paths) = (op.clone(), vec!["src/a.rs".into()]);
        Report::MoveConflict { op, paths, why: why.map(str::to_owned), asks }
    };
    let resolved = |why: Option<&str>, class: Option<FailureClass>| Report::Resolved {
        op: op.clone(),
        why: why.map(str::to_owned),
        failure: class.map(|class| Failure::new(class, "no")),
        usage: Usage { input_tokens: 100, ..Usage::default() },
        stopped: *what == "gives-up",
    };
    Some(match *what {
        "surveyed" => {
            let commit = TrunkCommit { oid: oid('c'), subject: "a".into(), pushed: false, reverts: vec![] };
            let (trunk, now, since) = ("main".into(), Some(oid('e')), vec![commit]);
            let survey = Box::new(Survey { trunk, now, since, ..Survey::default() });
            Report::Surveyed { op, survey }
        }
        "saved" => {
            let Some(Step::Saving { plan }) = state.ops.running.as_ref().map(|running| &running.step) else {
                panic!("nothing is saved");
            };
            let saved = Saved { trunk: Some(oid('e')), ..Saved::default() };
            Report::Saved { name: plan.checkpoint.clone(), saved }
        }
        "moved" if state.ops.running.is_some() => {
            let moved = Moved { trunk: Some(oid('f')), made: vec![oid('f')], ..Moved::default() };
            Report::Moved { op, moved }
        }
        "clashes" => conflict(None, true),
        "unfit" => conflict(None, false),
        "refuted" => conflict(Some("what resolves it fails its verification"), true),
        "resolves" => resolved(None, None),
        "misses" => resolved(Some("it names b.rs, which does not conflict"), None),
        "gives-up" => resolved(Some("it was told to stop"), None),
        "uses-up" => resolved(None, Some(FailureClass::Quota)),
        "breaks" => Report::Broke { key: KeyName::from(&Key::Resolve(op)), why: "the disk is full".into() },
        _ => return None,
    })
}
