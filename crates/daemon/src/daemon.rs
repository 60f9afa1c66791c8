//! A daemon: started, asked, stopped.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use freshet_detect::{Detector, Document, Reading};
use freshet_engine::{SourceBelief, SourceStatus};
use freshet_fetch::{InvalidRequest, Request};
use freshet_store::{Reader, SignalSourceKind, Store, StoreError, Subscription, Token};
use thiserror::Error;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::adjust::{Adjusted, InForce, Unfit};
use crate::claim::{Claim, Claimed, Report, Seen, Taken};
use crate::clock::{Clock, Millis};
use crate::config::{Config, ConfigError};
use crate::core::{Checked, Command, Core, InFlight, JudgedReport, SignalSources, engine_settings};
use crate::destination::{Changed, DestinationEdit, DestinationError, edit_destination};
use crate::detectors::Detectors;
use crate::edit::{Applied, Edit, EditError};
use crate::explained::Explained;
use crate::fetch_concurrency::FetchConcurrency;
use crate::hosts::HostNow;
use crate::indexnow::Keys;
use crate::load::{self, LoadedCheckpoint};
use crate::permits::{HostPermits, Permit, PermitRequest, PermitReturn};
use crate::plan::{Plan, SourceSnapshots};
use crate::signal_sources::{SignalSourceChange, SignalSourceError};
use crate::status::Status;
use crate::websub::{self, Subscriber};
use crate::work::{FetchContext, Readers};
use crate::writer;

/// Questions that may wait.
const WAITING: usize = 1024;

/// A daemon that runs. Dropped, it goes on; [`stop`](Self::stop) ends it.
pub struct Daemon {
    handle: Handle,
    core: JoinHandle<bool>,
    writer: thread::JoinHandle<Store>,
    websub: websub::Running,
}

/// A way to ask a daemon. Clones ask the same one.
#[derive(Clone)]
pub struct Handle {
    asks: mpsc::Sender<Command>,
    status: watch::Receiver<Status>,
    shop: watch::Receiver<Arc<FetchContext>>,
    /// How often tokens came or went.
    tokens: Arc<watch::Sender<u64>>,
    /// Destinations that were changed by somebody.
    destinations: broadcast::Sender<Option<u32>>,
    websub: Arc<Subscriber>,
    keys: Arc<Keys>,
    store: PathBuf,
}

