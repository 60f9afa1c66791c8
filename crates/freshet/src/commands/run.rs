//! `freshet run`.

mod log;
mod serve;
mod status_line;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use freshet_daemon::{
    Clock, Config, ControlClient, ControlServer, Daemon, DaemonError, DaemonHandle,
};
use freshet_notify::{Notifier, NotifySettings};
use freshet_store::StoreError;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::clock::{self, Stopwatch};
use crate::commands::instance::{ConfigArguments, LOCK_RETRY_INTERVAL, LOCK_TIMEOUT};
use crate::commands::run::serve::Listen;
pub(crate) use crate::commands::run::serve::parse_listen;
use crate::commands::run::status_line::StatusLine;
use crate::failure::Failure;
use crate::number::format_significant;

/// Run the daemon
///
/// Fetches sources within the budget and records their changes until Ctrl-C or SIGTERM; `freshet changes`
/// shows the changes. Logs go to standard error: as text on a terminal, as JSON lines otherwise.
#[derive(Debug, Args)]
#[command(after_long_help = "\
SIGINT and SIGTERM stop the daemon within 10 seconds: fetches in flight are completed or handed
back, and everything is written. A second signal stops it immediately, without losing anything
that was recorded. SIGHUP reloads the configuration; if it is invalid, the current settings stay
in effect.

Other commands work while the daemon runs: they talk to it through a socket beside the store,
which only the same user can open.

The dashboard and the API listen at http://127.0.0.1:7343/ unless the configuration or --listen
says otherwise; http://127.0.0.1:7343/v1/docs documents the API. An address that other machines
can reach requires a token: `freshet token add NAME --scope read,write,claim`.

Exit code 0: stopped by a signal; 2: could not start, or failed.

Examples:
  freshet run
  freshet run --config watch/freshet.toml --log debug
  freshet run --listen 0.0.0.0:7343
  freshet run --log info,freshet_daemon=debug 2> freshet.log")]
pub(crate) struct RunArguments {
    /// Address and port of the HTTP service, or `off` [default: from the configuration]
    #[arg(long, value_name = "ADDRESS", value_parser = serve::parse_listen)]
    pub(crate) listen: Option<Listen>,

    /// Log level: off, error, warn, info, debug or trace, also per module
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log: log::LogFilter,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let mut config = Config::read(&arguments.config.config)?;
    if let Some(listen) = arguments.listen {
        (config.server.listen, config.server.is_listen_explicit) = (listen.0, true);
    }
    let line = Arc::new(StatusLine::new());
    log::start(&arguments.log, Arc::clone(&line));
    for hint in &config.deprecation_hints {
        tracing::warn!("{hint}");
    }
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .thread_name("freshet")
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let ended = runtime.block_on(run_until_stopped(&arguments.config.config, config, &line));
    line.clear();
    // Blocking system calls must not delay the exit.
    runtime.shutdown_background();
    ended
}

/// Signals that stop the daemon.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for a signal and returns its name.
    async fn wait(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}

