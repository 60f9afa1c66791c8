//! A daemon: started, asked, stopped.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use freshet_store::{Reader, Store, StoreError};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::config::{Config, ConfigError};
use crate::core::{Ask, Checked, Core, Flow, engine_settings};
use crate::crew::Crew;
use crate::detectors::Detectors;
use crate::edit::{Applied, Edit, EditError};
use crate::explained::Explained;
use crate::load::{self, Rest};
use crate::status::Status;
use crate::turns::{Giver, Left, Turn, Want};
use crate::work::{Readers, Shop};
use crate::writer;

/// Questions that may wait.
const WAITING: usize = 1024;

/// A daemon that runs. Dropped, it goes on; [`stop`](Self::stop) ends it.
pub struct Daemon {
    handle: Handle,
    core: JoinHandle<bool>,
    writer: thread::JoinHandle<Store>,
}

/// A way to ask a daemon. Clones ask the same one.
#[derive(Clone)]
pub struct Handle {
    asks: mpsc::Sender<Ask>,
    status: watch::Receiver<Status>,
    store: PathBuf,
}

/// Why there is no daemon, or none any more.
#[derive(Debug, Error)]
pub enum LiveError {
    /// The store says no.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The system says no.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] std::io::Error),
    /// The configuration says no.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// A change says no.
    #[error("{0}")]
    Edit(#[from] EditError),
    /// It has stopped.
    #[error("the daemon has stopped")]
    Stopped,
    /// There is no such source.
    #[error("there is no source {0}")]
    NoSource(String),
    /// A host on the way is to be left alone.
    #[error("{host} is to be left alone for {seconds:.0} s more")]
    Rests {
        /// Which.
        host: String,
        /// How long.
        seconds: f64,
    },
}

impl LiveError {
    /// The way out, if there is one to name.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::NoSource(url) => Some(format!("add it with `freshet add {url}`")),
            Self::Config(error) => error.hint(),
            Self::Rests { .. } => Some("try it again then".to_owned()),
            Self::Edit(_) | Self::Thread(_) | Self::Stopped => None,
        }
    }
}

impl Daemon {
    /// Starts one. It must be called within a tokio runtime with several threads.
    ///
    /// # Errors
    /// If the store cannot be had.
    pub fn start(config: Config, clock: Clock) -> Result<Self, LiveError> {
        let (now, day) = (clock.now(), clock.day());
        let mut store = Store::open(&config.store, now)?;
        writer::keep(&mut store, config.retention, config.size)?;
        let rest = Rest::read(&store)?;
        let allowance = rest.allowance.resume(config.bytes, day);
        let count = usize::try_from(store.count(&freshet_store::Query::default())?);
        let settings = engine_settings(&config, count.unwrap_or(usize::MAX), &allowance);
        let mut engine = load::engine(&store, &rest, day, settings)?;
        let back = rest.back(day);
        if back > 0.0 {
            tracing::warn!(
                seconds = (back * 86_400.0) as u64,
                "the clock was set back since the last run: what is due keeps its distance"
            );
        }
        load::sources(&store, &mut engine, day, back)?;
        let (notices, noticed) = mpsc::unbounded_channel();
        let giver = Giver::Core(notices);
        let shop = Arc::new(Shop::new(&config, clock, store.path().to_owned(), giver));
        let mut flow = Flow::default();
        load::manners(&store, &mut engine, &mut flow.strangers, now, back)?;
        let cursor = store.last_cursor()?;
        let path = store.path().to_owned();
        tracing::info!(sources = engine.len(), store = %path.display(), "started");

        let (orders, ordered) = mpsc::unbounded_channel();
        let (tell, written) = mpsc::unbounded_channel();
        let writer = writer::start(store, ordered, tell)?;
        let (asks, asked) = mpsc::channel(WAITING);
        let count = Status { since: now, at: now, cursor, ..Status::default() };
        let (status, watched) = watch::channel(count.clone());
        let core = Core {
            engine,
            crew: Crew::new(config.crew),
            config,
            shop,
            allowance,
            asks: asked,
            writer: orders,
            written,
            status,
            flow,
            notices: noticed,
            count,
        };
        let handle = Handle { asks, status: watched, store: path };
        Ok(Self { handle, core: tokio::spawn(core.run()), writer })
    }

    /// A way to ask it.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Ends it: what is under way is finished if that takes no longer than some seconds, and all is
    /// written. Says whether it could be.
    pub async fn stop(self) -> bool {
        let _ = self.handle.asks.send(Ask::Stop).await;
        let written = self.core.await.unwrap_or(false);
        // Its store is closed when nobody can write to it any more.
        let _ = tokio::task::spawn_blocking(move || self.writer.join().map(drop)).await;
        written
    }
}

