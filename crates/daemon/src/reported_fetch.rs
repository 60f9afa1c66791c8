//! Evaluates reports of external clients.

use freshet_engine::{FailureCause, FetchResult};
use freshet_store::{FetchJob, FetchRecord, NewChange, StoredOutcome as Stored};
use url::Url;

use crate::claim::{FetchReport, ReportedOutcome};
use crate::clock::Millis;
use crate::fetch_context::FetchContext;
use crate::judged_fetch::{JudgedFetch, evaluate_document};

/// Length of a reading that is only a reported digest.
const DIGEST_BYTES: usize = 16;
/// Reading of unknown content, which compares to nothing.
const UNKNOWN_READING: &[u8] = &[0];

impl FetchContext {
    /// Evaluates a report about a fetch at `at`. Returns `None` if the source does not exist.
    pub(crate) fn evaluate_report(&self, report: &FetchReport, at: Millis) -> Option<JudgedFetch> {
        let job = match self.readers.with_reader(|reader| reader.fetch_job(report.source)) {
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
        let outcome = match &report.outcome {
            ReportedOutcome::Unchanged if job.version == 0 && job.snapshot.is_empty() => {
                record.outcome = Stored::First;
                record.snapshot = Some(UNKNOWN_READING.to_vec());
                FetchResult::Unchanged
            }
            ReportedOutcome::Unchanged => FetchResult::Unchanged,
            ReportedOutcome::Changed => {
                // The stored reading is outdated: the next document must not count as the same
                // change again.
                record.snapshot = Some(UNKNOWN_READING.to_vec());
                record_change(&mut record, None, synthetic_digest(job.id, at))
            }
            ReportedOutcome::Digest(digest) => compare_digests(&job, *digest, &mut record),
            ReportedOutcome::Document { bytes, content_type } => {
                let url = Url::parse(&job.url).ok()?;
                let detector = self.detectors.detector_for(&url, &job.settings);
                let version =
                    |n| self.readers.with_reader(|reader| reader.version(job.id, n)).ok().flatten();
                let document = freshet_detect::Document {
                    bytes,
                    content_type: content_type.as_deref(),
                    charset: None,
                };
                evaluate_document(&job, &detector, version, &document, &mut record)
            }
            ReportedOutcome::Failed { host, retry_after } => {
                record.outcome = Stored::Failed;
                let blame = if *host { FailureCause::Host } else { FailureCause::Source };
                let retry_after = retry_after.map(|time| time.as_secs_f64() / 86_400.0);
                FetchResult::Failed { cause: blame, retry_after }
            }
            ReportedOutcome::Gone => {
                record.outcome = Stored::Gone;
                FetchResult::Gone
            }
            // Retried as rarely as a page that is gone.
            ReportedOutcome::Disallowed => {
                record.outcome = Stored::Disallowed;
                FetchResult::Gone
            }
        };
        Some(JudgedFetch { outcome, record })
    }
}

fn compare_digests(job: &FetchJob, digest: u128, record: &mut FetchRecord) -> FetchResult {
    let new = digest.to_be_bytes();
    let old: Option<[u8; DIGEST_BYTES]> = job.snapshot.as_slice().try_into().ok();
    if old == Some(new) {
        return FetchResult::Unchanged;
    }
    record.snapshot = Some(new.to_vec());
    match old {
        Some(old) => record_change(record, Some(old), new),
        // The previous reading was of another kind, so a change cannot be determined.
        None => {
            record.outcome = Stored::First;
            FetchResult::Uncompared
        }
    }
}

fn record_change(
    record: &mut FetchRecord,
    old: Option<[u8; DIGEST_BYTES]>,
    new: [u8; DIGEST_BYTES],
) -> FetchResult {
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
    FetchResult::Changed
}

/// Makes up a digest for a change of unknown content.
fn synthetic_digest(source: u32, at: Millis) -> [u8; DIGEST_BYTES] {
    let mut digest = [0; DIGEST_BYTES];
    digest[..8].copy_from_slice(&at.to_be_bytes());
    digest[12..].copy_from_slice(&source.to_be_bytes());
    digest
}
