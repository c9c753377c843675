//! What a profile of the configuration means for the daemon of an attempt.

use swarm_protocol::config::{Config, Profile, SandboxKind};

use swarm_agents::{AgentProgram, AgentSetup};
use swarm_work::daemon::{Guard, SetUp};

/// Everything a daemon has to know about the agent it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outfit {
    /// The name of the profile, or of the program where no profile has that name.
    pub name: String,
    pub setup: AgentSetup,
    pub guard: Guard,
}

/// A name that is neither a profile nor a program, or a profile that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoOutfit {
    #[error("there is no profile and no agent program {name:?}: use {}", known.join(", "))]
    Unknown { name: String, known: Vec<String> },
    #[error("the profile {name} needs a command: set profiles.{name}.command in .swarm/config.json")]
    NoCommand { name: String },
}

impl Outfit {
    /// The profile of this name; a program's own name is a profile without settings.
    pub fn of(config: &Config, name: &str) -> Result<Self, NoOutfit> {
        let found = config.profiles.get(name);
        let plain = Profile::default();
        let profile = found.unwrap_or(&plain);
        let program = if profile.program.is_empty() { name } else { &profile.program };
        let program = AgentProgram::named(program).map_err(|_| NoOutfit::Unknown {
            name: name.to_owned(),
            known: config
                .profiles
                .keys()
                .cloned()
                .chain(AgentProgram::NAMES.iter().map(|known| (*known).to_owned()))
                .collect(),
        })?;
        if profile.command.is_empty() && matches!(program, AgentProgram::Acp | AgentProgram::Exec) {
            return Err(NoOutfit::NoCommand { name: name.to_owned() });
        }
        let sandbox = profile.sandbox.unwrap_or(config.sandbox);
        let setup = AgentSetup {
            command: profile.command.clone(),
            model: profile.model.clone(),
            args: profile.args.clone(),
            own_sandbox: sandbox == SandboxKind::Program,
            stall_secs: config.stall.secs,
            max_steps: config.max_steps,
            loop_note: config.recovery.loops.note,
            loop_stop: config.recovery.loops.stop,
            rates: config.prices.of(program.name(), profile.model.as_deref()),
            ..AgentSetup::of(program)
        };
        let guard = Guard {
            containment: config.containment,
            sandbox,
            network: profile.network.or(config.network).unwrap_or(true),
            writable: profile.writable.clone(),
            hide: config.hide.clone(),
            limits: config.limits,
            env: config.env.iter().chain(&profile.env).cloned().collect(),
        };
        Ok(Self { name: name.to_owned(), setup, guard })
    }

    /// For runs of commands, which execute what an agent wrote: the walls that it worked behind, without its program's own
    /// keys and folders. A profile that is no more has left none of its own.
    pub fn guard_of_commands(config: &Config, written_under: &str) -> Guard {
        let plain = Profile::default();
        let profile = config.profiles.get(written_under).unwrap_or(&plain);
        Guard {
            containment: config.containment,
            // No program, so no sandbox of its own either.
            sandbox: match profile.sandbox.unwrap_or(config.sandbox) {
                kind @ (SandboxKind::None | SandboxKind::Strict) => kind,
                _ => SandboxKind::Landlock,
            },
            // The merged tree has work of others too, also of those without a network.
            network: config.network_of_commands(),
            writable: profile.writable.clone(),
            hide: config.hide.clone(),
            limits: config.limits,
            env: config.env.iter().chain(&profile.env).cloned().collect(),
        }
    }
}

/// The set-up of worktrees, where one is configured.
pub fn set_up(config: &Config) -> Option<SetUp> {
    let worktree = &config.worktree;
    worktree.setup.as_ref().map(|command| SetUp {
        command: command.clone(),
        timeout_secs: worktree.setup_timeout.secs,
        when: worktree.setup_when.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        json5::from_str(text).expect("a configuration")
    }

    #[test]
    fn a_program_is_a_profile_without_settings() {
        let outfit = Outfit::of(&Config::default(), "codex").expect("known");
        assert_eq!((outfit.setup.program, outfit.setup.stall_secs), (AgentProgram::Codex, 120));
        assert_eq!((outfit.guard.sandbox, outfit.guard.network), (SandboxKind::Landlock, true));
    }

    #[test]
    fn a_profile_sets_what_it_names_and_takes_the_rest_from_the_swarm() {
        let config = config(
            "{ env: ['A'], sandbox: 'none', profiles: { quick: { program: 'claude', model: 'haiku', env: ['B'] } } }",
        );
        let outfit = Outfit::of(&config, "quick").expect("known");
        assert_eq!(
            (outfit.setup.program, outfit.setup.model.as_deref()),
            (AgentProgram::Claude, Some("haiku"))
        );
        assert_eq!((outfit.guard.sandbox, outfit.guard.env.join(" ")), (SandboxKind::None, "A B".to_owned()));
    }

    #[test]
    fn commands_have_no_network_where_an_agent_whose_work_they_run_has_none() {
        let network = |text: &str| Outfit::guard_of_commands(&config(text), "a").network;
        assert!(network("{}"));
        assert!(network("{ profiles: { a: { program: 'claude', network: true } } }"));
        assert!(!network(
            "{ profiles: { a: { program: 'claude' }, b: { program: 'codex', network: false } } }"
        ));
        assert!(network("{ network: true, profiles: { b: { program: 'codex', network: false } } }"));
        let closed = config("{ network: false, profiles: { open: { program: 'codex', network: true } } }");
        assert!(!Outfit::guard_of_commands(&closed, "open").network);
        let of = |name: &str| Outfit::of(&closed, name).expect("known").guard.network;
        assert_eq!((of("claude"), of("open")), (false, true));
    }

    #[test]
    fn commands_stand_behind_the_walls_of_the_profile_whose_work_they_run() {
        let config = config(
            "{ env: ['ALL'], sandbox: 'landlock', profiles: { \
               own: { program: 'claude', env: ['MINE'], writable: ['~/x'], sandbox: 'strict' }, \
               bare: { program: 'claude', sandbox: 'none' }, \
               theirs: { program: 'codex', sandbox: 'program' } } }",
        );
        let guard = |name: &str| Outfit::guard_of_commands(&config, name);
        let own = guard("own");
        assert_eq!((own.env.join(" "), own.writable.join(" ")), ("ALL MINE".into(), "~/x".into()));
        assert_eq!(own.sandbox, SandboxKind::Strict);
        assert_eq!(guard("bare").sandbox, SandboxKind::None);
        // The program's own walls are not around a command.
        assert_eq!(guard("theirs").sandbox, SandboxKind::Landlock);
        let other = guard("gone");
        assert_eq!((other.env.join(" "), other.writable.len()), ("ALL".into(), 0));
        assert_eq!(other.sandbox, SandboxKind::Landlock);
    }

    #[test]
    fn a_name_that_means_nothing_is_refused_with_what_there_is() {
        let config = config("{ profiles: { quick: { program: 'claude' }, any: { program: 'acp' } } }");
        let error = Outfit::of(&config, "qwick").expect_err("unknown").to_string();
        assert!(
            error.starts_with("there is no profile and no agent program \"qwick\": use any, quick, claude"),
            "{error}"
        );
        let error = Outfit::of(&config, "any").expect_err("no command").to_string();
        assert_eq!(error, "the profile any needs a command: set profiles.any.command in .swarm/config.json");
    }
}
