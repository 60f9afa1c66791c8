//! The daemon and the HTTP service of the demo, on the demo's clock.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use freshet_daemon::{
    Clock, ConcurrencySetting, Config, Daemon, DaemonHandle, NewSourceRequest, SourceEdit,
};
use freshet_demo::Assignment;
use freshet_notify::Notifier;
use freshet_server::{ServeError, Server, ServerSettings, TrueFreshness};
use tokio::sync::{mpsc, watch};

use crate::clock;
use crate::commands::demo::truth_history;

/// Default address of the dashboard.
const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7343);

/// Options of the daemon in the demo.
#[derive(Clone, Debug)]
pub(super) struct DemoDaemonOptions {
    /// Path of the store.
    pub(super) store: PathBuf,
    /// Address of the dashboard.
    pub(super) dashboard: DashboardAddress,
    /// True if the dashboard is opened in a browser.
    pub(super) open: bool,
}

/// Address of the demo's dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DashboardAddress {
    /// The default port, or any free port if it is in use.
    DefaultOrFree,
    /// This address.
    Fixed(SocketAddr),
    /// No dashboard.
    Off,
}

/// Runs the daemon and the HTTP service until the demo stops them.
pub(super) async fn run_daemon(
    assignment: Assignment,
    options: DemoDaemonOptions,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let Assignment { sources, terms, clock, fetch, standing, notes, mut stop } = assignment;
    let mut webhook_fetch = fetch.clone();
    // Webhooks may be sent to programs on this machine.
    webhook_fetch.allow.extend(["127.0.0.0/8", "::1/128", "localhost"].map(str::to_owned));
    let config = Config {
        bytes_per_day: None,
        burst: Some(terms.burst),
        host_gap_days: terms.host_gap,
        host_connections: terms.host_connections,
        fetch_concurrency: ConcurrencySetting::Fixed(terms.connections),
        store: options.store,
        ..Config::with_budget(terms.budget, fetch)?
    };
    let notify_settings = freshet_notify::NotifySettings {
        fetch: webhook_fetch.try_into()?,
        notify: config.notify.clone(),
    };
    let from = freshet_daemon::millis_from_days(clock.now());
    let daemon = Daemon::start(
        config,
        Clock::starting_at(Box::new(clock::now_millis), from, clock.factor()),
    )?;
    let notifier = Notifier::start(daemon.handle(), notify_settings);
    let truth = truth_history::follow(standing);
    let server = match serve(options.dashboard, daemon.handle(), &notifier, truth).await {
        Ok(server) => server,
        Err(error) => {
            notifier.stop().await;
            daemon.stop().await;
            return Err(error.into());
        }
    };
    if let Some(server) = &server {
        announce(server.address(), options.open, &notes);
    }
    let requests = sources.into_iter().map(|source| {
        let mut request = NewSourceRequest::new(source.url);
        request.settings.importance = Some(source.importance);
        request
    });
    daemon.handle().edit(SourceEdit::Add(requests.collect())).await?;
    // A closed channel means that the demo has ended.
    let _ = stop.wait_for(|stop| *stop).await;
    if let Some(server) = server {
        server.stop().await;
    }
    notifier.stop().await;
    daemon.stop().await;
    Ok(())
}

async fn serve(
    dashboard: DashboardAddress,
    handle: DaemonHandle,
    notifier: &Notifier,
    truth: watch::Receiver<TrueFreshness>,
) -> Result<Option<Server>, ServeError> {
    let start = |listen| {
        let settings = ServerSettings {
            notifier: Some(notifier.clone()),
            true_freshness: Some(truth.clone()),
            ..ServerSettings::new(listen)
        };
        Server::start(handle.clone(), settings)
    };
    let server = match dashboard {
        DashboardAddress::Off => return Ok(None),
        DashboardAddress::Fixed(address) => start(address).await?,
        DashboardAddress::DefaultOrFree => match start(DEFAULT_ADDRESS).await {
            Err(ServeError::Listen { .. }) => {
                start(SocketAddr::new(DEFAULT_ADDRESS.ip(), 0)).await?
            }
            started => started?,
        },
    };
    Ok(Some(server))
}

/// Prints the address of the dashboard, and opens it in a browser if requested.
fn announce(address: SocketAddr, open: bool, notes: &mpsc::UnboundedSender<String>) {
    let url = format!("http://{address}/");
    // The channel is closed if the demo has ended.
    let _ = notes.send(format!("the dashboard is at {url}"));
    if !open {
        return;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut browser = Command::new(program);
    browser.arg(&url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = browser.spawn() {
        let _ = notes.send(format!("cannot open a browser: cannot run {program}: {error}"));
    }
}
