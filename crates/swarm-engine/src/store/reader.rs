//! Reading without a lock. Nothing is written, whatever is found: a read never repairs.

use swarm_core::State;
use swarm_ledger::{Access, Finding, Head};

use super::absent::{self, Absence};
use super::error::StoreError;
use super::load::{self, load};
use super::options::OpenOptions;
use super::writer::Store;
use crate::notice::Notice;
use crate::paths::Paths;

/// The state as the disk has it, or had it at a record.
pub struct Reading {
    pub state: State,
    /// The last record of the ledger; none when there is no ledger.
    pub head: Option<Head>,
    pub ledger_id: Option<String>,
    /// What a person should know: damage, a second copy that serves, a plan.json nobody took over.
    pub notices: Vec<Notice>,
}

impl Store {
    /// Reads the state, at record `at` or now. Needs no lock and never writes.
    pub fn open_reader(paths: &Paths, options: &OpenOptions, at: Option<u64>) -> Result<Reading, StoreError> {
        absent::refuse_foreign(paths)?;
        let mut loaded = match load(paths, options, Access::Read, at) {
            Ok(loaded) => loaded,
            Err(error) => {
                let absence = absent::explain(paths, error)?;
                if let Some(asked) = at {
                    return Err(StoreError::NoSuchRecord { asked, last: 0 });
                }
                load::nothing(notices_of(paths, &absence))
            }
        };
        let recovered = loaded.recovered.as_ref();
        // A loss nobody has recorded yet is shown all the same.
        let damage = recovered.and_then(|r| r.findings.iter().find(|f| matches!(f, Finding::Damage(_))));
        if let (Some(damage), None) = (damage, &loaded.state.loss) {
            loaded.state.loss = Some(damage.to_string());
        }
        Ok(Reading {
            head: recovered.map(|r| r.head),
            ledger_id: recovered.map(|r| r.ledger_id.clone()),
            state: loaded.state,
            notices: loaded.notices,
        })
    }
}

fn notices_of(paths: &Paths, absence: &Absence) -> Vec<Notice> {
    if super::aside::is_foreign_file(&paths.plan_json) {
        let text = format!("{} is the plan of opencode-swarm", paths.shown(&paths.plan_json));
        return vec![Notice::new(text, "swarm init --import")];
    }
    if *absence == Absence::Never && paths.plan_json.exists() {
        let text = format!(
            "{} is from before there was a ledger; the next command that writes imports it",
            paths.shown(&paths.plan_json)
        );
        return vec![Notice::new(text, "")];
    }
    Vec::new()
}
