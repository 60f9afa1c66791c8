//! Fetches and reads a sitemap or feed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use freshet_detect::Detector;
use freshet_engine::{FailureCause, FetchResult};
use freshet_fetch::{BodySink, FetchError, FetchResponse};
use freshet_store::{FetchJob, FetchRecord, SignalSource, StoreError, StoredValidators};
use url::Url;

use super::read_result::SignalSourceReadResult;
use super::signal_buffer::SignalBuffer;
use super::signal_reader::{DocumentResult, SignalReader};
use crate::clock::Millis;
use crate::fetch_context::{FetchContext, blame_source_for_other_host};
use crate::judged_fetch::{JudgedFetch, evaluate_answer};
use crate::polite_fetch::PoliteFetch;

/// Deepest nesting of indexes.
pub(super) const MAX_INDEX_DEPTH: u32 = 2;

/// A completed read.
#[derive(Debug)]
pub(crate) struct CompletedRead {
    pub(crate) signal_source: u32,
    /// Source that was fetched.
    pub(crate) source: u32,
    /// Result to store, if any.
    pub(crate) read: Option<SignalSourceReadResult>,
    /// Number of pages added; `None` if the document was not read to its end.
    pub(crate) sources_added: Option<u32>,
}

/// Input for reading a signal source.
pub(super) struct ReadJob {
    pub(super) signal_source: SignalSource,
    /// Ancestors, the nearest first.
    pub(super) ancestors: Vec<SignalSource>,
}

/// Tells the reader to stop when its future is dropped.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl ReadJob {
    /// Returns `None` if the signal source is gone or its id has been reused.
    fn load(context: &FetchContext, number: u32, source: u32) -> Result<Option<Self>, StoreError> {
        context.readers.with_reader(|reader| {
            let signal_source =
                reader.signal_source(number)?.filter(|it| it.source == Some(source));
            let Some(signal_source) = signal_source else { return Ok(None) };
            let mut above: Vec<SignalSource> = Vec::new();
            let mut parent = signal_source.parent;
            while let Some(number) = parent.filter(|_| above.len() <= MAX_INDEX_DEPTH as usize) {
                let Some(it) = reader.signal_source(number)? else { break };
                parent = it.parent;
                above.push(it);
            }
            Ok(Some(Self { signal_source, ancestors: above }))
        })
    }

    /// Returns the ancestor that a user or a robots.txt named.
    pub(super) fn root(&self) -> &SignalSource {
        self.ancestors.last().unwrap_or(&self.signal_source)
    }
}

impl FetchContext {
    /// Fetches a document; the body is buffered in a file.
    pub(crate) async fn fetch_document(
        &self,
        polite_fetch: &mut PoliteFetch<'_>,
        request: freshet_fetch::FetchRequest,
    ) -> ((FetchResponse, bool), Option<SignalBuffer>) {
        let mut buffer = match SignalBuffer::new(self.readers.path()) {
            Ok(buffer) => buffer,
            Err(error) => {
                let failed = FetchError::SinkWrite { kind: error.kind() };
                let outcome = freshet_fetch::FetchOutcome::Failed(failed);
                return ((FetchResponse { outcome, trace: Default::default() }, false), None);
            }
        };
        let limits = self.read_limits;
        let (wire_bytes, body_bytes) = (limits.max_bytes, limits.max_bytes);
        let mut sink = BodySink {
            writer: &mut buffer,
            max_wire_bytes: wire_bytes,
            max_body_bytes: body_bytes,
            timeout: limits.timeout,
        };
        let answer = polite_fetch.fetch_to_sink(request, &mut sink).await;
        (answer, Some(buffer))
    }

