//! What people may ask in a place.

use swarm_core::stage::Stage;
use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::{Gate, Mode, PauseReason};
use swarm_protocol::plan::{ExecutionProfile, TaskPatch, TaskSpec};
use swarm_protocol::review::{ReviewNote, Verdict};

use super::{Alphabet, Place, task_id};
use crate::operations;
use crate::reports::oid;

impl Place {
    /// Everything people may ask here.
    pub fn wishes(&self) -> Vec<Command> {
        if let Some(cut) = self.alphabet.operations {
            return operations::wishes(cut);
        }
        let mut all = Vec::new();
        // What else people do to a task and its parts is seen in the other models.
        for task in self.state.tasks.keys().cloned() {
            if self.alphabet.splits {
                all.extend([
                    Command::UnblockTask { task: task.clone() },
                    Command::CancelTask { task: task.clone() },
                ]);
                continue;
            }
            all.extend([
                Command::BlockTask { task: task.clone(), reason: "wait".into() },
                Command::UnblockTask { task: task.clone() },
                Command::DeferTask { task: task.clone() },
                Command::CancelTask { task: task.clone() },
                Command::StopAgent { task: task.clone() },
            ]);
            if self.alphabet.waivers {
                let waive = |gate| Command::WaiveGate { task: task.clone(), gate, reason: "seen".into() };
                all.extend([waive(Gate::Check), waive(Gate::Verify)]);
                let Alphabet { reviews, people_review, agent_reviews, council, protected, .. } =
                    self.alphabet;
                let reviewed = reviews || people_review || agent_reviews || council || protected;
                all.extend(reviewed.then(|| waive(Gate::Review)));
            }
            if self.alphabet.scans {
                let (gate, reason) = (Gate::Scan, String::from("seen"));
                all.push(Command::WaiveGate { task: task.clone(), gate, reason });
            }
            if self.alphabet.people_review || self.alphabet.protected {
                all.extend(self.verdicts(&task));
            }
            if self.alphabet.by_hand {
                let (base, tip, tree) = (oid('a'), oid('b'), oid('d'));
                all.push(Command::SubmitWork { task: task.clone(), base, tip, tree });
                all.push(Command::StartTasks { tasks: vec![task.clone()] });
            }
            if self.alphabet.plan {
                all.push(Command::EditTask { task: task.clone(), patch: TaskPatch::default() });
                all.push(Command::RemoveTask { task: task.clone() });
                all.push(Command::MoveTask { task, after: None, phase: None });
            }
        }
        if self.alphabet.proofs {
            let (task, reason) = (task_id("a"), String::from("seen"));
            all.extend([Command::Retry, Command::AcceptTask { task, reason }]);
        }
        self.wishes_of_recovery(&mut all);
        if self.alphabet.by_hand {
            all.push(Command::StartTasks { tasks: vec![] });
            all.extend(Mode::ALL.map(|mode| Command::SetMode { mode }));
        }
        all.extend(self.alphabet.bases.then_some(Command::Resume { reason: PauseReason::Checks }));
        all.extend([PauseReason::Trunk, PauseReason::Setup].map(|reason| Command::Resume { reason }));
        if self.alphabet.stops {
            all.push(Command::Pause { reason: PauseReason::User, why: "lunch".into(), force: false });
            all.push(Command::Resume { reason: PauseReason::User });
            all.extend((!self.alphabet.reviews).then(|| Command::Pause {
                reason: PauseReason::Close,
                why: "close".into(),
                force: true,
            }));
            all.push(Command::Drain { why: "Ctrl+C".into() });
        }
        if self.alphabet.plan {
            all.extend([Command::ResetPlan, Command::LockProfile, Command::CompletePhase { phase: 1 }]);
            all.push(Command::SetProfile { profile: ExecutionProfile::default() });
        }
        all
    }

    /// Of what was submitted, and of something else.
    fn verdicts(&self, task: &TaskId) -> Vec<Command> {
        let submitted = match self.state.task(task).map(|task| &task.stage) {
            Some(Stage::Review { tip, .. }) => tip.clone(),
            _ => oid('b'),
        };
        let note = ReviewNote { text: "not yet".into(), ..ReviewNote::default() };
        let changes = Verdict::NeedsChanges { notes: vec![note] };
        let approve = |tip| Verdict::Approve { tip, left_out: None };
        let verdicts = [approve(submitted), approve(oid('e')), changes];
        verdicts.map(|verdict| Command::Review { task: task.clone(), verdict }).into()
    }

    /// What people may ask about quota, agents, budgets and parts.
    fn wishes_of_recovery(&self, all: &mut Vec<Command>) {
        let first = task_id("a");
        let degraded = self.state.agents.iter().filter(|(_, agent)| agent.degraded.is_some());
        if self.alphabet.quota {
            all.push(Command::OpenQuota { group: "one".into() });
            all.push(Command::HoldQuota { group: "one".into() });
        }
        if self.alphabet.denials {
            all.extend(degraded.map(|(id, _)| Command::ReviveAgent { agent: id.clone() }).take(1));
            let waiting = self.state.task(&first).map_or(0, |t| t.messages.len());
            if waiting == 0 {
                all.push(Command::MessageAgent { task: first.clone(), text: "use the old parser".into() });
            }
        }
        if self.alphabet.budgets {
            all.push(Command::ExtendBudget { task: None });
            all.push(Command::ExtendBudget { task: Some(first.clone()) });
        }
        if self.alphabet.splits {
            let parts = ["x", "y"].map(|id| TaskSpec::new(task_id(id), "a part"));
            all.push(Command::SplitTask { task: first, parts: parts.into(), planning: None });
        }
    }
}