/// Why there is no daemon, or none any more.
#[derive(Debug, Error)]
pub enum DaemonError {
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
    /// A signal source says no.
    #[error("{0}")]
    Herald(#[from] SignalSourceError),
    /// A setting says no.
    #[error("{0}")]
    Unfit(#[from] Unfit),
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

impl DaemonError {
    /// The way out, if there is one to name.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::NoSource(url) => Some(format!("add it with `freshet add {url}`")),
            Self::Config(error) => error.hint(),
            Self::Herald(error) => error.hint(),
            Self::Rests { .. } => Some("try it again then".to_owned()),
            Self::Edit(_) | Self::Unfit(_) | Self::Thread(_) | Self::Stopped => None,
        }
    }
}

impl Daemon {
    /// Starts one. It must be called within a tokio runtime with several threads.
    ///
    /// # Errors
    /// If the store cannot be had, or a secret is not there.
    pub fn start(config: Config, clock: Clock) -> Result<Self, DaemonError> {
        config.fetch_secrets()?;
        config.mail_secret()?;
        let (now, day) = (clock.now(), clock.day());
        let (file, mut config) = (config.clone(), config);
        let mut store = Store::open(&config.store, now)?;
        let adjusted = Adjusted::read(&store)?;
        if let Err(why) = adjusted.apply(&mut config) {
            tracing::warn!("{why}: the configuration counts");
        }
        writer::keep(&mut store, config.retention, config.size)?;
        store.set_alert_thresholds(config.watch);
        let named = SignalSourceChange::to_file(&store, &config.signals, now)?;
        named.apply(&mut store)?;
        let rest = LoadedCheckpoint::read(&store)?;
        let allowance = rest.allowance.resume(config.bytes, day);
        let count = usize::try_from(store.count_sources(&freshet_store::SourceQuery::default())?);
        let settings = engine_settings(&config, count.unwrap_or(usize::MAX), &allowance);
        let mut engine = load::engine(&store, &rest, day, settings)?;
        let back = rest.back(day);
        if back > 0.0 {
            tracing::warn!(
                seconds = (back * 86_400.0) as u64,
                "the clock was set back since the last run: what is due keeps its distance"
            );
        }
        let (heralds, told) = SignalSources::load(&store, back)?;
        engine.step(day, told, &mut Vec::new());
        load::sources(&store, &mut engine, day, back)?;
        load::ears(&store, &mut engine, day)?;
        let (notices, noticed) = mpsc::unbounded_channel();
        let giver = HostPermits::Core(notices);
        let shop = Arc::new(FetchContext::new(&config, clock, store.path().to_owned(), giver));
        let mut flow = InFlight::default();
        flow.heralds = heralds;
        load::host_cooldowns(&store, &mut engine, &mut flow.strangers, now, back)?;
        flow.claims.resume(store.leases()?, &mut engine, now, day);
        let cursor = store.last_cursor()?;
        let path = store.path().to_owned();
        let websub = Arc::new(Subscriber::new(store.subscriptions()?));
        let pages = engine.len().saturating_sub(flow.heralds.read());
        tracing::info!(sources = pages, store = %path.display(), "started");

        let (orders, ordered) = mpsc::unbounded_channel();
        let (tell, written) = mpsc::unbounded_channel();
        let writer = writer::start(store, ordered, tell, now)?;
        let (asks, asked) = mpsc::channel(WAITING);
        let count = Status { since: now, at: now, cursor, ..Status::default() };
        let (status, watched) = watch::channel(count.clone());
        let (shops, seen) = watch::channel(Arc::clone(&shop));
        let core = Core {
            engine,
            crew: FetchConcurrency::new(config.crew),
            config,
            file,
            adjusted,
            shop,
            shops,
            allowance,
            asks: asked,
            writer: orders,
            written,
            status,
            flow,
            notices: noticed,
            count,
            websub: Arc::clone(&websub),
        };
        let tokens = Arc::new(watch::Sender::new(0));
        let (destinations, _) = broadcast::channel(WAITING);
        let (shop, status) = (seen, watched);
        let handle = Handle {
            asks,
            status,
            shop,
            tokens,
            destinations,
            websub,
            keys: Arc::default(),
            store: path,
        };
        let core = tokio::spawn(core.run());
        let websub = websub::start(handle.clone());
        Ok(Self { handle, core, writer, websub })
    }

    /// A way to ask it.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Ends it: what is under way is finished if that takes no longer than some seconds, and all is
    /// written. Says whether it could be.
    pub async fn stop(self) -> bool {
        self.websub.stop().await;
        let _ = self.handle.asks.send(Command::Stop).await;
        let written = self.core.await.unwrap_or(false);
        // Its store is closed when nobody can write to it any more.
        let close = move || {
            let Ok(mut store) = self.writer.join() else { return };
            // Whoever copies the file from now on has all of it.
            if let Err(error) = store.checkpoint_wal() {
                tracing::warn!("what is in the log of the store stays there: {error}");
            }
        };
        let _ = tokio::task::spawn_blocking(close).await;
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
        self.ask(Command::Edit(edit, reply)).await.map_err(|_| EditError::Stopped)?;
        answer.await.unwrap_or(Err(EditError::Stopped))
    }

    /// Why a source is due when it is.
    ///
    /// # Errors
    /// If there is no such source, or the daemon has stopped.
    pub async fn explain(&self, url: &str) -> Result<Explained, DaemonError> {
        let id = self.find(url)?;
        self.explain_number(id).await?.ok_or_else(|| DaemonError::NoSource(url.to_owned()))
    }

