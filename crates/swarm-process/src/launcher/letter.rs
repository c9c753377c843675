//! What the daemon tells the launcher, and what the launcher answers if it cannot become the program: one
//! file in memory, opened by the launcher through the daemon's entry in `/proc`. Nothing is inherited,
//! nothing lies on disk, and after the program has begun nobody can open it but the daemon.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{MemfdFlags, memfd_create};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::containment::Namespaces;
use crate::identity::pid_in_proc;
use crate::sandbox::{SandboxSpec, SandboxStatus};

/// A letter is short; what is longer was not written by us.
const LETTER_BYTES_MAX: u64 = 256 * 1024;

/// What the launcher is to do before it becomes the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxSpec {
    pub place: Place,
    pub sandbox: Option<SandboxSpec>,
    /// In a pid namespace and as a guardian the launcher itself ends what outlives the program.
    pub leftover_grace_ms: u64,
}

/// The net to go into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Below a guardian, who stays and ends what the program leaves.
    Guarded,
    /// The group whose `cgroup.procs` this is.
    Cgroup {
        procs_file: PathBuf,
        /// Inside it, namespaces with a view of the files of its own.
        #[serde(default)]
        own_view: Option<Namespaces>,
    },
    Pidns {
        user_namespace: bool,
        /// With a view of the files of its own.
        #[serde(default)]
        own_view: bool,
    },
}

impl Place {
    fn has_own_view(&self) -> bool {
        matches!(self, Self::Cgroup { own_view: Some(_), .. } | Self::Pidns { own_view: true, .. })
    }
}

/// Why the program did not begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    #[error("the program was not found")]
    NotFound,
    #[error("cannot {what}: {why}")]
    Cannot { what: String, why: String, errno: Option<i32> },
}

impl Trouble {
    pub fn cannot(what: &str, error: io::Error) -> Self {
        Self::Cannot { what: what.into(), why: error.to_string(), errno: error.raw_os_error() }
    }

    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Cannot { errno, .. } => *errno,
            Self::NotFound => None,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Trouble(Trouble),
    Walls(SandboxStatus),
    /// The program comes next.
    Ready,
    /// The command of this number of a [`super::FilterSpec`] ended with an error.
    Failed(usize),
}

/// The daemon's end.
#[derive(Debug)]
pub(crate) struct Letter {
    file: File,
    answers_at: u64,
}

impl Letter {
    pub fn write<T: Serialize>(spec: &T) -> io::Result<Self> {
        let mut file = File::from(memfd_create("swarm-box", MemfdFlags::CLOEXEC)?);
        let mut line = serde_json::to_vec(spec)?;
        line.push(b'\n');
        file.write_all(&line)?;
        Ok(Self { file, answers_at: line.len() as u64 })
    }

    pub fn path(&self) -> PathBuf {
        place_of(&self.file)
    }

    /// Why the launcher did not become the program; none if it did.
    pub fn trouble(&self) -> Option<Trouble> {
        self.answers().into_iter().find_map(|answer| match answer {
            Answer::Trouble(trouble) => Some(trouble),
            Answer::Walls(_) | Answer::Ready | Answer::Failed(_) => None,
        })
    }

    /// What the kernel enforces around the program; none without a sandbox.
    pub fn walls(&self) -> Option<SandboxStatus> {
        self.answers().into_iter().find_map(|answer| match answer {
            Answer::Walls(status) => Some(status),
            Answer::Trouble(_) | Answer::Ready | Answer::Failed(_) => None,
        })
    }

    /// Whether the launcher came as far as the program.
    pub fn is_ready(&self) -> bool {
        self.answers().iter().any(|answer| matches!(answer, Answer::Ready))
    }

    /// Commands of a [`super::FilterSpec`] that ended with an error.
    pub fn failed(&self) -> Vec<usize> {
        let number = |answer| match answer {
            Answer::Failed(number) => Some(number),
            Answer::Trouble(_) | Answer::Walls(_) | Answer::Ready => None,
        };
        self.answers().into_iter().filter_map(number).collect()
    }

    fn answers(&self) -> Vec<Answer> {
        let mut bytes = vec![0; LETTER_BYTES_MAX as usize];
        let read = self.file.read_at(&mut bytes, self.answers_at).unwrap_or(0);
        bytes[..read]
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }
}

fn place_of(file: &File) -> PathBuf {
    format!("/proc/{}/fd/{}", pid_in_proc(), file.as_raw_fd()).into()
}

/// The launcher's end.
pub struct Opened<T = BoxSpec> {
    pub spec: T,
    file: File,
}

impl<T: DeserializeOwned> Opened<T> {
    pub fn read(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        let mut first = String::new();
        BufReader::new((&file).take(LETTER_BYTES_MAX)).read_line(&mut first)?;
        Ok(Self { spec: serde_json::from_str(&first)?, file })
    }

    pub fn trouble(&mut self, trouble: Trouble) {
        self.answer(&Answer::Trouble(trouble));
    }

    pub fn failed(&mut self, number: usize) {
        self.answer(&Answer::Failed(number));
    }

    fn answer(&mut self, answer: &Answer) {
        if let Ok(mut line) = serde_json::to_vec(answer) {
            line.push(b'\n');
            // The daemon that would read it may be gone.
            let _ = self.file.write_all(&line);
        }
    }
}

impl Opened {
    /// Whether the program is to have a view of the files of its own.
    pub fn wants_own_view(&self) -> bool {
        self.spec.place.has_own_view()
    }

    /// In a user namespace the kernel counts its processes apart from the person's.
    pub fn counts_alone(&self) -> bool {
        match self.spec.place {
            Place::Cgroup { own_view: Some(Namespaces { user }), .. } => user,
            Place::Pidns { user_namespace, .. } => user_namespace,
            Place::Cgroup { .. } | Place::Guarded => false,
        }
    }

    /// The same letter for one that we start.
    pub fn path(&self) -> PathBuf {
        place_of(&self.file)
    }

    pub fn ready(&mut self) {
        self.answer(&Answer::Ready);
    }

    pub fn walls(&mut self, status: SandboxStatus) {
        self.answer(&Answer::Walls(status));
    }
}
