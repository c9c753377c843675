//! Runs the table and prints it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use swarm_process::containment::{Containment, available};
use swarm_process::launcher::Launcher;
use swarm_process::sandbox::{SandboxSpec, make_tmp, remove_tmp};
use swarm_process::{Boxed, Call, Enclosure, NONCE_VARIABLE, environment};
use tokio::io::AsyncReadExt;

use crate::person::{Person, hidden};
use crate::table::{ATTACKS, Attack, Expected};
use crate::{control, cost};

/// No attack takes longer, also not one that waits for something.
const LIMIT: Duration = Duration::from_secs(30);

/// The nets that work here, by the word of the table.
async fn nets(launcher: &Launcher) -> Vec<(String, Containment)> {
    let mut nets = Vec::new();
    for (word, net) in available(launcher).await {
        match net {
            Ok(net) => {
                if let Containment::Pidns { user_namespace: false, own_view } = net {
                    nets.push((
                        "pidns-user".to_owned(),
                        Containment::Pidns { user_namespace: true, own_view },
                    ));
                }
                nets.push((word.to_owned(), net));
            }
            Err(why) => println!("skipped: {word} does not work here: {why}"),
        }
    }
    nets
}

pub fn all(attacks: &[&Attack], person: &Person) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        let launcher = Launcher::of("/proc/self/exe");
        let nets = nets(&launcher).await;
        let mut unexpected = Vec::new();
        let (mut held, mut broke) = (BTreeMap::<&str, u32>::new(), BTreeMap::<&str, u32>::new());
        for attack in attacks {
            let mut line = format!("{:<34}", attack.name);
            for (word, net) in &nets {
                let told = one(attack, person, net, &launcher).await;
                let name = if net.can_bind() { word.clone() } else { format!("{word}*") };
                let count = if told.held { &mut held } else { &mut broke };
                *count.entry(word).or_default() += 1;
                let verdict = if told.held { "held" } else { "BROKE" };
                line.push_str(&format!(" {name}: {verdict} ({})", told.by));
                let must = net.can_bind() || attack.expected == Expected::Everywhere;
                if !told.held && must {
                    unexpected.push(format!("{} in {word}: {}", attack.name, told.by));
                }
            }
            match control::run(attack, person) {
                Ok(told) => line.push_str(&format!(" no walls: {told}")),
                Err(why) => unexpected.push(format!("{} proves nothing, without walls: {why}", attack.name)),
            }
            println!("{line}");
        }
        println!("held: {held:?}; broke: {broke:?} (* without a view of its own)");
        if attacks.len() == ATTACKS.len() {
            cost::measure(person, &nets, &launcher).await;
        }
        match unexpected.is_empty() {
            true => Ok(()),
            false => Err(format!("these got through, or prove nothing:\n  {}", unexpected.join("\n  "))),
        }
    })
}

struct Told {
    held: bool,
    by: String,
}

async fn one(attack: &Attack, person: &Person, net: &Containment, launcher: &Launcher) -> Told {
    let before = person.look();
    let begun = Instant::now();
    let (code, said) = run(attack, person, net, launcher).await;
    let changed = person.harm(&before);
    person.mend();
    let took = begun.elapsed();
    if let Some(changed) = changed {
        return Told { held: false, by: changed };
    }
    if took > LIMIT {
        return Told { held: false, by: format!("took {} s", took.as_secs()) };
    }
    match code {
        Some(0) if attack.harmless_inside => Told { held: true, by: "a copy of its own".into() },
        Some(0) => Told { held: false, by: said },
        Some(_) => Told { held: true, by: layer(&said).to_owned() },
        None => Told { held: true, by: format!("ended by force: {said}") },
    }
}

/// Who said no, by how the kernel said it.
fn layer(said: &str) -> &str {
    match said.rsplit_once("os error ").map(|(_, number)| number.trim_end_matches(')')) {
        Some("30") => "read-only mount",
        Some("2" | "20" | "3" | "6" | "19" | "111") => "not in its view",
        Some("9") => "not handed on",
        Some("13") => "Landlock or no right",
        Some("1") => "seccomp or no right",
        Some("38" | "97") => "seccomp",
        Some("101" | "113") => "network namespace",
        Some("18") => "Landlock",
        _ => said,
    }
}