    /// The same of a source by its number; `None` if there is no such source.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn explain_number(&self, id: u32) -> Result<Option<Explained>, DaemonError> {
        let mut explained = self.answer(|reply| Command::Explain(id, reply)).await?;
        if explained.as_ref().is_some_and(|it| it.signals.is_some()) {
            let named = self.read(move |reader| {
                if let Some(it) = &mut explained {
                    it.name_herald(reader)?;
                }
                Ok(explained)
            });
            explained = named.await?;
        }
        Ok(explained)
    }

    /// Fetches a source now. Returns when what came of it is recorded.
    ///
    /// # Errors
    /// If there is no such source, or the daemon has stopped.
    pub async fn check(&self, url: &str) -> Result<(), DaemonError> {
        let id = self.find(url)?;
        match self.check_number(id).await {
            Err(DaemonError::NoSource(_)) => Err(DaemonError::NoSource(url.to_owned())),
            checked => checked,
        }
    }

    /// The same of a source by its number.
    ///
    /// # Errors
    /// If there is no such source, or the daemon has stopped.
    pub async fn check_number(&self, id: u32) -> Result<(), DaemonError> {
        match self.answer(|reply| Command::Check(id, reply)).await? {
            Checked::Recorded => Ok(()),
            Checked::NoSource => Err(DaemonError::NoSource(id.to_string())),
            Checked::PutOff(it) => {
                Err(DaemonError::Rests { host: it.host, seconds: it.days * 86_400.0 })
            }
        }
    }

    /// A turn at a host for somebody outside: the day from which on it is theirs.
    pub(crate) async fn lend(&self, want: PermitRequest) -> Result<Permit, DaemonError> {
        let (reply, answer) = oneshot::channel();
        self.ask(Command::Lend(want, reply)).await?;
        answer.await.map_err(|_| DaemonError::Stopped)
    }

    /// What somebody outside heard from a host.
    pub(crate) async fn heard(&self, left: PermitReturn) -> Result<(), DaemonError> {
        let (reply, answer) = oneshot::channel();
        self.ask(Command::Heard(left, reply)).await?;
        answer.await.map_err(|_| DaemonError::Stopped)
    }

    fn find(&self, url: &str) -> Result<u32, DaemonError> {
        let canonical = crate::work::host_of(url).map_or_else(|_| url.to_owned(), |(url, _)| url);
        let found = Reader::open(&self.store)?.find_source(&canonical)?;
        found.ok_or_else(|| DaemonError::NoSource(url.to_owned()))
    }

    /// How it goes now.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn status(&self) -> Result<Status, DaemonError> {
        let (reply, answer) = oneshot::channel();
        self.ask(Command::Status(reply)).await?;
        answer.await.map_err(|_| DaemonError::Stopped)
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
    pub async fn backup(&self, path: PathBuf, force: bool) -> Result<(), DaemonError> {
        let (reply, answer) = oneshot::channel();
        self.ask(Command::Backup(path, force, reply)).await?;
        Ok(answer.await.map_err(|_| DaemonError::Stopped)??)
    }

