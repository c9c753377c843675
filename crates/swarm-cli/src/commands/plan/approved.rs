//! `swarm plan approved`.

use swarm_protocol::view::ApprovedPlanView;

use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::harmless_lines;
use crate::swarm::Swarm;

/// Show the approved plan, and whether it has changed since
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let view = Swarm::open(cx)?.approved(args.at.at)?;
    cx.out.view(&view, text)
}

fn text(view: &ApprovedPlanView) -> String {
    let verdict = match (view.approved, view.drifted) {
        (false, _) => "The plan is not approved; `swarm plan approve` approves it",
        (true, false) => "The plan has not changed since it was approved",
        (true, true) => {
            "The plan has changed since it was approved; `swarm plan approve` approves the change"
        }
    };
    let approved = view.approved_hash.as_deref().unwrap_or("-");
    let mut text =
        format!("{verdict}\nstructure now       {}\nstructure approved  {approved}\n", view.structure_hash);
    if let Some(plan) = &view.plan {
        let pretty = serde_json::to_string_pretty(plan).expect("plain data serialises");
        text.push_str(&format!("\n{}\n", harmless_lines(&pretty)));
    }
    text
}
