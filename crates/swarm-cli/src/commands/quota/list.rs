//! `swarm quota list`.

use swarm_protocol::time::Timestamp;
use swarm_protocol::view::QuotaView;

use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::table::table;
use crate::output::time::moment;
use crate::swarm::Swarm;

/// List used-up quotas with reset times and waiting tasks
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let (status, _) = Swarm::open(cx)?.status(args.at.at)?;
    cx.out.view(&status.quotas, |quotas| text(quotas))
}

fn text(quotas: &[QuotaView]) -> String {
    if quotas.is_empty() {
        return "No quota is used up".into();
    }
    let time = |at: Option<Timestamp>| at.map(moment).unwrap_or_default();
    let cells = |quota: &QuotaView| {
        vec![
            quota.group.clone(),
            moment(quota.since),
            time(quota.resets_at),
            next_look(quota),
            quota.waiting.to_string(),
            quota.why.lines().next().unwrap_or_default().to_owned(),
        ]
    };
    let head = ["group", "used up since", "resets", "next probe", "tasks waiting", "why"];
    let mut text = table(&head, quotas.iter().map(cells));
    for quota in quotas {
        text.push_str(&format!("\n  swarm quota open {}", quota.group));
        if !quota.held {
            text.push_str(&format!("\n  swarm quota hold {}", quota.group));
        }
    }
    text
}

fn next_look(quota: &QuotaView) -> String {
    match quota.next_probe {
        _ if quota.held => "held by a person".into(),
        _ if quota.probing => "asking now".into(),
        at => at.map(moment).unwrap_or_default(),
    }
}
