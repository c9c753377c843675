//! What both of our servers say of themselves, and the handshake of the older era.

use rmcp::model::{
    Implementation, InitializeRequestParams, InitializeResult, ProtocolVersion, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

/// The versions we speak: the last of those with a handshake that clients still use, and the one without.
pub const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

pub fn info(name: &str, capabilities: ServerCapabilities, instructions: &str) -> ServerConfig {
    let mut info = ServerConfig::new(capabilities);
    info.protocol_version = ProtocolVersion::V_2025_11_25;
    info.server_info = Implementation::new(name, env!("CARGO_PKG_VERSION"));
    info.instructions = Some(instructions.into());
    info
}

/// May come at any time, also after a discovery, and again: it only says which version the client speaks.
pub fn shake_hands(
    server: &impl ServerHandler,
    mut request: InitializeRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<InitializeResult, ErrorData> {
    let info = server.negotiate_initialize(&request)?;
    request.protocol_version = info.protocol_version.clone();
    context.peer.set_peer_info(request);
    Ok(info)
}
