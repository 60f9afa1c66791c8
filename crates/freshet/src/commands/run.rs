//! `freshet run`.

mod log;
mod serve;
mod status_line;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use freshet_daemon::{Client, Clock, Config, Control, Daemon, DaemonError, Handle};
use freshet_notify::{Notifier, NotifySettings};
use freshet_store::StoreError;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::clock::{self, Stopwatch};
use crate::commands::instance::{ConfigArguments, PATIENCE, PAUSE};
use crate::commands::run::serve::Listen;
pub(crate) use crate::commands::run::serve::listen;
use crate::commands::run::status_line::StatusLine;
use crate::failure::Failure;
use crate::number::significant;

/// Keep the sources fresh, until Ctrl-C or SIGTERM
///
/// Fetches what is worth it within the budget, and logs what changed: see it with `freshet changes`.
/// Logs go to standard error: for people on a terminal, as JSON lines elsewhere.
#[derive(Debug, Args)]
#[command(after_long_help = "\
SIGINT and SIGTERM end it within 10 seconds: what is under way is finished or handed back, and
all is written. A second one ends it at once; nothing that was recorded is lost by that either.
SIGHUP reads the configuration again; if something is wrong with it, the settings stay as they
are.

The other commands work meanwhile: they talk to the daemon through a socket beside the store,
which is for the same user only.

The dashboard is at http://127.0.0.1:7343/ unless the configuration or --listen says otherwise, and
programs talk to the same address: http://127.0.0.1:7343/v1/docs tells how. Any address that other machines can reach takes a token:
`freshet token add NAME --scope read,write,claim`.

Exit code 0: it was asked to end; 2: it could not start, or broke off.

Examples:
  freshet run
  freshet run --config watch/freshet.toml --log debug
  freshet run --listen 0.0.0.0:7343
  freshet run --log info,freshet_daemon=debug 2> freshet.log")]
pub(crate) struct RunArguments {
    /// Where the service listens: an address with a port, or `off` [default: as in the configuration]
    #[arg(long, value_name = "ADDRESS", value_parser = serve::listen)]
    pub(crate) listen: Option<Listen>,

    /// What is logged: error, warn, info, debug, trace; or so for each part of the program
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log: log::Filter,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let mut config = Config::read(&arguments.config.config)?;
    if let Some(listen) = arguments.listen {
        (config.server.listen, config.server.said) = (listen.0, true);
    }
    let line = Arc::new(StatusLine::new(config.objective.to_string()));
    log::start(&arguments.log, Arc::clone(&line));
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .thread_name("freshet")
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let ended = runtime.block_on(live(&arguments.config.config, config, &line));
    line.clear();
    // What hangs in the system must not keep a process that is done.
    runtime.shutdown_background();
    ended
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn end(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}

enum Heard {
    Reload,
    End(&'static str),
    BrokeOff,
}

async fn live(path: &Path, config: Config, line: &StatusLine) -> Result<ExitCode, Failure> {
    // Whoever says stop while sources are read means it.
    let deaf = |error| Failure::new(format!("cannot hear signals: {error}"));
    let mut signals = Signals::new().map_err(deaf)?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(deaf)?;
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
    let (sources, a_day) = (status.sources, significant(status.budget));
    tracing::info!(
        sources,
        %budget,
        fetches_a_day = a_day,
        store = %store.display(),
        "keeping sources fresh"
    );
    if sources == 0 {
        tracing::info!("no sources yet: add some with `freshet add https://example.com/`");
    }
    // Whoever finds the door open finds all the rest as well.
    let control = match Control::open(handle.clone()) {
        Ok(control) => Some(control),
        Err(error) => {
            tracing::warn!("{error}; commands that change something will not work meanwhile");
            None
        }
    };
    let mut watch = handle.watch();
    let heard = loop {
        let heard = tokio::select! {
            signal = signals.end() => Heard::End(signal),
            _ = hang_up.recv() => Heard::Reload,
            beat = watch.changed() => match beat {
                Ok(()) => {
                    line.show(&watch.borrow_and_update());
                    continue;
                }
                Err(_) => Heard::BrokeOff,
            },
        };
        match heard {
            Heard::Reload => reload(path, &store, &handle, &notifier).await,
            heard => break heard,
        }
    };
    line.clear();
    let socket = control.as_ref().map(|control| control.socket().to_owned());
    let closed = control.map(Control::close);
    let end = async {
        let close = async {
            if let Some(closed) = closed {
                closed.await;
            }
        };
        let serve = async {
            if let Some(server) = server {
                server.stop().await;
            }
        };
        // What was asked is answered and what was told is written down while there is a daemon.
        tokio::join!(serve, notifier.stop());
        tokio::join!(close, daemon.stop()).1
    };
    match heard {
        Heard::End(signal) => {
            tracing::info!(signal, "stopping; once more to stop at once");
            tokio::select! {
                written = end => {
                    if !written {
                        let fact = "stopped, and not all could be written";
                        return Err(Failure::new(fact).hint("the log says why"));
                    }
                    tracing::info!("stopped");
                }
                signal = signals.end() => {
                    tracing::warn!(signal, "stopped at once");
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
            end.await;
            Err(Failure::new("the daemon broke off").hint("the log says why"))
        }
    }
}

/// Starts the daemon. Commands hold the store for a moment; another daemon does not let go of it.
async fn start(config: &Config) -> Result<Daemon, Failure> {
    let watch = Stopwatch::start();
    loop {
        let wall = Clock::new(Box::new(clock::millis), 1.0);
        match Daemon::start(config.clone(), wall) {
            Err(DaemonError::Store(error @ StoreError::InUse { .. })) => {
                let is_daemon = !matches!(Client::connect(&config.store), Ok(None));
                if is_daemon || watch.elapsed() > PATIENCE {
                    return Err(error.into());
                }
                tokio::time::sleep(PAUSE).await;
            }
            started => return Ok(started?),
        }
    }
}

async fn reload(path: &Path, store: &Path, handle: &Handle, notifier: &Notifier) {
    let read = Config::read(path).and_then(|config| {
        config.fetch_secrets()?;
        config.mail_secret()?;
        Ok(config)
    });
    match read {
        Ok(mut config) => {
            if config.store != store {
                tracing::warn!(
                    "`store` is {} now: that takes a restart, and until then it stays {}",
                    config.store.display(),
                    store.display()
                );
                config.store = store.to_owned();
            }
            notifier.reload(NotifySettings::from_config(&config));
            if handle.reload(config).await.is_err() {
                tracing::error!("the configuration could not be taken: the daemon has stopped");
            }
        }
        Err(error) => tracing::error!("{error}; the settings stay as they are"),
    }
}
