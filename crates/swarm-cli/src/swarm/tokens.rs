//! Tokens of MCP clients that come by HTTP, and the server that they reach.

use std::sync::Arc;

use swarm_mcp::call::Caller;
use swarm_mcp::http::{self, Answer};
use swarm_mcp::server::Server;
use swarm_mcp::source::Source;
use swarm_mcp::tools::Offer;
use swarm_server::peer::Role;
use swarm_web::mcp::{Answered, Answering, Said, Speaks};
use swarm_web::tokens::{NewToken, TokenView, Tokens};
use tokio::sync::mpsc::Sender;

use super::Swarm;
use super::inside::refuse_agents;
use super::screen::Editor;
use crate::error::CliError;

impl Swarm {
    pub fn make_token(&self, role: Role, name: &str) -> Result<NewToken, CliError> {
        self.may_open_door()?;
        self.kept_tokens()?.make(role, name).map_err(cannot)
    }

    pub fn tokens(&self) -> Result<Vec<TokenView>, CliError> {
        self.kept_tokens()?.list().map_err(cannot)
    }

    pub fn revoke_tokens(&self, id: Option<&str>) -> Result<usize, CliError> {
        self.may_open_door()?;
        self.kept_tokens()?.revoke(id).map_err(cannot)
    }

    fn kept_tokens(&self) -> Result<Tokens, CliError> {
        refuse_agents("mcp token")?;
        Ok(Tokens::new(&self.paths.run))
    }

    /// Whoever speaks MCP behind the door.
    pub(super) fn speaks_mcp(self: &Arc<Self>) -> Arc<dyn Speaks> {
        let elsewhere: Editor = |_, _| Err(CliError::refused_now("An MCP client cannot open an editor"));
        let desk = Arc::new(self.screen(elsewhere));
        Arc::new(Clients(Source { client: self.client(), desk }))
    }
}

fn cannot(error: std::io::Error) -> CliError {
    CliError::environment("Cannot change the tokens of MCP clients").because(error)
}

struct Clients(Source);

impl Speaks for Clients {
    /// A viewer is offered what looks and nothing else, and what is not offered is refused.
    fn answer(&self, role: Role, said: Said, on_the_way: Option<Sender<String>>) -> Answering {
        let offer = if role == Role::Operator { Offer::All } else { Offer::Read };
        let server = Server { caller: Caller { source: self.0.clone(), offer } };
        Box::pin(async move {
            match http::answer(server, said.version.as_deref(), &said.message, on_the_way).await {
                Answer::Accepted => Answered::Accepted,
                Answer::Json(text) => Answered::Json(text),
                Answer::Bad(text) => Answered::Bad(text),
            }
        })
    }

    fn asks_for_words(&self, message: &[u8]) -> bool {
        http::asks_for_words(message)
    }
}
