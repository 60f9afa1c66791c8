//! From what somebody else saw to what it means, and to the record.

use freshet_engine::{Blame, Outcome};
use freshet_store::{FetchJob, FetchRecord, NewChange, StoredOutcome as Stored};
use url::Url;

use crate::claim::{Report, Seen};
use crate::clock::Millis;
use crate::judge::{Judged, read_document};
use crate::work::FetchContext;

/// Bytes of a reading that is a digest from outside and no more.
const DIGEST: usize = 16;
/// A reading of which nothing is known but that somebody made it: it can be compared with nothing.
const SEEN: &[u8] = &[0];

impl FetchContext {
    /// What a report means, seen at a time; `None` if there is no such source.
    pub(crate) fn weigh(&self, report: &Report, at: Millis) -> Option<Judged> {
        let job = match self.readers.with(|reader| reader.fetch_job(report.source)) {
            Ok(job) => job?,
            Err(error) => {
                tracing::error!(source = report.source, "cannot read the store: {error}");
                return None;
            }
        };
        let mut record = FetchRecord::new(job.id, at, Stored::Unchanged);
        record.status = report.status;
        record.bytes = report.bytes;
        record.duration_ms = u32::try_from(report.duration.as_millis()).unwrap_or(u32::MAX);
        record.note.clone_from(&report.note);
        record.validators.clone_from(&report.validators);
        let outcome = match &report.seen {
            Seen::Unchanged if job.version == 0 && job.reading.is_empty() => {
                record.outcome = Stored::First;
                record.reading = Some(SEEN.to_vec());
                Outcome::Unchanged
            }
            Seen::Unchanged => Outcome::Unchanged,
            Seen::Changed => {
                // What was read before is not what there is now: a document that comes next must not
                // be the same change again.
                record.reading = Some(SEEN.to_vec());
                changed(&mut record, None, made_up(job.id, at))
            }
            Seen::Digest(digest) => compare(&job, *digest, &mut record),
            Seen::Document { bytes, content_type } => {
                let url = Url::parse(&job.url).ok()?;
                let detector = self.detectors.of(&url, &job.settings);
                let version =
                    |n| self.readers.with(|reader| reader.version(job.id, n)).ok().flatten();
                let document = freshet_detect::Document {
                    bytes,
                    content_type: content_type.as_deref(),
                    charset: None,
                };
                read_document(&job, &detector, version, &document, &mut record)
            }
            Seen::Failed { host, retry_after } => {
                record.outcome = Stored::Failed;
                let blame = if *host { Blame::Host } else { Blame::Source };
                let retry_after = retry_after.map(|time| time.as_secs_f64() / 86_400.0);
                Outcome::Failed { blame, retry_after }
            }
            Seen::Gone => {
                record.outcome = Stored::Gone;
                Outcome::Gone
            }
            // It is asked for as rarely as what is gone.
            Seen::Disallowed => {
                record.outcome = Stored::Disallowed;
                Outcome::Gone
            }
        };
        Some(Judged { outcome, record })
    }
}

fn compare(job: &FetchJob, digest: u128, record: &mut FetchRecord) -> Outcome {
    let new = digest.to_be_bytes();
    let old: Option<[u8; DIGEST]> = job.reading.as_slice().try_into().ok();
    if old == Some(new) {
        return Outcome::Unchanged;
    }
    record.reading = Some(new.to_vec());
    match old {
        Some(old) => changed(record, Some(old), new),
        // What was there was not seen by the same eyes: whether it changed is not known.
        None => {
            record.outcome = Stored::First;
            Outcome::Copied
        }
    }
}

fn changed(record: &mut FetchRecord, old: Option<[u8; DIGEST]>, new: [u8; DIGEST]) -> Outcome {
    record.outcome = Stored::Changed;
    record.change = Some(NewChange {
        last_unchanged_at: None,
        first_changed_at: record.at,
        old_digest: old,
        new_digest: new,
        old_size: None,
        new_size: record.bytes,
        similarity: 0.0,
        summary: record.note.clone(),
    });
    Outcome::Changed
}

/// A digest for a change of which only that is known.
fn made_up(source: u32, at: Millis) -> [u8; DIGEST] {
    let mut digest = [0; DIGEST];
    digest[..8].copy_from_slice(&at.to_be_bytes());
    digest[12..].copy_from_slice(&source.to_be_bytes());
    digest
}