    /// Has something written to the store by the one who writes, in line with all else. When this
    /// returns, it is durable.
    ///
    /// # Errors
    /// If it cannot be written, or the daemon has stopped.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, DaemonError> {
        let (reply, answer) = oneshot::channel();
        let work = move |store: &mut Store| {
            // Who asked may have gone.
            let _ = reply.send(work(store));
        };
        self.ask(Command::Write(Box::new(work))).await?;
        Ok(answer.await.map_err(|_| DaemonError::Stopped)??)
    }

    /// Gives somebody else sources to fetch: as many as are due now, and at most so many. What is not
    /// reported within the time goes back.
    ///
    /// # Errors
    /// If the store cannot be read, or the daemon has stopped.
    pub async fn claim(&self, most: u32, length: Duration) -> Result<Claim, DaemonError> {
        let (reply, answer) = oneshot::channel();
        self.ask(Command::Claim(most, length, reply)).await?;
        let granted = answer.await.map_err(|_| DaemonError::Stopped)?;
        let shop = Arc::clone(&self.shop.borrow());
        let ids: Vec<u32> = granted.sources.iter().map(|(id, _)| *id).collect();
        let found = shop.readers.with(|reader| reader.addresses(&ids))?;
        let mut reasons = granted.sources.iter();
        // In the same order; those that are gone are left out.
        let items = found.into_iter().filter_map(|address| {
            let (_, reason) = reasons.find(|(id, _)| *id == address.id)?;
            Some(Claimed {
                source: address.id,
                url: address.url,
                validators: address.validators,
                reason: reason.name(),
            })
        });
        let (lease, until, next) = (granted.lease, granted.until, granted.next);
        let mut claim = Claim { lease, until, items: items.collect(), next };
        self.keep_to_the_guard(&shop, &mut claim).await?;
        Ok(claim)
    }

    /// What the guard keeps us from is not for others to fetch either; files and commands are of this
    /// machine alone.
    async fn keep_to_the_guard(
        &self,
        shop: &FetchContext,
        claim: &mut Claim,
    ) -> Result<(), DaemonError> {
        let mut refused = Vec::new();
        claim.items.retain(|item| {
            let Err(why) = may_be_claimed(shop.fetcher.settings(), &item.url) else { return true };
            refused.push(Report {
                lease: claim.lease,
                source: item.source,
                seen: Seen::Disallowed,
                at: None,
                status: 0,
                bytes: 0,
                duration: Duration::ZERO,
                validators: None,
                note: why,
            });
            false
        });
        if !refused.is_empty() {
            self.report(&refused).await?;
        }
        Ok(())
    }

    /// Takes what somebody else saw. When this returns, it is durable. One answer for each.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn report(&self, reports: &[Report]) -> Result<Vec<Taken>, DaemonError> {
        let shop = Arc::clone(&self.shop.borrow());
        let now = shop.clock.now();
        let mut told = Vec::with_capacity(reports.len());
        let mut weighed = Vec::with_capacity(reports.len());
        for report in reports {
            let at = report.at.unwrap_or(now);
            let judged = shop.weigh(report, at);
            weighed.push(judged.is_some());
            told.extend(judged.map(|judged| JudgedReport { lease: report.lease, at, judged }));
            // Others have a turn: a document takes its time.
            tokio::task::consume_budget().await;
        }
        let (reply, answer) = oneshot::channel();
        self.ask(Command::Report(told, reply)).await?;
        let mut taken = answer.await.map_err(|_| DaemonError::Stopped)?.into_iter();
        let each = weighed.into_iter().map(|weighed| {
            let taken = if weighed { taken.next() } else { None };
            taken.unwrap_or(Taken::NoSource)
        });
        Ok(each.collect())
    }

    /// Somebody says that sources have changed; `by` is who. Those whose every change is announced
    /// believe it; of others it counts as far as it has proved true. Gives how many of them there are.
    ///
    /// # Errors
    /// If it cannot be written who says it, or the daemon has stopped.
    pub async fn signal(&self, by: &str, sources: Vec<u32>) -> Result<u64, DaemonError> {
        let herald = self.herald_named(SignalSourceKind::Api, by).await?;
        self.answer(|reply| Command::Signal(sources, herald, reply)).await
    }

    /// What a fetch is worth now, and what it buys.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn plan(&self) -> Result<Plan, DaemonError> {
        self.answer(Command::Plan).await
    }

    /// What is known of so many sources at most, spread over all.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn sample(&self, most: usize) -> Result<Vec<(u32, SourceBelief)>, DaemonError> {
        self.answer(|reply| Command::Sample(most, reply)).await
    }

    /// What hosts are doing, by their numbers. Those of which nothing is known are left out.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn hosts(&self, ids: Vec<u32>) -> Result<Vec<HostNow>, DaemonError> {
        self.answer(|reply| Command::Hosts(ids, reply)).await
    }

    /// Hosts that fail or cannot take all that is worth the price, at most so many, the worst first.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn worst_hosts(&self, most: usize) -> Result<Vec<HostNow>, DaemonError> {
        self.answer(|reply| Command::WorstHosts(most, reply)).await
    }

    /// Sources as they are now, with numbers from one on: as many as can be looked at without keeping
    /// fetches waiting. Who wants all goes on from [`SourceSnapshots::next`].
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn see(&self, from: u32) -> Result<SourceSnapshots, DaemonError> {
        self.answer(|reply| Command::See(from, reply)).await
    }

    /// Where some sources stand now, in the order of the numbers; those that are none are left out.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn glance(&self, ids: Vec<u32>) -> Result<Vec<SourceStatus>, DaemonError> {
        self.answer(|reply| Command::Glance(ids, reply)).await
    }

    /// The settings that can be changed while it runs.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn settings(&self) -> Result<InForce, DaemonError> {
        self.answer(Command::Settings).await
    }

    /// Changes settings, in place of all that was said since the configuration was written. They hold
    /// over restarts.
    ///
    /// # Errors
    /// If something cannot be meant or written, or the daemon has stopped.
    pub async fn adjust(&self, adjusted: Adjusted) -> Result<(), DaemonError> {
        let mut trial = Config::plain(1.0, freshet_fetch::RawSettings::default())?;
        adjusted.apply(&mut trial)?;
        Ok(self.answer(|reply| Command::Adjust(adjusted, reply)).await??)
    }

    /// Changes whom it tells. When this returns, it is durable.
    ///
    /// # Errors
    /// If it cannot be done, or the daemon has stopped.
    pub async fn edit_destination(&self, edit: DestinationEdit) -> Result<u64, DestinationError> {
        let now = self.now();
        let changed = edit.id();
        let done = self.write(move |store| Ok(edit_destination(store, &edit, now))).await;
        let done = done.map_err(|error| match error {
            DaemonError::Store(error) => DestinationError::Store(error),
            _ => DestinationError::Stopped,
        })?;
        let made = done.as_ref().ok().and_then(|it| u32::try_from(*it).ok());
        // Nobody may be there who tells.
        let _ = self.destinations.send(match changed {
            Changed::One(id) => Some(id),
            Changed::New => made,
            Changed::Any => None,
        });
        done
    }

    /// Destinations that somebody changes from now on; `None` if that can be any.
    #[must_use]
    pub fn destination_changes(&self) -> broadcast::Receiver<Option<u32>> {
        self.destinations.subscribe()
    }

    pub(crate) async fn answer<T>(
        &self,
        ask: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, DaemonError> {
        let (reply, answer) = oneshot::channel();
        self.ask(ask(reply)).await?;
        answer.await.map_err(|_| DaemonError::Stopped)
    }

    /// Goes on with another configuration. The store stays where it is.
    ///
    /// # Errors
    /// If a secret is not there, or the daemon has stopped.
    pub async fn reload(&self, config: Config) -> Result<(), DaemonError> {
        config.fetch_secrets()?;
        config.mail_secret()?;
        self.ask(Command::Reload(Box::new(config))).await
    }

    /// What its clock shows.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.shop.borrow().clock.now()
    }

    /// Reads the store beside those who wait: on a thread that may.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, DaemonError> {
        let shop = Arc::clone(&self.shop.borrow());
        let read = tokio::task::spawn_blocking(move || shop.readers.with(read));
        Ok(read.await.map_err(|_| DaemonError::Stopped)??)
    }

    /// Why a URL would not be fetched, as far as it tells by itself: no name is looked up. `None` if it
    /// would be, or is no URL.
    #[must_use]
    pub fn refusal(&self, url: &str) -> Option<String> {
        let request = Request::new(url).ok()?;
        let refusal = self.shop.borrow().fetcher.settings().refusal(request.url());
        refusal.map(|it| it.to_string())
    }

    /// What counts of a document of a source, by the settings of today and its own. It takes its time.
    ///
    /// # Errors
    /// If the URL cannot be one of a source.
    pub fn reading(
        &self,
        url: &str,
        own: &str,
        document: &Document<'_>,
    ) -> Result<Reading, InvalidRequest> {
        Ok(self.detector(url, own)?.read(document))
    }

    /// What reads the documents of a source, by the settings of today and these of its own.
    ///
    /// # Errors
    /// If the URL cannot be one of a source.
    pub fn detector(&self, url: &str, own: &str) -> Result<Arc<Detector>, InvalidRequest> {
        let request = Request::new(url)?;
        let shop = Arc::clone(&self.shop.borrow());
        Ok(shop.detectors.of(request.url(), own))
    }

    /// Keeps a token, in place of one of the same name. When this returns, it counts.
    ///
    /// # Errors
    /// If it cannot be written, or the daemon has stopped.
    pub async fn put_token(&self, token: Token) -> Result<(), DaemonError> {
        self.write(move |store| store.upsert_token(&token)).await?;
        self.tokens.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Forgets a token. Says whether there was one. When this returns, it does not count any more.
    ///
    /// # Errors
    /// If it cannot be written, or the daemon has stopped.
    pub async fn remove_token(&self, name: String) -> Result<bool, DaemonError> {
        let was = self.write(move |store| store.remove_token(&name)).await?;
        self.tokens.send_modify(|count| *count += 1);
        Ok(was)
    }

    /// How often tokens came or went since the daemon runs: who keeps them in mind reads them again.
    #[must_use]
    pub fn token_changes(&self) -> u64 {
        *self.tokens.borrow()
    }

    /// The file of the store.
    #[must_use]
    pub fn store(&self) -> &std::path::Path {
        &self.store
    }

    /// What is subscribed to at hubs.
    #[must_use]
    pub fn websub(&self) -> &Arc<Subscriber> {
        &self.websub
    }

    /// What is known of keys of sites.
    pub(crate) fn keys(&self) -> &Arc<Keys> {
        &self.keys
    }

    /// Has a subscription written before anybody else knows of it.
    pub(crate) async fn keep_subscription(&self, row: Subscription) -> Result<(), DaemonError> {
        self.write(move |store| store.update_subscriptions(&[row], &[])).await
    }

    /// What fetches share, as it is and will be.
    pub(crate) fn shops(&self) -> watch::Receiver<Arc<FetchContext>> {
        self.shop.clone()
    }

    pub(crate) async fn ask(&self, ask: Command) -> Result<(), DaemonError> {
        self.asks.send(ask).await.map_err(|_| DaemonError::Stopped)
    }
}

