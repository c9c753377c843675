//! `swarm web`: the door that browsers come in by.

pub mod browser;
pub mod revoke;
pub mod sessions;

use std::sync::Arc;

use clap::Subcommand;
use swarm_web::control::Link;
use swarm_web::door::{Door, DoorError};

use crate::context::Context;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;

/// Open the swarm in your browser
///
/// Serves pages on 127.0.0.1 until Ctrl+C and prints a link that opens them once, within five minutes. If they are served
/// already, it prints a new link. The pages can do everything that the commands can, with or without a running coordinator;
/// closing them stops nothing. From another machine: `ssh -L 7717:127.0.0.1:7717 HOST`, then open the link there.
///
/// Example: swarm web --no-open
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Port to listen on; 0 for any (default: 7717, or the next free one)
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Print the link without starting a browser
    #[arg(long)]
    no_open: bool,
    /// Print a link for a viewer, who can look but not give commands
    #[arg(long)]
    viewer: bool,
    /// Started by a run: ends with whoever holds the other end of stdin.
    #[arg(long, hide = true)]
    beside: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Sessions(sessions::Args),
    Revoke(revoke::Args),
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    match args.command {
        Some(Command::Sessions(args)) => return sessions::run(args, cx),
        Some(Command::Revoke(args)) => return revoke::run(args, cx),
        None => {}
    }
    let swarm = Arc::new(Swarm::open(cx)?);
    swarm.may_open_door()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| CliError::environment("Cannot start").because(error))?;
    let served = runtime.block_on(serve(&args, cx, &swarm));
    // Readers that still wait for the ledger end with the process.
    runtime.shutdown_background();
    served
}

async fn serve(args: &Args, cx: &Context, swarm: &Arc<Swarm>) -> Result<(), CliError> {
    if let Ok(link) = swarm.door_control().link(args.viewer).await {
        return tell_again(args, cx, &link);
    }
    let door = match swarm.open_door(args.port).await {
        Ok(door) => door,
        Err(DoorError::Open) => {
            let asked = swarm.door_control().link(args.viewer).await;
            let link = asked.map_err(|error| {
                CliError::environment("The web UI of this swarm is being started elsewhere")
                    .because(error)
                    .run_instead("swarm web")
            })?;
            return tell_again(args, cx, &link);
        }
        Err(error @ DoorError::Port { .. }) => {
            return Err(CliError::environment("Cannot open the web UI")
                .because(error)
                .run_instead("swarm web --port 0"));
        }
        Err(error) => return Err(CliError::environment("Cannot open the web UI").because(error)),
    };
    let link =
        door.link(role(args)).map_err(|error| CliError::environment("Cannot make a link").because(error))?;
    tell(args, cx, &link)?;
    until_the_end(args, door).await
}

fn role(args: &Args) -> swarm_server::peer::Role {
    if args.viewer { swarm_server::peer::Role::Viewer } else { swarm_server::peer::Role::Operator }
}

/// Of a door that is open already: it stays at the port that it has.
fn tell_again(args: &Args, cx: &Context, link: &Link) -> Result<(), CliError> {
    let Link { port, pid, .. } = link;
    if let Some(wanted) = args.port.filter(|wanted| ![0, *port].contains(wanted)) {
        output::note(&format!(
            "Note: the web UI is already open on port {port}; close it (pid {pid}) to use port {wanted}"
        ));
    }
    tell(args, cx, link)
}

fn tell(args: &Args, cx: &Context, link: &Link) -> Result<(), CliError> {
    if args.beside {
        output::note(&format!("Web UI: {} (opens once, within {} minutes)", link.url, link.seconds / 60));
        return Ok(());
    }
    cx.out.view(link, |link| {
        format!("{}\nThe link opens the web UI once, within {} minutes.", link.url, link.seconds / 60)
    })?;
    if !args.no_open && !cx.out.json {
        output::note(browser::open(&link.url));
    }
    Ok(())
}

async fn until_the_end(args: &Args, door: Door) -> Result<(), CliError> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen =
        |kind| signal(kind).map_err(|error| CliError::environment("Cannot listen to signals").because(error));
    let (mut interrupts, mut ends) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    let mut hangups = listen(SignalKind::hangup())?;
    if args.beside {
        // The keys of the terminal are for the run, which closes the pipe when it is over.
        let mut rest = Vec::new();
        let mut stdin = tokio::io::stdin();
        tokio::select! {
            _ = tokio::io::AsyncReadExt::read_to_end(&mut stdin, &mut rest) => {}
            _ = ends.recv() => {}
        }
    } else {
        output::note("Ctrl+C closes it; the swarm continues");
        tokio::select! {
            _ = interrupts.recv() => {}
            _ = ends.recv() => {}
            _ = hangups.recv() => {}
        }
    }
    door.close().await;
    Ok(())
}
