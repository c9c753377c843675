//! Who reviews in this run where no task and no tag says: whom the person asks for now, whom they chose for this plan before,
//! or whom the configuration names.

use swarm_protocol::config::Config;
use swarm_protocol::policy::Policy;
use swarm_protocol::review::Reviewer;

/// The choice for this run; none: the configuration decides. A later run begins with it too, as long as the configuration
/// names nobody: what somebody wrote there since is meant.
pub(super) fn of(
    wished: Option<Reviewer>,
    last: &Policy,
    config: &Config,
    note: &dyn Fn(&str),
) -> Option<Reviewer> {
    let configured = config.reviewer();
    let names_somebody = config.review.policy.is_some() || config.review.profile.is_some();
    let chosen = match wished {
        Some(wished) => Some(wished),
        None => last.reviewer.filter(|_| last.reviewer_chosen && !names_somebody),
    };
    let chosen = chosen.filter(|by| *by != configured);
    if chosen.unwrap_or(configured) == Reviewer::Command && config.review.commands.is_empty() {
        note(
            "Commands are to review, and the configuration has none (`review.commands`): finished work waits for `swarm review approve`",
        );
    }
    match chosen {
        Some(by) if wished.is_none() => note(&format!(
            "Reviewer is {}, as chosen before; `swarm run --review {}` changes that",
            by.word(),
            configured.word()
        )),
        None if !names_somebody && wished.is_none() => note(
            "Nobody else is configured to review: finished work waits for `swarm review approve` (see `swarm help run`, --review)",
        ),
        _ => {}
    }
    chosen
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn config(text: &str) -> Config {
        crate::settings::of_text(text).expect("a configuration").config
    }

    /// Who reviews then, and what the person is told.
    fn of_run(wished: Option<Reviewer>, last: &Policy, config: &Config) -> (Policy, String) {
        let said = RefCell::new(String::new());
        let chosen = of(wished, last, config, &|text| said.borrow_mut().push_str(text));
        let mut config = config.clone();
        config.review.policy = chosen.or(config.review.policy);
        (Policy { reviewer_chosen: chosen.is_some(), ..config.policy() }, said.into_inner())
    }

    #[test]
    fn a_person_reviews_until_somebody_else_or_nobody_is_named() {
        let by = |text: &str| config(text).policy().reviewer;
        assert_eq!(by("{}"), Some(Reviewer::Human));
        assert_eq!(by(r#"{"review": {"commands": ["true"]}}"#), Some(Reviewer::Human));
        assert_eq!(by(r#"{"review": {"profile": "claude"}}"#), Some(Reviewer::Agent));
        assert_eq!(by(r#"{"review": {"policy": "none", "profile": "claude"}}"#), Some(Reviewer::None));
        assert_eq!(by(r#"{"review": {"policy": "command", "commands": ["true"]}}"#), Some(Reviewer::Command));
    }

    #[test]
    fn commands_review_where_there_are_any_and_else_the_person_is_told_that_they_have_to() {
        let (with, said) = of_run(
            None,
            &Policy::default(),
            &config(r#"{"review": {"policy": "command", "commands": ["true"]}}"#),
        );
        assert_eq!((with.reviews, with.review_commands, said.as_str()), (true, true, ""));
        let (without, said) =
            of_run(None, &Policy::default(), &config(r#"{"review": {"policy": "command"}}"#));
        assert_eq!((without.reviews, without.review_commands), (false, false));
        assert!(said.contains("swarm review approve"), "{said}");
        let (wished, said) = of_run(Some(Reviewer::Command), &Policy::default(), &config("{}"));
        assert!(!wished.reviews && said.contains("`review.commands`"), "{said}");
    }

    #[test]
    fn a_choice_of_reviewer_holds_until_another_one_is_made_or_the_configuration_names_one() {
        let plain = config("{}");
        let (first, said) = of_run(None, &Policy::default(), &plain);
        assert_eq!((first.reviewer, first.reviewer_chosen), (Some(Reviewer::Human), false));
        assert!(said.contains("swarm review approve"), "{said}");
        let (chosen, said) = of_run(Some(Reviewer::None), &first, &plain);
        assert_eq!(
            (chosen.reviewer, chosen.reviewer_chosen, said.as_str()),
            (Some(Reviewer::None), true, "")
        );
        let (again, said) = of_run(None, &chosen, &plain);
        assert_eq!((again.reviewer, again.reviewer_chosen), (Some(Reviewer::None), true));
        assert!(said.contains("as chosen before; `swarm run --review human`"), "{said}");
        let (back, _) = of_run(Some(Reviewer::Human), &again, &plain);
        assert_eq!((back.reviewer, back.reviewer_chosen), (Some(Reviewer::Human), false));
        let (written, _) = of_run(None, &chosen, &config(r#"{"review": {"profile": "claude"}}"#));
        assert_eq!((written.reviewer, written.reviewer_chosen), (Some(Reviewer::Agent), false));
    }
}
