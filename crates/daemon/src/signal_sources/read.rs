//! A sitemap or feed is fetched, and what came is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use freshet_detect::Detector;
use freshet_engine::{Blame, Outcome};
use freshet_fetch::{Answer, BodySink, FetchError};
use freshet_store::{FetchJob, FetchRecord, SignalSource, StoreError, StoredValidators};
use url::Url;

use super::outcome::SignalSourceRead;
use super::signal_buffer::Spool;
use super::signal_reader::{Desk, Done};
use crate::clock::Millis;
use crate::judge::{Judged, judge};
use crate::polite_fetch::PoliteFetch;
use crate::work::{FetchContext, blamed};

/// How deep an index may be in others.
pub(super) const DEPTH: u32 = 2;

/// A read that is over.
#[derive(Debug)]
pub(crate) struct ReadOver {
    pub(crate) herald: u32,
    /// The source that was read.
    pub(crate) source: u32,
    /// What came of it, if that is to be remembered.
    pub(crate) read: Option<SignalSourceRead>,
    /// Whether it came to its end, and how many pages were added because of it.
    pub(crate) found: Option<u32>,
}

/// What it takes to read a herald.
pub(super) struct Work {
    pub(super) herald: SignalSource,
    /// Those that it is a part of, the nearest first.
    pub(super) above: Vec<SignalSource>,
}

/// Tells a reader that nobody waits for it any more.
struct StillWanted(Arc<AtomicBool>);

impl Drop for StillWanted {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Work {
    /// `None` if the herald is not there any more, or another one has its number.
    fn of(shop: &FetchContext, number: u32, source: u32) -> Result<Option<Self>, StoreError> {
        shop.readers.with(|reader| {
            let herald = reader.signal_source(number)?.filter(|it| it.source == Some(source));
            let Some(herald) = herald else { return Ok(None) };
            let mut above: Vec<SignalSource> = Vec::new();
            let mut parent = herald.parent;
            while let Some(number) = parent.filter(|_| above.len() <= DEPTH as usize) {
                let Some(it) = reader.signal_source(number)? else { break };
                parent = it.parent;
                above.push(it);
            }
            Ok(Some(Self { herald, above }))
        })
    }

    /// The one that an owner or a robots.txt named.
    pub(super) fn root(&self) -> &SignalSource {
        self.above.last().unwrap_or(&self.herald)
    }
}

impl FetchContext {
    /// Fetches what a herald says. The body is put aside while it comes.
    pub(crate) async fn fetch_herald(
        &self,
        errand: &mut PoliteFetch<'_>,
        request: freshet_fetch::Request,
    ) -> ((Answer, bool), Option<Spool>) {
        let mut spool = match Spool::new(self.readers.path()) {
            Ok(spool) => spool,
            Err(error) => {
                let failed = FetchError::Aside { kind: error.kind() };
                let outcome = freshet_fetch::Outcome::Failed(failed);
                return ((Answer { outcome, trace: Default::default() }, false), None);
            }
        };
        let limits = self.signals;
        let (wire_bytes, body_bytes) = (limits.bytes, limits.bytes);
        let mut aside = BodySink { to: &mut spool, wire_bytes, body_bytes, body: limits.time };
        let came = errand.run_aside(request, &mut aside).await;
        (came, Some(spool))
    }

    /// What an answer means that a herald is heard by.
    pub(crate) async fn hear(
        self: &Arc<Self>,
        job: &FetchJob,
        herald: u32,
        (answer, spool): (&Answer, Option<Spool>),
        (at, wait, away): (Millis, Option<f64>, bool),
    ) -> (Judged, ReadOver) {
        use freshet_fetch::Outcome as Came;
        let spool = spool.filter(|_| matches!(answer.outcome, Came::Content(_)));
        if let Some(spool) = spool
            && let Ok(Some(work)) = Work::of(self, herald, job.id)
        {
            return self.read_herald(job, work, (answer, spool), at).await;
        }
        // Nothing came that could be compared.
        let mut judged = match answer.outcome {
            Came::Content(_) => {
                let outcome = Outcome::Failed { blame: Blame::Us, retry_after: None };
                let record = FetchRecord::new(job.id, at, freshet_store::StoredOutcome::Failed);
                Judged { outcome, record }
            }
            _ => judge(job, &Detector::default(), |_| None, answer, at, wait),
        };
        judged.outcome = match blamed(judged.outcome, away) {
            // Nobody gives up what was named to be read: it may be back any day.
            // A time to wait would be for its whole host.
            Outcome::Gone => Outcome::Failed { blame: Blame::Source, retry_after: None },
            other => other,
        };
        let (read, found) = match &answer.outcome {
            Came::NotModified => (None, Some(0)),
            Came::Failed(error) => (Some(SignalSourceRead::failed(error.name())), None),
            other => (Some(SignalSourceRead::failed(other.name())), None),
        };
        (judged, ReadOver { herald, source: job.id, read, found })
    }

    /// Reads what came, beside all else.
    async fn read_herald(
        self: &Arc<Self>,
        job: &FetchJob,
        work: Work,
        (answer, spool): (&Answer, Spool),
        at: Millis,
    ) -> (Judged, ReadOver) {
        let mut record = FetchRecord::new(job.id, at, freshet_store::StoredOutcome::Failed);
        record.status = answer.trace.status().unwrap_or(0);
        record.bytes = answer.trace.sizes.wire;
        record.duration_ms = u32::try_from(answer.trace.total.as_millis()).unwrap_or(u32::MAX);
        let number = work.herald.id;
        let is_first = work.herald.last_signal_at.is_none();
        let base = answer.trace.final_url().cloned().or_else(|| Url::parse(&job.url).ok());
        let linked = base.clone();
        let over = Arc::new(AtomicBool::new(false));
        let guard = StillWanted(Arc::clone(&over));
        let shop = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || {
            let base = base?;
            Some(Desk::new(&shop, &work, &base, at, &over).read(spool, &base, at))
        });
        let done = reading.await.ok().flatten();
        drop(guard);
        let Some(done) = done else {
            record.note = "reading broke off".to_owned();
            let outcome = Outcome::Failed { blame: Blame::Us, retry_after: None };
            let over = ReadOver { herald: number, source: job.id, read: None, found: None };
            return (Judged { outcome, record }, over);
        };
        let Done { mut read, failed, news, found, ours } = done;
        if let Some(base) = &linked {
            read.linked(&answer.trace.links, base);
        }
        record.note = read.words();
        let outcome = if let Some(trouble) = ours {
            record.note = trouble;
            Outcome::Failed { blame: Blame::Us, retry_after: None }
        } else if failed {
            Outcome::Failed { blame: Blame::Source, retry_after: None }
        } else {
            // What was read to its end need not come again.
            let validators = answer.trace.validators.as_ref();
            record.validators = Some(validators.map_or_else(StoredValidators::default, |it| {
                let (etag, last_modified) = (it.etag.clone(), it.last_modified.clone());
                StoredValidators { etag, last_modified }
            }));
            use freshet_store::StoredOutcome as Kept;
            let (kept, outcome) = match (is_first, news) {
                (true, _) => (Kept::First, Outcome::Copied),
                (false, true) => (Kept::Changed, Outcome::Changed),
                (false, false) => (Kept::Unchanged, Outcome::Unchanged),
            };
            record.outcome = kept;
            outcome
        };
        let is_read = !matches!(outcome, Outcome::Failed { .. });
        let found = is_read.then_some(found);
        let over = ReadOver { herald: number, source: job.id, read: Some(read), found };
        (Judged { outcome, record }, over)
    }
}