enum RunEvent {
    Reload,
    Stop(&'static str),
    DaemonFailed,
}

async fn run_until_stopped(
    path: &Path,
    config: Config,
    line: &StatusLine,
) -> Result<ExitCode, Failure> {
    // Signals are handled from the start, also while sources are being loaded.
    let failure = |error| Failure::new(format!("cannot handle signals: {error}"));
    let mut signals = StopSignals::new().map_err(failure)?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(failure)?;
    let (budget, store) = (config.budget, config.store.clone());
    let daemon = start(&config).await?;
    let handle = daemon.handle();
    let notifier = Notifier::start(handle.clone(), NotifySettings::from_config(&config));
    let server = match serve::start(&config.server, handle.clone(), notifier.clone()).await {
        Ok(server) => server,
        Err(failure) => {
            notifier.stop().await;
            daemon.stop().await;
            return Err(failure);
        }
    };
    let status = handle.status().await?;
    let (sources, fetches_a_day) = (status.sources, format_significant(status.budget));
    tracing::info!(
        sources,
        %budget,
        fetches_a_day,
        store = %store.display(),
        "keeping sources fresh"
    );
    if sources == 0 {
        tracing::info!("no sources yet: add some with `freshet add https://example.com/`");
    }
    // The control socket is opened last, when everything else is ready.
    let control = match ControlServer::open(handle.clone()) {
        Ok(control) => Some(control),
        Err(error) => {
            tracing::warn!("{error}; commands that edit the store will fail while the daemon runs");
            None
        }
    };
    let mut watch = handle.watch_status();
    let event = loop {
        let event = tokio::select! {
            signal = signals.wait() => RunEvent::Stop(signal),
            _ = hang_up.recv() => RunEvent::Reload,
            changed = watch.changed() => match changed {
                Ok(()) => {
                    line.show(&watch.borrow_and_update());
                    continue;
                }
                Err(_) => RunEvent::DaemonFailed,
            },
        };
        match event {
            RunEvent::Reload => reload(path, &store, &handle, &notifier).await,
            event => break event,
        }
    };
    line.clear();
    let socket = control.as_ref().map(|control| control.socket().to_owned());
    let closing = control.map(ControlServer::close);
    let stop = async {
        let close_control = async {
            if let Some(closing) = closing {
                closing.await;
            }
        };
        let stop_server = async {
            if let Some(server) = server {
                server.stop().await;
            }
        };
        // Requests and deliveries in flight are completed while the daemon can still record them.
        tokio::join!(stop_server, notifier.stop());
        tokio::join!(close_control, daemon.stop()).1
    };
    match event {
        RunEvent::Stop(signal) => {
            tracing::info!(signal, "stopping; repeat the signal to stop immediately");
            tokio::select! {
                written = stop => {
                    if !written {
                        let fact = "stopped, but some results could not be written";
                        return Err(Failure::new(fact).with_hint("see the log for the reason"));
                    }
                    tracing::info!("stopped");
                }
                signal = signals.wait() => {
                    tracing::warn!(signal, "stopped immediately");
                    if let Some(socket) = socket {
                        let _ = std::fs::remove_file(socket);
                    }
                    line.clear();
                    std::process::exit(130);
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            stop.await;
            Err(Failure::new("the daemon failed").with_hint("see the log for the reason"))
        }
    }
}

/// Starts the daemon. Waits for commands that hold the store, but not for another daemon.
async fn start(config: &Config) -> Result<Daemon, Failure> {
    let watch = Stopwatch::start();
    loop {
        let wall = Clock::new(Box::new(clock::now_millis), 1.0);
        match Daemon::start(config.clone(), wall) {
            Err(DaemonError::Store(error @ StoreError::InUse { .. })) => {
                let is_daemon = !matches!(ControlClient::connect(&config.store), Ok(None));
                if is_daemon || watch.elapsed() > LOCK_TIMEOUT {
                    return Err(error.into());
                }
                tokio::time::sleep(LOCK_RETRY_INTERVAL).await;
            }
            started => return Ok(started?),
        }
    }
}

async fn reload(path: &Path, store: &Path, handle: &DaemonHandle, notifier: &Notifier) {
    let read = Config::read(path).and_then(|config| {
        config.check_fetch_secrets()?;
        config.check_mail_secret()?;
        Ok(config)
    });
    match read {
        Ok(mut config) => {
            if config.store != store {
                tracing::warn!(
                    "`store` is now {}: restart the daemon to use it; until then it stays {}",
                    config.store.display(),
                    store.display()
                );
                config.store = store.to_owned();
            }
            notifier.reload(NotifySettings::from_config(&config));
            if handle.reload(config).await.is_err() {
                tracing::error!("cannot apply the configuration: the daemon has stopped");
            }
        }
        Err(error) => tracing::error!("{error}; the current settings stay in effect"),
    }
}
