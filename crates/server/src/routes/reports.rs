//! Reports of other crawlers.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use freshet_daemon::{FetchReport, LeaseId, ReportResult, ReportedOutcome};
use freshet_store::StoredValidators;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use xxhash_rust::xxh3::xxh3_128;

use crate::app::App;
use crate::extractors::{BulkBody, BulkItem, BulkJsonBody, raw_field};
use crate::problem::Problem;
use crate::timestamp;

/// Maximum number of reports in a request, and maximum length of a text in one, in bytes.
const MAX_REPORTS: usize = 10_000;
const MAX_TEXT_LEN: usize = 2000;
/// Maximum size that a reported fetch is counted with: a wrong number must not use up the budget
/// of bytes.
const MAX_COUNTED_BYTES: u64 = 1 << 28;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(report))
}

/// Results of fetches.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReportsInput {
    /// Lease token of the claim, for all reports that have none of their own.
    lease: Option<String>,
    /// One report for each source.
    #[schema(max_items = 10000, value_type = Vec<ReportInput>)]
    reports: Vec<BulkItem<ReportInput>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnparsedReports {
    lease: Option<String>,
    reports: Vec<Box<RawValue>>,
}

impl BulkBody for ReportsInput {
    type Unparsed = UnparsedReports;

    fn read(unread: UnparsedReports) -> Self {
        Self { lease: unread.lease, reports: BulkItem::parse_list(unread.reports, "reports") }
    }
}

/// Result of a fetch.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReportInput {
    /// Lease token of the claim, if not given for all reports.
    lease: Option<String>,
    /// Id of the source.
    source: u32,
    /// Outcome of the fetch.
    outcome: ReportOutcome,
    /// For `digest`: any text that stays the same as long as the relevant content does, such as a
    /// hash.
    digest: Option<String>,
    /// For `document`: the document as text.
    text: Option<String>,
    /// For `document`: the document in base64, instead of `text`.
    base64: Option<String>,
    /// For `document`: the `Content-Type` of the response.
    content_type: Option<String>,
    /// For `failed`: true if other sources of the host would have failed too.
    #[serde(default)]
    host: bool,
    /// For `failed`: seconds that the host asked to wait.
    #[schema(minimum = 0.0, maximum = 2592000.0)]
    retry_after: Option<f64>,
    /// Time of the fetch (RFC 3339); default: now.
    at: Option<String>,
    /// HTTP status code.
    #[schema(maximum = 999)]
    status: Option<u16>,
    /// Bytes received; counted up to 256 MiB.
    #[serde(default)]
    bytes: Option<u64>,
    /// Duration of the fetch in milliseconds.
    duration: Option<u32>,
    /// `ETag` of the response: returned by the next claim.
    etag: Option<String>,
    /// `Last-Modified` of the response: returned by the next claim.
    last_modified: Option<String>,
    /// A note; for a change, what changed.
    note: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ReportOutcome {
    /// The content has changed.
    Changed,
    /// The content has not changed.
    Unchanged,
    /// The content has this `digest`: it has changed if the previous one was different.
    Digest,
    /// The content is this document: freshet determines whether it has changed.
    Document,
    /// The fetch failed.
    Failed,
    /// The source no longer exists.
    Gone,
    /// The source must not be fetched, for example because robots.txt forbids it.
    Disallowed,
}

/// Results of the reports.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Reported)]
struct ReportsResult {
    /// One result for each report, in the same order.
    items: Vec<ReportedItem>,
    /// Number of recorded reports.
    recorded: usize,
}

/// Result of a report.
#[derive(Debug, Serialize, ToSchema)]
struct ReportedItem {
    /// Id of the source, if the report names one.
    source: Option<u32>,
    /// Result.
    result: ReportStatus,
    /// True if the report showed a change.
    changed: bool,
    /// Why the report was refused, if it was.
    problem: Option<Problem>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ReportResult)]