    /// Evaluates the answer to a fetch of a document.
    pub(crate) async fn evaluate_document_answer(
        self: &Arc<Self>,
        job: &FetchJob,
        signal_source: u32,
        (answer, buffer): (&FetchResponse, Option<SignalBuffer>),
        (at, wait, away): (Millis, Option<f64>, bool),
    ) -> (JudgedFetch, CompletedRead) {
        use freshet_fetch::FetchOutcome as Came;
        let buffer = buffer.filter(|_| matches!(answer.outcome, Came::Content(_)));
        if let Some(buffer) = buffer
            && let Ok(Some(work)) = ReadJob::load(self, signal_source, job.id)
        {
            return self.read_fetched_document(job, work, (answer, buffer), at).await;
        }
        // There is no document to compare.
        let mut judged = match answer.outcome {
            Came::Content(_) => {
                let outcome = FetchResult::Failed { cause: FailureCause::Us, retry_after: None };
                let record = FetchRecord::new(job.id, at, freshet_store::StoredOutcome::Failed);
                JudgedFetch { outcome, record }
            }
            _ => evaluate_answer(job, &Detector::default(), |_| None, answer, at, wait),
        };
        judged.outcome = match blame_source_for_other_host(judged.outcome, away) {
            // A named document is never given up, as it may return any day.
            // A delay that the host asked for would apply to the host as a whole.
            FetchResult::Gone => {
                FetchResult::Failed { cause: FailureCause::Source, retry_after: None }
            }
            other => other,
        };
        let (read, sources_added) = match &answer.outcome {
            Came::NotModified => (None, Some(0)),
            Came::Failed(error) => (Some(SignalSourceReadResult::from_failure(error.name())), None),
            other => (Some(SignalSourceReadResult::from_failure(other.name())), None),
        };
        (judged, CompletedRead { signal_source, source: job.id, read, sources_added })
    }

    /// Reads a fetched document on a blocking thread.
    async fn read_fetched_document(
        self: &Arc<Self>,
        job: &FetchJob,
        work: ReadJob,
        (answer, buffer): (&FetchResponse, SignalBuffer),
        at: Millis,
    ) -> (JudgedFetch, CompletedRead) {
        let mut record = FetchRecord::new(job.id, at, freshet_store::StoredOutcome::Failed);
        record.status = answer.trace.status().unwrap_or(0);
        record.bytes = answer.trace.body_sizes.encoded;
        record.duration_ms = u32::try_from(answer.trace.duration.as_millis()).unwrap_or(u32::MAX);
        let number = work.signal_source.id;
        let is_first = work.signal_source.last_signal_at.is_none();
        let base = answer.trace.final_url().cloned().or_else(|| Url::parse(&job.url).ok());
        let linked = base.clone();
        let cancelled = Arc::new(AtomicBool::new(false));
        let guard = CancelOnDrop(Arc::clone(&cancelled));
        let context = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || {
            let base = base?;
            Some(
                SignalReader::new(&context, &work, &base, at, &cancelled).result(buffer, &base, at),
            )
        });
        let done = reading.await.ok().flatten();
        drop(guard);
        let Some(done) = done else {
            record.note = "the reader failed".to_owned();
            let outcome = FetchResult::Failed { cause: FailureCause::Us, retry_after: None };
            let cancelled = CompletedRead {
                signal_source: number,
                source: job.id,
                read: None,
                sources_added: None,
            };
            return (JudgedFetch { outcome, record }, cancelled);
        };
        let DocumentResult { result: mut read, failed, has_signals, sources_added, own_error } =
            done;
        if let Some(base) = &linked {
            read.add_links(&answer.trace.link_headers, base);
        }
        record.note = read.describe();
        let outcome = if let Some(error) = own_error {
            record.note = error;
            FetchResult::Failed { cause: FailureCause::Us, retry_after: None }
        } else if failed {
            FetchResult::Failed { cause: FailureCause::Source, retry_after: None }
        } else {
            // A document that was read to its end need not be sent again.
            let validators = answer.trace.validators.as_ref();
            record.validators = Some(validators.map_or_else(StoredValidators::default, |it| {
                let (etag, last_modified) = (it.etag.clone(), it.last_modified.clone());
                StoredValidators { etag, last_modified }
            }));
            use freshet_store::StoredOutcome as Kept;
            let (stored, outcome) = match (is_first, has_signals) {
                (true, _) => (Kept::First, FetchResult::Uncompared),
                (false, true) => (Kept::Changed, FetchResult::Changed),
                (false, false) => (Kept::Unchanged, FetchResult::Unchanged),
            };
            record.outcome = stored;
            outcome
        };
        let is_read = !matches!(outcome, FetchResult::Failed { .. });
        let sources_added = is_read.then_some(sources_added);
        let cancelled = CompletedRead {
            signal_source: number,
            source: job.id,
            read: Some(read),
            sources_added,
        };
        (JudgedFetch { outcome, record }, cancelled)
    }
}
