//! What agents are told besides their task: learnings and prompts.

use swarm_agents::learnings::LearningFiles;
use swarm_agents::prompts::Prompts;
use swarm_protocol::deed::{LearningsView, PromptView};

use super::{ByHandError, Hands};

impl Hands {
    /// What agents found worth remembering, for all and by name.
    pub fn learnings(&self) -> LearningsView {
        let (all, personas) = LearningFiles::new(&self.paths.swarm).everything();
        LearningsView { all, personas }
    }

    /// The templates in force: the team's own, else those that are built in.
    pub fn prompts(&self) -> Result<Vec<PromptView>, ByHandError> {
        let folder = self.paths.swarm.join("prompts");
        let texts = Prompts::texts(&folder)
            .map_err(|error| ByHandError::environment(error.to_string()).say("Put the template right"))?;
        let view = |(name, text, own): (&str, String, bool)| PromptView {
            name: name.into(),
            path: self.shown(&folder.join(name)),
            own,
            text,
        };
        Ok(texts.into_iter().map(view).collect())
    }
}
