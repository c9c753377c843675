//! Attacks on the walls, each by a real process behind real walls, in every net that works here: what an agent that wants to
//! leave would try. `cargo xtask attack` runs all of them and prints who held what.
//!
//! This program plays all parts: the daemon, the launcher (`boxed`) and the attacker (`attack NAME FIELD`).
#![allow(unsafe_code, reason = "attackers use system calls that no safe library offers")]

mod attacker;
mod control;
mod cost;
mod person;
mod run;
mod table;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use person::Person;
use table::{ATTACKS, Attack};

/// All attacks instead of the spread for ordinary tests, or those with this in their name.
const WHICH: &str = "SWARM_ATTACKS";

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let word = |n: usize| args.get(n).and_then(|word| word.to_str()).unwrap_or_default();
    match word(0) {
        "boxed" => return swarm_process::launcher::boxed_process(&args[1..]).into(),
        "attack" => return attacker::play(word(1), word(2)),
        _ => {}
    }
    if args.iter().any(|arg| arg == "--list") {
        if !args.iter().any(|arg| arg == "--ignored") {
            println!("no_attack_gets_through: test");
        }
        return ExitCode::SUCCESS;
    }
    let has_secrets = |name: &&str| std::env::var(name).is_ok_and(|value| value == attacker::SECRET);
    if attacker::SECRET_VARIABLES.iter().all(has_secrets) {
        return no_attack_gets_through();
    }
    // Once more, as from a person's shell, which has secrets in its environment.
    let secrets = attacker::SECRET_VARIABLES.map(|name| (name, attacker::SECRET));
    let error = Command::new("/proc/self/exe").args(&args).envs(secrets).exec();
    println!("cannot start again: {error}");
    ExitCode::FAILURE
}

fn no_attack_gets_through() -> ExitCode {
    let core = rustix::process::getrlimit(rustix::process::Resource::Core);
    let most = rustix::process::Rlimit { current: core.maximum, ..core };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, most);
    // As in the shell of most people.
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let usual = Some(files.maximum.map_or(1024, |most| most.min(1024)));
    let _ = rustix::process::setrlimit(
        rustix::process::Resource::Nofile,
        rustix::process::Rlimit { current: usual, ..files },
    );
    let which = std::env::var(WHICH).unwrap_or_default();
    let chosen = |attack: &&Attack| match which.as_str() {
        "" => attack.quick,
        "all" => true,
        name => attack.name.contains(name),
    };
    let chosen: Vec<&Attack> = ATTACKS.iter().filter(chosen).collect();
    match run::all(&chosen, &Person::new()) {
        Ok(()) => {
            println!("test result: ok. 1 passed; 0 failed");
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}
