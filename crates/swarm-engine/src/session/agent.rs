//! Which profile tasks are granted under: the one that is asked for now, the one that was chosen for this plan before, or the
//! configured one.

use swarm_protocol::config::Config;
use swarm_protocol::policy::Policy;

use crate::coordinator::Outfit;

/// The profile, and whether it is a choice for later runs too. One that the configuration names anyway is no choice: from
/// then on the configuration counts again.
pub(super) fn of(
    wished: Option<&str>,
    last: &Policy,
    config: &Config,
    note: &dyn Fn(&str),
) -> (String, bool) {
    let configured = config.agent.as_str();
    if let Some(wished) = wished {
        return (wished.into(), wished != configured);
    }
    let chosen = last.profile.as_str();
    if !last.profile_chosen || chosen == configured {
        return (configured.into(), false);
    }
    if Outfit::of(config, chosen).is_err() {
        note(&format!(
            "The profile {chosen}, chosen before, is not configured any more; {configured} is used"
        ));
        return (configured.into(), false);
    }
    note(&format!("Agents run {chosen}, as chosen before; `swarm run --agent {configured}` changes that"));
    (chosen.into(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_holds_until_another_one_or_the_configured_one_is_made() {
        let config = Config { agent: "claude".into(), ..Config::default() };
        let after = |(profile, profile_chosen): (String, bool)| Policy {
            profile,
            profile_chosen,
            ..Policy::default()
        };
        let of = |wished, last: &Policy| of(wished, last, &config, &|_| {});
        let first = after(of(None, &Policy::default()));
        assert_eq!((first.profile.as_str(), first.profile_chosen), ("claude", false));
        let chosen = after(of(Some("script"), &first));
        assert_eq!(of(None, &chosen), ("script".into(), true));
        assert_eq!(of(Some("codex"), &chosen), ("codex".into(), true));
        assert_eq!(of(Some("claude"), &chosen), ("claude".into(), false));
        let gone = Policy { profile: "of-long-ago".into(), profile_chosen: true, ..Policy::default() };
        assert_eq!(of(None, &gone), ("claude".into(), false));
    }
}