impl Handle {
    /// Makes a change to sources.
    ///
    /// # Errors
    /// If something in it cannot be meant, or it cannot be written.
    pub async fn edit(&self, edit: Edit) -> Result<Applied, EditError> {
        let (reply, answer) = oneshot::channel();
        self.ask(Ask::Edit(edit, reply)).await.map_err(|_| EditError::Stopped)?;
        answer.await.unwrap_or(Err(EditError::Stopped))
    }

    /// Why a source is due when it is.
    ///
    /// # Errors
    /// If there is no such source, or the daemon has stopped.
    pub async fn explain(&self, url: &str) -> Result<Explained, LiveError> {
        let id = self.find(url)?;
        let (reply, answer) = oneshot::channel();
        self.ask(Ask::Explain(id, reply)).await?;
        let explained = answer.await.map_err(|_| LiveError::Stopped)?;
        explained.ok_or_else(|| LiveError::NoSource(url.to_owned()))
    }

    /// Fetches a source now. Returns when what came of it is recorded.
    ///
    /// # Errors
    /// If there is no such source, or the daemon has stopped.
    pub async fn check(&self, url: &str) -> Result<(), LiveError> {
        let id = self.find(url)?;
        let (reply, answer) = oneshot::channel();
        self.ask(Ask::Check(id, reply)).await?;
        match answer.await {
            Ok(Checked::Recorded) => Ok(()),
            Ok(Checked::NoSource) => Err(LiveError::NoSource(url.to_owned())),
            Ok(Checked::PutOff(it)) => {
                Err(LiveError::Rests { host: it.host, seconds: it.days * 86_400.0 })
            }
            Err(_) => Err(LiveError::Stopped),
        }
    }

    /// A turn at a host for somebody outside: the day from which on it is theirs.
    pub(crate) async fn lend(&self, want: Want) -> Result<Turn, LiveError> {
        let (reply, answer) = oneshot::channel();
        self.ask(Ask::Lend(want, reply)).await?;
        answer.await.map_err(|_| LiveError::Stopped)
    }

    /// What somebody outside heard from a host.
    pub(crate) async fn heard(&self, left: Left) -> Result<(), LiveError> {
        let (reply, answer) = oneshot::channel();
        self.ask(Ask::Heard(left, reply)).await?;
        answer.await.map_err(|_| LiveError::Stopped)
    }

    fn find(&self, url: &str) -> Result<u32, LiveError> {
        let canonical = crate::work::host_of(url).map_or_else(|_| url.to_owned(), |(url, _)| url);
        let found = Reader::open(&self.store)?.find(&canonical)?;
        found.ok_or_else(|| LiveError::NoSource(url.to_owned()))
    }

    /// How it goes now.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn status(&self) -> Result<Status, LiveError> {
        let (reply, answer) = oneshot::channel();
        self.ask(Ask::Status(reply)).await?;
        answer.await.map_err(|_| LiveError::Stopped)
    }

    /// How it went at the last beat, and a way to wait for the next one.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Status> {
        self.status.clone()
    }

    /// Writes a copy of the store while it is in use.
    ///
    /// # Errors
    /// If it cannot be written.
    pub async fn backup(&self, path: PathBuf, force: bool) -> Result<(), LiveError> {
        let (reply, answer) = oneshot::channel();
        self.ask(Ask::Backup(path, force, reply)).await?;
        Ok(answer.await.map_err(|_| LiveError::Stopped)??)
    }

    /// Goes on with another configuration. The store stays where it is.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn reload(&self, config: Config) -> Result<(), LiveError> {
        self.ask(Ask::Reload(Box::new(config))).await
    }

    /// The file of the store.
    #[must_use]
    pub fn store(&self) -> &std::path::Path {
        &self.store
    }

    async fn ask(&self, ask: Ask) -> Result<(), LiveError> {
        self.asks.send(ask).await.map_err(|_| LiveError::Stopped)
    }
}

impl Shop {
    pub(crate) fn new(config: &Config, clock: Clock, store: PathBuf, giver: Giver) -> Self {
        Self {
            fetcher: freshet_fetch::Fetcher::new(config.fetch.clone()),
            detectors: Detectors::new(config.detect.clone()),
            readers: Readers::new(store),
            clock: Arc::new(clock),
            giver: Arc::new(giver),
            gap: config.gap,
        }
    }

    /// The same with another configuration.
    pub(crate) fn with(&self, config: &Config) -> Arc<Self> {
        Arc::new(Self {
            fetcher: freshet_fetch::Fetcher::new(config.fetch.clone()),
            detectors: Detectors::new(config.detect.clone()),
            readers: self.readers.another(),
            clock: Arc::clone(&self.clock),
            giver: Arc::clone(&self.giver),
            gap: config.gap,
        })
    }
}
