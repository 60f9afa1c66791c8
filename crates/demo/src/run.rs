//! The whole demo: a web, freshet, and two others beside it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use freshet_fetch::RawSettings;
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

/// How often is looked at how the clients stand.
const LOOK: Duration = Duration::from_millis(250);
/// What freshet may take to stop.
const PATIENCE: Duration = Duration::from_secs(10);
/// Standings that are kept; of a longer demo, every second is left out.
const KEPT: usize = 2048;

/// A page for freshet to keep a copy of.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Where it is.
    pub url: String,
    /// How much it matters.
    pub importance: f64,
}

/// What freshet is given: what anybody could know of the web, and what to keep to.
#[derive(Clone)]
pub struct Assignment {
    /// The pages.
    pub sources: Vec<Source>,
    /// The budget and the manners, in days of the demo.
    pub terms: Terms,
    /// What time it is in the demo. What hosts say of time, such as `Retry-After`, is in its seconds.
    pub clock: Clock,
    /// How to fetch: where the hosts are, and that they may be fetched from.
    pub fetch: RawSettings,
    /// How all clients really stand, as often as that is looked at.
    pub standing: watch::Receiver<Standing>,
    /// Takes lines that those who watch should read.
    pub notes: mpsc::UnboundedSender<String>,
    /// Turns true when it is time to stop.
    pub stop: watch::Receiver<bool>,
}

/// Runs a demo until its time is over or `until` is, and shows it meanwhile. `start` is given what
/// freshet needs, and its future is freshet at work: it ends when it is told to stop. The answer to how
/// good the copies are comes from the web itself, not from those who keep them.
///
/// It must be called within a tokio runtime that has input, output and time.
///
/// # Errors
/// If the web cannot be opened, freshet ends before it is told to, or nothing can be shown.
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
    // It takes a moment, which is nobody's day.
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
    // Before anybody is told to stop: that takes time too.
    standings.finish(site.standing());
    match ended {
        Some(Ok(Ok(()))) => return Err(DemoError::Daemon("it ended by itself".into())),
        Some(Ok(Err(error))) => return Err(DemoError::Daemon(error)),
        Some(Err(error)) => return Err(DemoError::Daemon(error.into())),
        None => {}
    }
    let _ = stop.send(true);
    // One that does not stop in time is no longer needed.
    if let Ok(Ok(Err(error))) = timeout(PATIENCE, &mut daemon.0).await {
        return Err(DemoError::Daemon(error));
    }
    let finished = Finished::new(&site, terms, clock.elapsed(), standings.0);
    show.end().map_err(DemoError::Show)?;
    Ok(finished)
}

/// How freshet and the demo speak while it runs.
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

/// A task that ends with its owner.
struct Aborted(AbortHandle);

impl Drop for Aborted {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The same, of one that is waited for.
struct Running(JoinHandle<Result<(), Box<dyn std::error::Error + Send + Sync>>>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// How the clients stood over time.
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
