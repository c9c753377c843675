//! What the programs have used, by program and model: both are the configuration's words.

use std::collections::BTreeMap;

use swarm_protocol::failure::Usage;
use swarm_protocol::policy::Policy;

use super::float;
use super::page::Page;

#[derive(Debug, Clone, Default)]
pub(super) struct Programs {
    /// Of work that names none.
    pub profile: String,
    /// Program and model of each profile.
    of: BTreeMap<String, (String, String)>,
    used: BTreeMap<(String, String), Usage>,
}

impl Programs {
    /// What is configured now. It is shown from here on, also where nothing was used: a rate needs the zero.
    pub fn know(&mut self, policy: &Policy) {
        self.profile.clone_from(&policy.profile);
        for rule in &policy.profiles {
            let program = if rule.program.is_empty() { &rule.name } else { &rule.program };
            let runs = (program.clone(), rule.model.clone().unwrap_or_default());
            self.of.insert(rule.name.clone(), runs);
        }
        for profile in self.profiles() {
            self.used.entry(self.runs(&profile)).or_default();
        }
    }

    pub fn profiles(&self) -> Vec<String> {
        let named =
            [&self.profile].into_iter().filter(|name| !name.is_empty() && !self.of.contains_key(*name));
        self.of.keys().chain(named).cloned().collect()
    }

    pub fn used(&mut self, profile: &str, usage: Usage) {
        let used = self.used.entry(self.runs(profile)).or_default();
        *used = used.plus(usage);
    }

    /// A program's own name is a profile, too.
    fn runs(&self, profile: &str) -> (String, String) {
        self.of.get(profile).cloned().unwrap_or_else(|| (profile.to_owned(), String::new()))
    }

    pub fn show(&self, page: &mut Page) {
        for ((program, model), used) in &self.used {
            let Usage { input_tokens, output_tokens, cached_tokens, .. } = *used;
            for (kind, many) in
                [("input", input_tokens), ("output", output_tokens), ("cached", cached_tokens)]
            {
                let labels = [("program", program.as_str()), ("model", model), ("type", kind)];
                page.one("swarm_tokens_total", &labels, float(many));
            }
        }
        for ((program, model), used) in &self.used {
            page.one("swarm_cost_usd_total", &[("program", program), ("model", model)], dollars(used));
        }
    }
}

pub(super) fn dollars(usage: &Usage) -> f64 {
    float(usage.cost_micros) / 1_000_000.0
}
