//! HTTP server on loopback, with one port per client.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::answer::answer;
use crate::error::DemoError;
use crate::site::Site;
use crate::truth::Client;

/// Wait after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(10);

/// Server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    addresses: [SocketAddr; 3],
    listeners: [JoinHandle<()>; 3],
}

impl Server {
    /// Starts a server on free ports.
    ///
    /// # Errors
    /// Returns an error if there are none.
    pub async fn open(site: &Arc<Site>) -> Result<Self, DemoError> {
        let bind = || async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            let address = listener.local_addr()?;
            Ok::<_, io::Error>((listener, address))
        };
        let one = bind().await.map_err(DemoError::Listen)?;
        let two = bind().await.map_err(DemoError::Listen)?;
        let three = bind().await.map_err(DemoError::Listen)?;
        let addresses = [one.1, two.1, three.1];
        let serve = |listener: TcpListener, client| {
            tokio::spawn(accept(listener, Arc::clone(site), client))
        };
        let [freshet, equal, nutch] = Client::ALL;
        let listeners = [serve(one.0, freshet), serve(two.0, equal), serve(three.0, nutch)];
        Ok(Self { addresses, listeners })
    }

    /// Returns the address for a client.
    #[must_use]
    pub fn address(&self, client: Client) -> SocketAddr {
        self.addresses[client as usize]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for listener in &self.listeners {
            listener.abort();
        }
    }
}

async fn accept(listener: TcpListener, site: Arc<Site>, client: Client) {
    // Connections end with this task.
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                connections.spawn(serve(stream, Arc::clone(&site), client));
            }
            // Probably out of file descriptors: some connections must end first.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, site: Arc<Site>, client: Client) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let site = Arc::clone(&site);
        async move { answer(&site, client, &request).await }
    });
    // A connection that the client ends early is ignored.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}
