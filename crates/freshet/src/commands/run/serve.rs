//! The HTTP service of the daemon.

use std::net::SocketAddr;

use freshet_daemon::DaemonHandle;
use freshet_notify::Notifier;
use freshet_server::{ServeError, Server, ServerSettings};

use crate::failure::Failure;

/// Address of the service; `None` for no service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listen(pub(crate) Option<SocketAddr>);

/// Parses an address, or `off`.
pub(crate) fn parse_listen(text: &str) -> Result<Listen, String> {
    if text == "off" {
        return Ok(Listen(None));
    }
    let address = text.parse().map(|address| Listen(Some(address)));
    address.map_err(|_| format!("`{text}` is neither an address such as 127.0.0.1:7343 nor `off`"))
}

/// Starts the service, if it is enabled. If the default address is in use, the daemon runs without it.
pub(crate) async fn start(
    config: &freshet_daemon::ServerConfig,
    handle: DaemonHandle,
    notifier: Notifier,
) -> Result<Option<Server>, Failure> {
    let Some(listen) = config.listen else { return Ok(None) };
    let settings = ServerSettings {
        url: config.url.clone(),
        hosts: config.hosts.clone(),
        max_connections: config.connections as usize,
        notifier: Some(notifier),
        ..ServerSettings::new(listen)
    };
    match Server::start(handle, settings).await {
        Ok(server) => {
            tracing::info!("the dashboard is at http://{}/", server.address());
            tracing::info!("the service is at http://{}/v1/docs", server.address());
            Ok(Some(server))
        }
        Err(error @ ServeError::Listen { .. }) if !config.is_listen_explicit => {
            tracing::warn!("{error}: the service is off; choose another address with `--listen`");
            Ok(None)
        }
        Err(error) => Err(match error.hint() {
            Some(hint) => Failure::new(&error).with_hint(hint),
            None => Failure::new(&error),
        }),
    }
}