impl FetchContext {
    pub(crate) fn new(config: &Config, clock: Clock, store: PathBuf, giver: HostPermits) -> Self {
        Self {
            fetcher: freshet_fetch::Fetcher::new(config.fetch.clone()),
            detectors: Detectors::new(config.detect.clone()),
            readers: Readers::new(store),
            clock: Arc::new(clock),
            giver: Arc::new(giver),
            gap: config.gap,
            signals: config.signals.limits,
            callback: config.signals.callback.clone(),
            indexnow: config.signals.indexnow,
            heads: Arc::default(),
            head_over: config.signals.head_over,
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
            signals: config.signals.limits,
            callback: config.signals.callback.clone(),
            indexnow: config.signals.indexnow,
            heads: Arc::clone(&self.heads),
            head_over: config.signals.head_over,
        })
    }
}

/// Whether others may be asked to fetch a URL, or why not.
fn may_be_claimed(settings: &freshet_fetch::Settings, url: &str) -> Result<(), String> {
    let url = url::Url::parse(url).map_err(|why| why.to_string())?;
    match settings.refusal(&url) {
        Some(refusal) => Err(refusal.to_string()),
        None if matches!(url.scheme(), "http" | "https") => Ok(()),
        None => Err(format!("`{}` is of this machine, and not for others", url.scheme())),
    }
}
