//! Runs a demo: a web, freshet, and two other clients.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use freshet_fetch::RawFetchSettings;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::clock::Clock;
use crate::error::DemoError;
use crate::finished::Finished;
use crate::options::Options;
use crate::poller::Poller;
use crate::rule::{Equal, Nutch, Rule};
use crate::server::Server;
use crate::show::Show;
use crate::site::Site;
use crate::terms::Terms;
use crate::truth::{Client, Standing};

/// Interval between two samples.
const LOOK: Duration = Duration::from_millis(250);
/// Time limit for freshet to stop.
const PATIENCE: Duration = Duration::from_secs(10);
/// Largest number of samples; for a longer demo every second one is dropped.
const KEPT: usize = 2048;

/// A page that freshet keeps a copy of.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// URL of the page.
    pub url: String,
    /// Importance of the page.
    pub importance: f64,
}

/// What the caller's client receives: public knowledge about the web, and the limits.
#[derive(Clone)]
pub struct Assignment {
    /// The pages.
    pub sources: Vec<Source>,
    /// Budget and politeness, in days of the demo.
    pub terms: Terms,
    /// Clock of the demo. Times that hosts send, such as `Retry-After`, are in its seconds.
    pub clock: Clock,
    /// Fetch settings: addresses of the hosts, and permission to fetch from them.
    pub fetch: RawFetchSettings,
    /// Samples of all clients.
    pub standing: watch::Receiver<Standing>,
    /// Receives lines to show.
    pub notes: mpsc::UnboundedSender<String>,
    /// Becomes true when the client must stop.
    pub stop: watch::Receiver<bool>,
}

/// Runs a demo until its time is over or `until` completes, and shows its progress. `start` receives what
/// freshet needs and returns the running client, which ends when it is told to stop. Freshness
/// is measured by the web, not by the clients.
///
/// Must be called within a tokio runtime with I/O and time enabled.
///
/// # Errors
/// Returns an error if the web cannot be opened, freshet ends before it is asked to, or the output cannot be written.
pub async fn run<S, F, E>(
    options: Options,
    show: &mut Show<'_>,
    until: impl Future<Output = ()>,
    start: S,
) -> Result<Finished, DemoError>
where
    S: FnOnce(Assignment) -> F,
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
{
    options.check()?;
    let terms = options.terms();
    // Starting takes time that does not count.
    let (options, scale) = tokio::task::spawn_blocking(move || {
        let scale = options.nutch_scale();
        (options, scale)
    })
    .await
    .map_err(|error| DemoError::Daemon(error.into()))?;
    let scale = scale?;
    let Options { world, factor, budget, length, lively, record } = options;
    let clock = Clock::start(factor);
    let site = Arc::new(Site::new(world, clock, lively, record));
    let server = Server::open(&site).await?;
    let port = |client| server.address(client).port();

    let (stop, stopped) = watch::channel(false);
    let (tell, standing) = watch::channel(Standing::START);
    let (notes, mut noted) = mpsc::unbounded_channel();
    let channels = Channels { standing, notes, stop: stopped };
    let daemon = start(assignment(&site, port(Client::Freshet), terms, channels));
    let daemon = async move { daemon.await.map_err(Into::into) };
    let mut daemon = Running(tokio::spawn(daemon));
    let order = site.world.order();
    let _equal = poll(&site, port(Client::Equal), terms, Equal::new(&order))?;
    let nutch = Nutch::new(&order, 1.0 / budget, scale);
    let _nutch = poll(&site, port(Client::Nutch), terms, nutch)?;

    let mut standings = Standings::default();
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut until = std::pin::pin!(until);
    let ended = loop {
        tokio::select! {
            biased;
            () = clock.over(length) => break None,
            () = &mut until => break None,
            ended = &mut daemon.0 => break Some(ended),
            Some(note) = noted.recv() => show.note(&note).map_err(DemoError::Show)?,
            _ = look.tick() => {
                let standing = site.standing();
                standings.push(standing);
                tell.send_replace(standing);
                show.moment(&standing, clock.elapsed()).map_err(DemoError::Show)?;
            }
        }
    };
    // Measured before the clients are told to stop, which takes time.
    standings.finish(site.standing());
    match ended {
        Some(Ok(Ok(()))) => return Err(DemoError::Daemon("the client ended unexpectedly".into())),
        Some(Ok(Err(error))) => return Err(DemoError::Daemon(error)),
        Some(Err(error)) => return Err(DemoError::Daemon(error.into())),
        None => {}
    }
    let _ = stop.send(true);
    // A client that does not stop in time is abandoned.
    if let Ok(Ok(Err(error))) = timeout(PATIENCE, &mut daemon.0).await {
        return Err(DemoError::Daemon(error));
    }
    let finished = Finished::new(&site, terms, clock.elapsed(), standings.0);
    show.end().map_err(DemoError::Show)?;
    Ok(finished)
}

/// Channels between freshet and the demo.
struct Channels {
    standing: watch::Receiver<Standing>,
    notes: mpsc::UnboundedSender<String>,
    stop: watch::Receiver<bool>,
}

fn assignment(site: &Site, port: u16, terms: Terms, channels: Channels) -> Assignment {
    let Channels { standing, notes, stop } = channels;
    let source = |(page, importance): (usize, f64)| Source {
        url: site.world.url(page as u32, port),
        importance,
    };
    Assignment {
        sources: site.world.importance().enumerate().map(source).collect(),
        terms,
        clock: site.clock,
        fetch: site.fetch_settings(),
        standing,
        notes,
        stop,
    }
}

fn poll<R: Rule + 'static>(
    site: &Arc<Site>,
    port: u16,
    terms: Terms,
    rule: R,
) -> Result<Aborted, DemoError> {
    let poller = Poller::new(site, port, terms, rule)?;
    Ok(Aborted(tokio::spawn(poller.run()).abort_handle()))
}

/// Task that is aborted when dropped.
struct Aborted(AbortHandle);

impl Drop for Aborted {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits for the task.
struct Running(JoinHandle<Result<(), Box<dyn std::error::Error + Send + Sync>>>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Samples over time.
#[derive(Default)]
struct Standings(Vec<Standing>);

impl Standings {
    fn push(&mut self, standing: Standing) {
        if self.0.len() >= KEPT {
            let mut at = 0;
            self.0.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
        self.0.push(standing);
    }

    fn finish(&mut self, last: Standing) {
        self.0.push(last);
        if self.0.first().is_none_or(|first| first.day > 0.0) {
            self.0.insert(0, Standing::START);
        }
    }
}