async fn run(
    attack: &Attack,
    person: &Person,
    net: &Containment,
    launcher: &Launcher,
) -> (Option<i32>, String) {
    Start { person, net, launcher, walls: true, network: !attack.closed }.run(attack.name).await
}

/// One attacker in a net.
#[derive(Clone, Copy)]
pub struct Start<'a> {
    pub person: &'a Person,
    pub net: &'a Containment,
    pub launcher: &'a Launcher,
    pub walls: bool,
    pub network: bool,
}

impl Start<'_> {
    fn spec(&self, tmp: &Path) -> SandboxSpec {
        let person = self.person;
        SandboxSpec {
            worktree: person.worktree(),
            git: None,
            tmp: tmp.to_owned(),
            writable: vec![],
            hidden: vec![person.repo().join(".swarm/run")],
            masked: [person.home().join(".ssh"), person.home().join(".netrc")]
                .into_iter()
                .chain(hidden(&person.later()))
                .collect(),
            covered: vec![person.repo().join(".git/swarm")],
            visible: vec![person.repo(), person.home(), person.later(), person.program_folder()],
            caches: vec![
                person.home().join(".cache"),
                person.home().join(".cargo"),
                person.later().join(".cargo"),
            ],
            binds: vec![],
            network: self.network,
            limits: swarm_process::Limits::default(),
            strict: false,
            listed: vec![],
            best_effort: false,
        }
    }

    /// How it ended, and what it said.
    pub async fn run(self, name: &str) -> (Option<i32>, String) {
        let nonce = format!("attack-{}", ulid::Ulid::generate());
        let Ok(tmp) = make_tmp(&nonce) else { return (Some(1), "no temporary folder".into()) };
        let (person, spec) = (self.person, self.spec(&tmp));
        let swarm_dir = person.repo().join(".swarm");
        let enclosure = Enclosure {
            launcher: self.launcher,
            containment: self.net,
            sandbox: self.walls.then_some(&spec),
            swarm_dir: &swarm_dir,
            nonce: &nonce,
            leftover_grace: Duration::from_millis(50),
        };
        let mut call = Call::new(person.program()).arg("attack").arg(name).arg(person.field());
        call.cwd = Some(person.worktree());
        call.env = environment::for_program(&[]);
        call.env.insert("HOME".into(), person.home().into());
        call.env.insert("TMPDIR".into(), tmp.into());
        call.env.insert(NONCE_VARIABLE.into(), nonce.clone().into());
        let told = match enclosure.start(call) {
            Err(error) => (Some(1), error.to_string()),
            Ok(boxed) => watched(boxed, &nonce).await,
        };
        match remove_tmp(&nonce) {
            Ok(()) => told,
            Err(error) => (Some(0), format!("its temporary files stay: {error}")),
        }
    }
}

async fn watched(mut boxed: Boxed, nonce: &str) -> (Option<i32>, String) {
    let (mut out, mut text) = (boxed.running.child.stdout.take(), String::new());
    let ended = tokio::time::timeout(LIMIT, async {
        if let Some(out) = &mut out {
            let _ = out.read_to_string(&mut text).await;
        }
        boxed.running.wait().await
    })
    .await;
    boxed.held.clone().end(nonce.to_owned(), Duration::ZERO).await;
    match ended {
        Ok(Ok(status)) => match boxed.begun(status, false) {
            Ok(()) => (status.code(), text.trim().to_owned()),
            Err(error) => {
                let why = std::error::Error::source(&error).map(ToString::to_string);
                println!("NOT STARTED: {error}: {why:?}");
                (Some(0), format!("not started: {error}"))
            }
        },
        Ok(Err(error)) => (None, error.to_string()),
        Err(_) => (None, "too slow".into()),
    }
}
