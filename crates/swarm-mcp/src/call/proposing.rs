//! Where a person has to agree: what was shown waits on the attention list, and asking again tells what came of it.

use serde_json::json;
use swarm_protocol::api::ApiError;
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::config::Confirm;
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::refusal::Refusal;

use super::doing::sentence;
use super::{Caller, Told, id_of};
use crate::wish::{What, Wish, typed};

/// Lines of a preview that a proposal carries; the dry run has them all.
const SAYS_MAX: usize = 60;
const LINE_MAX: usize = 400;

impl Caller {
    /// What was shown and is wanted now: carried out, put before a person, or refused.
    pub(super) async fn confirmed(&self, wish: Wish, expect: String) -> Result<Told, ApiError> {
        match self.source.beside(|desk| desk.confirm()).await? {
            Confirm::Model => {
                let wish = self.as_shown(wish, expect).await?;
                self.carry_out(wish).await
            }
            Confirm::Person => self.propose(wish, expect).await,
            Confirm::Never => {
                let text = "This is not done over MCP: `mcp.confirm` is never";
                Err(ApiError::new("not_over_mcp", text, ask_the_person(&wish)))
            }
        }
    }

    async fn propose(&self, wish: Wish, expect: String) -> Result<Told, ApiError> {
        if !matches!(wish.what, What::Command(_)) {
            // It ends the ledger that a proposal would wait in.
            let text = "A person has to do this: `mcp.confirm` is person";
            return Err(ApiError::new("person_needed", text, ask_the_person(&wish)));
        }
        let asked_before = self.asked_before(&wish).await?;
        let (wish, says) = match asked_before {
            true => (wish, vec![]),
            false => {
                let (wish, preview) = self.still_as_shown(wish, &expect).await?;
                (wish, lines(&preview))
            }
        };
        let (id, What::Command(command)) = (id_of(wish.id)?, wish.what) else {
            return Err(ApiError::new("bug", "Only commands are proposed", "swarm doctor"));
        };
        let proposal = Command::Propose { command: Box::new(command), says };
        let answer = match self.source.send(id, proposal).await {
            Err(ApiError { refusal: Some(Refusal::AlreadyProposed { id, .. }), message, .. }) => {
                Answer { id, seq: 0, text: message, repeated: true }
            }
            answer => answer?,
        };
        let (text, mut facts) = self.followed(answer.clone()).await?;
        let waits = facts.get("state") == Some(&json!("waits"));
        facts.insert("done".into(), json!(!waits));
        if waits {
            let arguments = json!({ "until": "operation", "operation": answer.id });
            facts.insert("next".into(), json!({ "tool": "swarm_wait", "arguments": arguments }));
        }
        Ok((text, facts))
    }
}

fn ask_the_person(wish: &Wish) -> String {
    let typed = typed(&wish.what).unwrap_or_else(|| "swarm".into());
    format!("Ask the person to run `{typed}`")
}

fn lines(preview: &PreviewView) -> Vec<String> {
    let says = &preview.says;
    let parts = [&says.tasks, &says.commits, &says.work, &says.foreign, &says.stays];
    let mut lines: Vec<String> = parts.into_iter().flatten().cloned().collect();
    let agents = preview.stops.iter().map(|stop| format!("the run {} of task {} stops", stop.run, stop.task));
    lines.extend(agents);
    if lines.is_empty() {
        lines.push(sentence(preview));
    }
    let more = lines.len().saturating_sub(SAYS_MAX);
    lines.truncate(SAYS_MAX);
    lines.iter_mut().for_each(|line| *line = line.chars().take(LINE_MAX).collect());
    lines
        .extend((more > 0).then(|| {
            if more == 1 { "and 1 line more".to_owned() } else { format!("and {more} lines more") }
        }));
    lines
}
