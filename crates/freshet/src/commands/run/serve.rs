//! The service beside the daemon.

use std::net::SocketAddr;

use freshet_daemon::Handle;
use freshet_notify::Notifier;
use freshet_server::{ServeError, Server, Settings};

use crate::failure::Failure;

/// Where the service listens; `None` is nowhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listen(pub(crate) Option<SocketAddr>);

/// Reads an address, or `off`.
pub(crate) fn listen(text: &str) -> Result<Listen, String> {
    if text == "off" {
        return Ok(Listen(None));
    }
    let address = text.parse().map(|address| Listen(Some(address)));
    address.map_err(|_| format!("`{text}` is neither an address such as 127.0.0.1:7343 nor `off`"))
}

/// Starts the service, where there is to be one. If it was not asked for and something is in its place,
/// it goes without.
pub(crate) async fn start(
    config: &freshet_daemon::Server,
    handle: Handle,
    notifier: Notifier,
) -> Result<Option<Server>, Failure> {
    let Some(listen) = config.listen else { return Ok(None) };
    let settings = Settings {
        url: config.url.clone(),
        hosts: config.hosts.clone(),
        connections: config.connections as usize,
        notifier: Some(notifier),
        ..Settings::new(listen)
    };
    match Server::start(handle, settings).await {
        Ok(server) => {
            tracing::info!("the dashboard is at http://{}/", server.address());
            tracing::info!("the service is at http://{}/v1/docs", server.address());
            Ok(Some(server))
        }
        Err(error @ ServeError::Listen { .. }) if !config.said => {
            tracing::warn!("{error}: there is no service; name another address with `--listen`");
            Ok(None)
        }
        Err(error) => Err(match error.hint() {
            Some(hint) => Failure::new(&error).hint(hint),
            None => Failure::new(&error),
        }),
    }
}