enum ReportStatus {
    /// The report is recorded and durable.
    Recorded,
    /// The lease does not exist, or ended long ago.
    NoLease,
    /// The source is not part of this lease, was reported before, or has since been claimed by
    /// another client.
    NotHeld,
    /// The time of the fetch is before the claim or in the future.
    WrongTime,
    /// The source no longer exists.
    NoSource,
    /// The report is invalid. The others are not affected.
    Refused,
}

impl From<ReportResult> for ReportStatus {
    fn from(result: ReportResult) -> Self {
        match result {
            ReportResult::Recorded(_) => Self::Recorded,
            ReportResult::NoLease => Self::NoLease,
            ReportResult::NotHeld => Self::NotHeld,
            ReportResult::WrongTime => Self::WrongTime,
            ReportResult::NoSource => Self::NoSource,
        }
    }
}

/// Report fetches
///
/// Reports are durable when the response is sent. A report that is repeated, late, or for a source
/// of another client does no harm: its result says so. An invalid report is refused and does not
/// affect the others.
#[utoipa::path(post, path = "/v1/reports", tag = "crawlers", request_body = ReportsInput,
    responses((status = 200, description = "The result of each report", body = ReportsResult)))]
async fn report(
    State(app): State<Arc<App>>,
    BulkJsonBody(input): BulkJsonBody<ReportsInput, 32>,
) -> Result<Json<ReportsResult>, Problem> {
    let count = input.reports.len();
    if count > MAX_REPORTS {
        let detail = format!("too many reports: {count}, at most {MAX_REPORTS} are allowed");
        return Err(
            Problem::invalid("reports", detail).with_hint("split them into several requests")
        );
    }
    let lease = input.lease.as_deref().map(parse_lease).transpose()?;
    let mut reports = Vec::with_capacity(count);
    let mut items = Vec::with_capacity(count);
    for (at, report) in input.reports.into_iter().enumerate() {
        let (source, read) = match report {
            BulkItem::Valid(report) => {
                let path = format!("reports[{at}]");
                (
                    Some(report.source),
                    report.into_report(lease).map_err(|error| error.in_parent(&path)),
                )
            }
            BulkItem::Invalid { problem, raw } => (raw_field(&raw, "source"), Err(problem)),
        };
        let problem = match read {
            Ok(report) => {
                reports.push(report);
                None
            }
            Err(problem) => Some(problem),
        };
        items.push(ReportedItem { source, result: ReportStatus::Refused, changed: false, problem });
    }
    let results = match reports.is_empty() {
        true => Vec::new(),
        false => app.handle.report(&reports).await?,
    };
    for (item, result) in items.iter_mut().filter(|item| item.problem.is_none()).zip(results) {
        (item.result, item.changed) = (result.into(), result == ReportResult::Recorded(true));
    }
    let recorded = items.iter().filter(|it| it.result == ReportStatus::Recorded).count();
    Ok(Json(ReportsResult { items, recorded }))
}

fn parse_lease(text: &str) -> Result<LeaseId, Problem> {
    text.parse().map_err(|error: freshet_daemon::InvalidLeaseId| {
        Problem::invalid("lease", error.to_string())
    })
}

