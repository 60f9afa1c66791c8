//! freshet at work in the demo: the daemon that `run` starts and the service beside it, on the demo's
//! clock.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use freshet_daemon::{Clock, ConcurrencySetting, Config, Daemon, Edit, Handle, NewSourceRequest};
use freshet_demo::Assignment;
use freshet_notify::Notifier;
use freshet_server::{ServeError, Server, Settings, Truth};
use tokio::sync::{mpsc, watch};

use crate::clock;
use crate::commands::demo::truth;

/// Where the dashboard is if nobody says otherwise.
const USUAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7343);

/// What belongs to this run of the demo.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Where copies are kept.
    pub(super) store: PathBuf,
    /// Where the dashboard is.
    pub(super) dashboard: Dashboard,
    /// Whether a browser is opened on it.
    pub(super) open: bool,
}

/// Where the dashboard of the demo is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dashboard {
    /// At the usual port if that is free, or else at any other.
    Anywhere,
    /// At this address.
    At(SocketAddr),
    /// There is none.
    Off,
}

/// Keeps copies until it is told to stop.
pub(super) async fn keep(
    assignment: Assignment,
    place: Place,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let Assignment { sources, terms, clock, fetch, standing, notes, mut stop } = assignment;
    let mut telling = fetch.clone();
    // Whoever tries a webhook out has a program on this machine for it.
    telling.allow.extend(["127.0.0.0/8", "::1/128", "localhost"].map(str::to_owned));
    let config = Config {
        bytes: None,
        burst: Some(terms.burst),
        gap: terms.host_gap,
        connections: terms.host_connections,
        crew: ConcurrencySetting::Fixed(terms.connections),
        store: place.store,
        ..Config::plain(terms.budget, fetch)?
    };
    let letters = freshet_notify::NotifySettings {
        fetch: telling.try_into()?,
        notify: config.notify.clone(),
    };
    let from = freshet_daemon::millis(clock.now());
    let daemon = Daemon::start(config, Clock::from(Box::new(clock::millis), from, clock.factor()))?;
    let notifier = Notifier::start(daemon.handle(), letters);
    let known = truth::follow(standing);
    let server = match serve(place.dashboard, daemon.handle(), &notifier, known).await {
        Ok(server) => server,
        Err(error) => {
            notifier.stop().await;
            daemon.stop().await;
            return Err(error.into());
        }
    };
    if let Some(server) = &server {
        announce(server.address(), place.open, &notes);
    }
    let wanted = sources.into_iter().map(|source| {
        let mut wanted = NewSourceRequest::new(source.url);
        wanted.settings.importance = Some(source.importance);
        wanted
    });
    daemon.handle().edit(Edit::Add(wanted.collect())).await?;
    // Whoever cannot say it any more wants it to end too.
    let _ = stop.wait_for(|stop| *stop).await;
    if let Some(server) = server {
        server.stop().await;
    }
    notifier.stop().await;
    daemon.stop().await;
    Ok(())
}

async fn serve(
    dashboard: Dashboard,
    handle: Handle,
    notifier: &Notifier,
    truth: watch::Receiver<Truth>,
) -> Result<Option<Server>, ServeError> {
    let start = |listen| {
        let settings = Settings {
            notifier: Some(notifier.clone()),
            truth: Some(truth.clone()),
            ..Settings::new(listen)
        };
        Server::start(handle.clone(), settings)
    };
    let server = match dashboard {
        Dashboard::Off => return Ok(None),
        Dashboard::At(address) => start(address).await?,
        Dashboard::Anywhere => match start(USUAL).await {
            Err(ServeError::Listen { .. }) => start(SocketAddr::new(USUAL.ip(), 0)).await?,
            started => started?,
        },
    };
    Ok(Some(server))
}

/// Says where the dashboard is, and opens a browser on it if that is wanted.
fn announce(address: SocketAddr, open: bool, notes: &mpsc::UnboundedSender<String>) {
    let url = format!("http://{address}/");
    // Nobody is left to read it if the demo is over.
    let _ = notes.send(format!("the dashboard is at {url}"));
    if !open {
        return;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut browser = Command::new(program);
    browser.arg(&url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = browser.spawn() {
        let _ = notes.send(format!("no browser was opened: cannot run {program}: {error}"));
    }
}
