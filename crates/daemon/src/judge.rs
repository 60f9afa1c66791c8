//! From an answer to what it means: to the engine, and for the record.

use freshet_detect::{Detector, Document, Kind, Reading, Stored, Verdict, digest};
use freshet_engine::{Blame, Outcome};
use freshet_fetch::{Answer, Content};
use freshet_store::{
    CompressedContent, FetchJob, FetchRecord, NewChange, NewVersion, StoredValidators,
};

use crate::clock::Millis;
use crate::kept::{Kept, kept, with_mark};
use crate::summary::{entries, rewritten, summary};

/// Lengths of the texts whose difference is told in words.
const TOLD: usize = 1 << 18;

/// The share of words in common up to which a text counts as another one, unless it is short: where
/// they differ is not worth telling.
const REWRITTEN: f64 = 0.5;
const SHORT: usize = 512;

/// What an answer means.
pub(crate) struct Judged {
    pub(crate) outcome: Outcome,
    pub(crate) record: FetchRecord,
}

/// Judges an answer that came at a time. `wait` is how many days the host wants to be left alone, and
/// `since` when the source was last seen as it is kept.
pub(crate) fn judge(
    job: &FetchJob,
    detector: &Detector,
    reader: impl Fn(u32) -> Option<freshet_store::Version>,
    answer: &Answer,
    at: Millis,
    wait: Option<f64>,
) -> Judged {
    use freshet_fetch::Outcome as Came;
    let mut record = FetchRecord::new(job.id, at, freshet_store::StoredOutcome::Unchanged);
    record.status = answer.trace.status().unwrap_or(0);
    record.bytes = answer.trace.sizes.wire;
    record.duration_ms = u32::try_from(answer.trace.total.as_millis()).unwrap_or(u32::MAX);
    let outcome = match &answer.outcome {
        Came::NotModified => Outcome::Unchanged,
        Came::Content(content) => {
            record.validators = Some(validators(answer));
            read(job, detector, reader, content, &mut record)
        }
        Came::Gone => {
            record.outcome = freshet_store::StoredOutcome::Gone;
            Outcome::Gone
        }
        // Neither changes soon: they are asked for as rarely as what is gone.
        Came::Disallowed(_) if answer.blame().is_none() => {
            record.outcome = freshet_store::StoredOutcome::Disallowed;
            record.note = "robots.txt does not allow it".to_owned();
            Outcome::Gone
        }
        Came::Refused(refusal) => {
            record.outcome = freshet_store::StoredOutcome::Disallowed;
            record.note = refusal.to_string();
            Outcome::Gone
        }
        Came::Disallowed(_) | Came::Failed(_) => {
            record.outcome = freshet_store::StoredOutcome::Failed;
            record.note = match &answer.outcome {
                Came::Failed(error) => error.to_string(),
                _ => "robots.txt cannot be had".to_owned(),
            };
            let blame = match answer.blame() {
                Some(freshet_fetch::Blame::Host) => Blame::Host,
                Some(freshet_fetch::Blame::Us) => Blame::Us,
                Some(freshet_fetch::Blame::Source) | None => Blame::Source,
            };
            Outcome::Failed { blame, retry_after: wait }
        }
    };
    Judged { outcome, record }
}

/// What makes the next fetch conditional.
pub(crate) fn validators(answer: &Answer) -> StoredValidators {
    let text = |value: &Option<String>| value.clone();
    answer.trace.validators.as_ref().map_or_else(StoredValidators::default, |it| StoredValidators {
        etag: text(&it.etag),
        last_modified: text(&it.last_modified),
    })
}

/// What was there before.
struct Old {
    stored: Stored,
    text: Option<String>,
}

fn read(
    job: &FetchJob,
    detector: &Detector,
    version: impl Fn(u32) -> Option<freshet_store::Version>,
    content: &Content,
    record: &mut FetchRecord,
) -> Outcome {
    let charset = content.charset();
    let document = Document {
        bytes: &content.body,
        content_type: content.media_type.as_deref(),
        charset: Some(charset.name()),
    };
    read_document(job, detector, version, &document, record)
}