impl ReportInput {
    fn into_report(self, default_lease: Option<LeaseId>) -> Result<FetchReport, Problem> {
        let own = self.lease.as_deref().map(parse_lease).transpose()?;
        let Some(lease) = own.or(default_lease) else {
            let problem = Problem::invalid("lease", "the lease is missing");
            return Err(
                problem.with_hint("pass the `lease` of the claim, in each report or once for all")
            );
        };
        let texts = [
            ("etag", &self.etag),
            ("last_modified", &self.last_modified),
            ("note", &self.note),
            ("content_type", &self.content_type),
            ("digest", &self.digest),
        ];
        for (field, text) in texts {
            let Some(text) = text else { continue };
            if text.len() > MAX_TEXT_LEN || text.contains(|it: char| it.is_control() && it != '\n')
            {
                let detail = format!(
                    "text too long or with control characters; at most {MAX_TEXT_LEN} bytes"
                );
                return Err(Problem::invalid(field, detail));
            }
        }
        let headers = [("etag", &self.etag), ("last_modified", &self.last_modified)];
        if let Some((field, _)) =
            headers.iter().find(|(_, it)| it.as_ref().is_some_and(|it| it.contains('\n')))
        {
            return Err(Problem::invalid(*field, "a header value must be a single line"));
        }
        let (status, duration) = (self.status.unwrap_or(0), self.duration.unwrap_or(0));
        if status > 999 {
            return Err(Problem::invalid("status", format!("invalid HTTP status {status}")));
        }
        let at = self.at.as_deref().map(|text| {
            let detail =
                format!("invalid time `{text}`; use RFC 3339, such as 2026-11-18T12:30:00Z");
            timestamp::parse(text).ok_or_else(|| Problem::invalid("at", detail))
        });
        let at = at.transpose()?;
        let non_empty = |text: &Option<String>| text.clone().filter(|it| !it.is_empty());
        let validators = StoredValidators {
            etag: non_empty(&self.etag),
            last_modified: non_empty(&self.last_modified),
        };
        // Validators of a copy that is gone must not be sent: they may match another page.
        let is_copy = matches!(
            self.outcome,
            ReportOutcome::Changed | ReportOutcome::Digest | ReportOutcome::Document
        );
        let has_validators = validators != StoredValidators::default();
        let validators = (is_copy || has_validators).then_some(validators);
        let source = self.source;
        let (bytes, note) = (self.bytes, self.note.clone().unwrap_or_default());
        let seen = self.into_outcome()?;
        let document_len = match &seen {
            ReportedOutcome::Document { bytes, .. } => bytes.len() as u64,
            _ => 0,
        };
        Ok(FetchReport {
            lease,
            source,
            outcome: seen,
            fetched_at: at,
            status,
            bytes: bytes.unwrap_or(document_len).min(MAX_COUNTED_BYTES),
            duration: Duration::from_millis(duration.into()),
            validators,
            note,
        })
    }

    fn into_outcome(self) -> Result<ReportedOutcome, Problem> {
        Ok(match self.outcome {
            ReportOutcome::Changed => ReportedOutcome::Changed,
            ReportOutcome::Unchanged => ReportedOutcome::Unchanged,
            ReportOutcome::Gone => ReportedOutcome::Gone,
            ReportOutcome::Disallowed => ReportedOutcome::Disallowed,
            ReportOutcome::Digest => {
                let Some(digest) = self.digest else {
                    return Err(Problem::invalid(
                        "digest",
                        "`digest` is required for the outcome `digest`",
                    ));
                };
                ReportedOutcome::Digest(xxh3_128(digest.as_bytes()))
            }
            ReportOutcome::Failed => {
                let wait = self.retry_after.map(|seconds| {
                    let is_time = (0.0..=2_592_000.0).contains(&seconds);
                    let time = is_time.then(|| Duration::from_secs_f64(seconds));
                    time.ok_or_else(|| {
                        let detail = format!(
                            "wait out of range: {seconds} is not between 0 and 2592000 seconds"
                        );
                        Problem::invalid("retry_after", detail)
                    })
                });
                ReportedOutcome::Failed { host: self.host, retry_after: wait.transpose()? }
            }
            ReportOutcome::Document => {
                let bytes = match (self.text, self.base64) {
                    (Some(text), None) => text.into_bytes(),
                    (None, Some(text)) => BASE64_STANDARD.decode(text).map_err(|error| {
                        Problem::invalid("base64", format!("invalid base64: {error}"))
                    })?,
                    (None, None) => {
                        let problem =
                            Problem::invalid("text", "the outcome `document` requires a document");
                        return Err(problem.with_hint("pass it as `text` or as `base64`"));
                    }
                    (Some(_), Some(_)) => {
                        let detail = "`text` and `base64` are both given; pass only one";
                        return Err(Problem::invalid("base64", detail));
                    }
                };
                ReportedOutcome::Document { bytes, content_type: self.content_type }
            }
        })
    }
}
