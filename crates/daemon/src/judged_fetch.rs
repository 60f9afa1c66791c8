//! From an answer to its meaning for the engine and for the record.

use freshet_detect::{
    ChangeVerdict, ContentSignature, Detector, Document, DocumentKind, Extraction, digest,
};
use freshet_engine::{FailureCause, FetchResult};
use freshet_fetch::{FetchResponse, FetchedContent};
use freshet_store::{
    CompressedContent, FetchJob, FetchRecord, NewChange, NewVersion, StoredValidators,
};

use crate::change_summary::{summarize_change, summarize_feed, summarize_rewrite};
use crate::clock::Millis;
use crate::stored_reading::{StoredReading, encode_reading, replace_digests};

/// Longest texts that are compared word by word.
const MAX_DIFF_BYTES: usize = 1 << 18;

/// Share of common words up to which a text counts as rewritten rather than changed, unless it is
/// short.
const REWRITTEN_SIMILARITY: f64 = 0.5;
const SHORT_TEXT_BYTES: usize = 512;

/// An evaluated fetch.
pub(crate) struct JudgedFetch {
    pub(crate) outcome: FetchResult,
    pub(crate) record: FetchRecord,
}

/// Evaluates an answer received at `at`. `wait` is the delay that the host asked for, in days.
pub(crate) fn evaluate_answer(
    job: &FetchJob,
    detector: &Detector,
    reader: impl Fn(u32) -> Option<freshet_store::Version>,
    answer: &FetchResponse,
    at: Millis,
    wait: Option<f64>,
) -> JudgedFetch {
    use freshet_fetch::FetchOutcome as Came;
    let mut record = FetchRecord::new(job.id, at, freshet_store::StoredOutcome::Unchanged);
    record.status = answer.trace.status().unwrap_or(0);
    record.bytes = answer.trace.body_sizes.encoded;
    record.duration_ms = u32::try_from(answer.trace.duration.as_millis()).unwrap_or(u32::MAX);
    let outcome = match &answer.outcome {
        Came::NotModified => FetchResult::Unchanged,
        Came::Content(content) => {
            record.validators = Some(stored_validators(answer));
            evaluate_content(job, detector, reader, content, &mut record)
        }
        Came::Gone => {
            record.outcome = freshet_store::StoredOutcome::Gone;
            FetchResult::Gone
        }
        // Neither changes soon: both are retried as rarely as a page that is gone.
        Came::Disallowed(_) if answer.blame().is_none() => {
            record.outcome = freshet_store::StoredOutcome::Disallowed;
            record.note = "disallowed by robots.txt".to_owned();
            FetchResult::Gone
        }
        Came::Refused(refusal) => {
            record.outcome = freshet_store::StoredOutcome::Disallowed;
            record.note = refusal.to_string();
            FetchResult::Gone
        }
        Came::Disallowed(_) | Came::Failed(_) => {
            record.outcome = freshet_store::StoredOutcome::Failed;
            record.note = match &answer.outcome {
                Came::Failed(error) => error.to_string(),
                _ => "robots.txt cannot be fetched".to_owned(),
            };
            let blame = match answer.blame() {
                Some(freshet_fetch::FetchBlame::Host) => FailureCause::Host,
                Some(freshet_fetch::FetchBlame::Us) => FailureCause::Us,
                Some(freshet_fetch::FetchBlame::Source) | None => FailureCause::Source,
            };
            FetchResult::Failed { cause: blame, retry_after: wait }
        }
    };
    JudgedFetch { outcome, record }
}

/// Returns the validators for the next conditional request.
pub(crate) fn stored_validators(answer: &FetchResponse) -> StoredValidators {
    let text = |value: &Option<String>| value.clone();
    answer.trace.validators.as_ref().map_or_else(StoredValidators::default, |it| StoredValidators {
        etag: text(&it.etag),
        last_modified: text(&it.last_modified),
    })
}

/// Reading of the previous version.
struct PreviousReading {
    stored: ContentSignature,
    text: Option<String>,
}

fn evaluate_content(
    job: &FetchJob,
    detector: &Detector,
    version: impl Fn(u32) -> Option<freshet_store::Version>,
    content: &FetchedContent,
    record: &mut FetchRecord,
) -> FetchResult {
    let charset = content.charset();
    let document = Document {
        bytes: &content.body,
        content_type: content.media_type.as_deref(),
        charset: Some(charset.name()),
    };
    evaluate_document(job, detector, version, &document, record)
}