/// Whether a document is another one than the last.
pub(crate) fn read_document(
    job: &FetchJob,
    detector: &Detector,
    version: impl Fn(u32) -> Option<freshet_store::Version>,
    document: &Document<'_>,
    record: &mut FetchRecord,
) -> Outcome {
    let old = Kept::from_bytes(&job.reading);
    // Equal bytes need no reading.
    if old.as_ref().is_some_and(|old| old.stored.mark.raw == digest(document.bytes)) {
        return Outcome::Unchanged;
    }
    let new = detector.read(document);
    if !new.unmatched.is_empty() {
        record.note = format!("nothing matches `{}`", new.unmatched.join("`, `"));
    }
    let keep = |record: &mut FetchRecord| {
        record.reading = Some(kept(&new));
        record.version = Some(NewVersion {
            digest: new.mark.fingerprint.to_be_bytes(),
            content_kind: document.content_type.unwrap_or_default().to_owned(),
            content: CompressedContent::compress(document.bytes),
        });
    };
    let Some(kept) = old else {
        record.outcome = freshet_store::StoredOutcome::First;
        keep(record);
        return Outcome::Copied;
    };
    let mut old = Old { stored: kept.stored, text: None };
    let mut verdict = detector.judge(&old.stored, None, &new);
    let again = || {
        let old = version(job.version)?;
        let kind = Some(old.meta.content_kind.as_str()).filter(|kind| !kind.is_empty());
        Some(detector.read(&Document { bytes: &old.content, content_type: kind, charset: None }))
    };
    if verdict == Verdict::Incomparable {
        // By the rules of today, what was there before?
        let Some(reading) = again() else {
            keep(record);
            return Outcome::Copied;
        };
        old.stored = reading.stored();
        verdict = detector.judge(&old.stored, Some(&reading.text), &new);
        old.text = Some(reading.text);
    } else if let Verdict::Changed { similarity } | Verdict::Slight { similarity } = verdict {
        old.text = kept.text();
        // The sketch says whether a closer look is worth its time.
        if similarity > REWRITTEN && old.text.is_some() {
            verdict = detector.judge(&old.stored, old.text.as_deref(), &new);
        }
    }
    match verdict {
        Verdict::SameBytes => Outcome::Unchanged,
        Verdict::Changed { similarity } => {
            if old.text.is_none() {
                old.text = again().map(|reading| reading.text);
            }
            record.outcome = freshet_store::StoredOutcome::Changed;
            record.change = Some(change(&old, &new, similarity, record.at));
            keep(record);
            Outcome::Changed
        }
        Verdict::SameContent => {
            record.reading = Some(with_mark(&job.reading, old.stored.sketch, new.mark));
            Outcome::Unchanged
        }
        // What changes little by little is to be seen in the end: the old reading stays.
        _ => Outcome::Unchanged,
    }
}

fn change(old: &Old, new: &Reading, similarity: f64, at: Millis) -> NewChange {
    let told = old.text.as_deref().filter(|old| old.len().max(new.text.len()) <= TOLD);
    let is_feed = new.mark.kind == Kind::Xml && new.text.contains("\n\n");
    let feed = told.filter(|_| is_feed).and_then(|old| entries(old, &new.text));
    let summary = match told {
        _ if feed.is_some() => feed.unwrap_or_default(),
        _ if new.text.is_empty() => String::new(),
        Some(text) if similarity > REWRITTEN || text.len() < SHORT => summary(text, &new.text),
        _ => rewritten(&new.text),
    };
    NewChange {
        last_unchanged_at: None,
        first_changed_at: at,
        old_digest: Some(old.stored.mark.fingerprint.to_be_bytes()),
        new_digest: new.mark.fingerprint.to_be_bytes(),
        old_size: old.text.as_ref().map(|text| text.len() as u64),
        new_size: if new.text.is_empty() { new.bytes } else { new.text.len() } as u64,
        similarity,
        summary,
    }
}