/// Compares a document with the previous reading.
pub(crate) fn evaluate_document(
    job: &FetchJob,
    detector: &Detector,
    version: impl Fn(u32) -> Option<freshet_store::Version>,
    document: &Document<'_>,
    record: &mut FetchRecord,
) -> FetchResult {
    let old = StoredReading::from_bytes(&job.snapshot);
    // Equal bytes need no further comparison.
    if old.as_ref().is_some_and(|old| old.stored.digests.raw == digest(document.bytes)) {
        return FetchResult::Unchanged;
    }
    let new = detector.extract(document);
    if !new.unmatched.is_empty() {
        record.note = format!("nothing matches `{}`", new.unmatched.join("`, `"));
    }
    let keep = |record: &mut FetchRecord| {
        record.snapshot = Some(encode_reading(&new));
        record.version = Some(NewVersion {
            digest: new.digests.fingerprint.to_be_bytes(),
            content_kind: document.content_type.unwrap_or_default().to_owned(),
            content: CompressedContent::compress(document.bytes),
        });
    };
    let Some(stored) = old else {
        record.outcome = freshet_store::StoredOutcome::First;
        keep(record);
        return FetchResult::Uncompared;
    };
    let mut old = PreviousReading { stored: stored.stored, text: None };
    let mut verdict = detector.compare(&old.stored, None, &new);
    let again = || {
        let old = version(job.version)?;
        let kind = Some(old.meta.content_kind.as_str()).filter(|kind| !kind.is_empty());
        Some(detector.extract(&Document { bytes: &old.content, content_type: kind, charset: None }))
    };
    if verdict == ChangeVerdict::Incomparable {
        // The settings have changed: read the previous version again by the current ones.
        let Some(reading) = again() else {
            keep(record);
            return FetchResult::Uncompared;
        };
        old.stored = reading.signature();
        verdict = detector.compare(&old.stored, Some(&reading.text), &new);
        old.text = Some(reading.text);
    } else if let ChangeVerdict::Changed { similarity } | ChangeVerdict::Slight { similarity } =
        verdict
    {
        old.text = stored.text();
        // The sketches differ; an exact comparison is worthwhile only if they are close.
        if similarity > REWRITTEN_SIMILARITY && old.text.is_some() {
            verdict = detector.compare(&old.stored, old.text.as_deref(), &new);
        }
    }
    match verdict {
        ChangeVerdict::SameBytes => FetchResult::Unchanged,
        ChangeVerdict::Changed { similarity } => {
            if old.text.is_none() {
                old.text = again().map(|reading| reading.text);
            }
            record.outcome = freshet_store::StoredOutcome::Changed;
            record.change = Some(new_change(&old, &new, similarity, record.at));
            keep(record);
            FetchResult::Changed
        }
        ChangeVerdict::SameContent => {
            record.snapshot = Some(replace_digests(&job.snapshot, old.stored.sketch, new.digests));
            FetchResult::Unchanged
        }
        // Small changes accumulate: the old reading remains the reference.
        _ => FetchResult::Unchanged,
    }
}

fn new_change(old: &PreviousReading, new: &Extraction, similarity: f64, at: Millis) -> NewChange {
    let comparable =
        old.text.as_deref().filter(|old| old.len().max(new.text.len()) <= MAX_DIFF_BYTES);
    let is_feed = new.digests.kind == DocumentKind::Xml && new.text.contains("\n\n");
    let feed = comparable.filter(|_| is_feed).and_then(|old| summarize_feed(old, &new.text));
    let summary = match comparable {
        _ if feed.is_some() => feed.unwrap_or_default(),
        _ if new.text.is_empty() => String::new(),
        Some(text) if similarity > REWRITTEN_SIMILARITY || text.len() < SHORT_TEXT_BYTES => {
            summarize_change(text, &new.text)
        }
        _ => summarize_rewrite(&new.text),
    };
    NewChange {
        last_unchanged_at: None,
        first_changed_at: at,
        old_digest: Some(old.stored.digests.fingerprint.to_be_bytes()),
        new_digest: new.digests.fingerprint.to_be_bytes(),
        old_size: old.text.as_ref().map(|text| text.len() as u64),
        new_size: if new.text.is_empty() { new.document_len } else { new.text.len() } as u64,
        similarity,
        summary,
    }
}
