//! What other crawlers saw.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use freshet_daemon::{Lease, Report, Seen, Taken};
use freshet_store::StoredValidators;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use xxhash_rust::xxh3::xxh3_128;

use crate::app::App;
use crate::input::{Bulk, Each, Many, field_of};
use crate::moment;
use crate::problem::Problem;

/// Reports of one request, and bytes of a text in one, at most.
const MOST: usize = 10_000;
const LONGEST: usize = 2000;
/// Bytes that a fetch counts at most: nobody uses up the cap on bytes by a slip.
const LARGEST: u64 = 1 << 28;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(report))
}

/// What came of fetches that somebody made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReportsInput {
    /// What the claim gave, for all reports that name no other.
    lease: Option<String>,
    /// One for each source.
    #[schema(max_items = 10000, value_type = Vec<ReportInput>)]
    reports: Vec<Each<ReportInput>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unread {
    lease: Option<String>,
    reports: Vec<Box<RawValue>>,
}

impl Bulk for ReportsInput {
    type Unread = Unread;

    fn read(unread: Unread) -> Self {
        Self { lease: unread.lease, reports: Each::all(unread.reports, "reports") }
    }
}

/// What came of a fetch.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReportInput {
    /// What the claim gave, if not said for all.
    lease: Option<String>,
    /// The source.
    source: u32,
    /// What was seen.
    outcome: ReportOutcome,
    /// Of `digest`: any text that is the same as long as what counts is, such as a hash.
    digest: Option<String>,
    /// Of `document`: the document as text.
    text: Option<String>,
    /// Of `document`: its bytes in base64, in place of `text`.
    base64: Option<String>,
    /// Of `document`: what the server said that it is.
    content_type: Option<String>,
    /// Of `failed`: whether other sources of the host would not have come either.
    #[serde(default)]
    host: bool,
    /// Of `failed`: for how many seconds the host wants to be left alone.
    #[schema(minimum = 0.0, maximum = 2592000.0)]
    retry_after: Option<f64>,
    /// When it was fetched (RFC 3339); now unless given.
    at: Option<String>,
    /// The status of HTTP.
    #[schema(maximum = 999)]
    status: Option<u16>,
    /// Bytes that came; what is above 256 MiB does not count.
    #[serde(default)]
    bytes: Option<u64>,
    /// How long it took, in milliseconds.
    duration: Option<u32>,
    /// `ETag`, as it came: the next claim has it.
    etag: Option<String>,
    /// `Last-Modified`, as it came: the next claim has it.
    last_modified: Option<String>,
    /// What there is to say: of a change, what changed.
    note: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ReportOutcome {
    /// Something else than before.
    Changed,
    /// The same as before.
    Unchanged,
    /// Something with this `digest`: it has changed if the last one was another.
    Digest,
    /// This document: whether it has changed is found out here.
    Document,
    /// Nothing, for the moment.
    Failed,
    /// That the source is no more.
    Gone,
    /// That it may not be fetched: robots.txt forbids it, for one.
    Disallowed,
}

/// What became of the reports.
#[derive(Debug, Serialize, ToSchema)]
struct Reported {
    /// One for each report, in their order.
    items: Vec<ReportedItem>,
    /// How many are recorded.
    recorded: usize,
}

/// What became of a report.
#[derive(Debug, Serialize, ToSchema)]
struct ReportedItem {
    /// The source, if it was named.
    source: Option<u32>,
    /// What became of it.
    result: ReportResult,
    /// Whether it showed a change.
    changed: bool,
    /// Why it was refused, if it was.
    problem: Option<Problem>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ReportResult {
    /// It is recorded, and durable.
    Recorded,
    /// There is no such lease, or it ended long ago.
    NoLease,
    /// The source is not of this lease, was reported before, or was given to somebody else since.
    NotHeld,
    /// It was fetched before it was claimed, or will be.
    WrongTime,
    /// There is no such source any more.
    NoSource,
    /// Something in it cannot be meant. The others are not held up by that.
    Refused,
}

impl From<Taken> for ReportResult {
    fn from(taken: Taken) -> Self {
        match taken {
            Taken::Recorded(_) => Self::Recorded,
            Taken::NoLease => Self::NoLease,
            Taken::NotHeld => Self::NotHeld,
            Taken::WrongTime => Self::WrongTime,
            Taken::NoSource => Self::NoSource,
        }
    }
}

/// Report what came of fetches
///
/// When the answer comes, what is recorded is durable. A report that comes twice, too late, or for
/// somebody else does no harm: its result says so. One in which something cannot be meant is refused; that
/// does not hold up the others.
#[utoipa::path(post, path = "/v1/reports", tag = "crawlers", request_body = ReportsInput,
    responses((status = 200, description = "What became of each", body = Reported)))]
async fn report(
    State(app): State<Arc<App>>,
    Many(input): Many<ReportsInput, 32>,
) -> Result<Json<Reported>, Problem> {
    let count = input.reports.len();
    if count > MOST {
        let detail = format!("{count} reports, not {MOST} or less");
        return Err(Problem::field("reports", detail).hint("send them in several requests"));
    }
    let lease = input.lease.as_deref().map(lease).transpose()?;
    let mut reports = Vec::with_capacity(count);
    let mut items = Vec::with_capacity(count);
    for (at, report) in input.reports.into_iter().enumerate() {
        let (source, read) = match report {
            Each::Read(report) => {
                let place = format!("reports[{at}]");
                (Some(report.source), report.read(lease).map_err(|why| why.within(&place)))
            }
            Each::Odd { problem, given } => (field_of(&given, "source"), Err(problem)),
        };
        let problem = match read {
            Ok(report) => {
                reports.push(report);
                None
            }
            Err(problem) => Some(problem),
        };
        items.push(ReportedItem { source, result: ReportResult::Refused, changed: false, problem });
    }
    let taken = match reports.is_empty() {
        true => Vec::new(),
        false => app.handle.report(&reports).await?,
    };
    for (item, taken) in items.iter_mut().filter(|item| item.problem.is_none()).zip(taken) {
        (item.result, item.changed) = (taken.into(), taken == Taken::Recorded(true));
    }
    let recorded = items.iter().filter(|it| it.result == ReportResult::Recorded).count();
    Ok(Json(Reported { items, recorded }))
}

fn lease(text: &str) -> Result<Lease, Problem> {
    text.parse()
        .map_err(|why: freshet_daemon::InvalidLease| Problem::field("lease", why.to_string()))
}

impl ReportInput {
    fn read(self, usual: Option<Lease>) -> Result<Report, Problem> {
        let own = self.lease.as_deref().map(lease).transpose()?;
        let Some(lease) = own.or(usual) else {
            let problem = Problem::field("lease", "there is none");
            return Err(problem.hint("give what the claim gave, here or for all reports"));
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
            if text.len() > LONGEST || text.contains(|it: char| it.is_control() && it != '\n') {
                let detail =
                    format!("not a text of {LONGEST} bytes or less without control characters");
                return Err(Problem::field(field, detail));
            }
        }
        let headers = [("etag", &self.etag), ("last_modified", &self.last_modified)];
        if let Some((field, _)) =
            headers.iter().find(|(_, it)| it.as_ref().is_some_and(|it| it.contains('\n')))
        {
            return Err(Problem::field(*field, "a header is one line"));
        }
        let (status, duration) = (self.status.unwrap_or(0), self.duration.unwrap_or(0));
        if status > 999 {
            return Err(Problem::field("status", format!("{status} is not a status of HTTP")));
        }
        let at = self.at.as_deref().map(|text| {
            let detail = format!("`{text}` is not a moment such as 2026-11-18T12:30:00Z");
            moment::parse(text).ok_or_else(|| Problem::field("at", detail))
        });
        let at = at.transpose()?;
        let told = |text: &Option<String>| text.clone().filter(|it| !it.is_empty());
        let validators =
            StoredValidators { etag: told(&self.etag), last_modified: told(&self.last_modified) };
        // What is not there any more must not be asked with: another page may have had it before.
        let is_copy = matches!(
            self.outcome,
            ReportOutcome::Changed | ReportOutcome::Digest | ReportOutcome::Document
        );
        let is_said = validators != StoredValidators::default();
        let validators = (is_copy || is_said).then_some(validators);
        let source = self.source;
        let (bytes, note) = (self.bytes, self.note.clone().unwrap_or_default());
        let seen = self.seen()?;
        let came = match &seen {
            Seen::Document { bytes, .. } => bytes.len() as u64,
            _ => 0,
        };
        Ok(Report {
            lease,
            source,
            seen,
            at,
            status,
            bytes: bytes.unwrap_or(came).min(LARGEST),
            duration: Duration::from_millis(duration.into()),
            validators,
            note,
        })
    }

    fn seen(self) -> Result<Seen, Problem> {
        Ok(match self.outcome {
            ReportOutcome::Changed => Seen::Changed,
            ReportOutcome::Unchanged => Seen::Unchanged,
            ReportOutcome::Gone => Seen::Gone,
            ReportOutcome::Disallowed => Seen::Disallowed,
            ReportOutcome::Digest => {
                let Some(digest) = self.digest else {
                    return Err(Problem::field("digest", "missing: the outcome is `digest`"));
                };
                Seen::Digest(xxh3_128(digest.as_bytes()))
            }
            ReportOutcome::Failed => {
                let wait = self.retry_after.map(|seconds| {
                    let is_time = (0.0..=2_592_000.0).contains(&seconds);
                    let time = is_time.then(|| Duration::from_secs_f64(seconds));
                    time.ok_or_else(|| {
                        let detail = format!("{seconds} is not from 0 to 2592000 seconds");
                        Problem::field("retry_after", detail)
                    })
                });
                Seen::Failed { host: self.host, retry_after: wait.transpose()? }
            }
            ReportOutcome::Document => {
                let bytes = match (self.text, self.base64) {
                    (Some(text), None) => text.into_bytes(),
                    (None, Some(text)) => BASE64_STANDARD
                        .decode(text)
                        .map_err(|why| Problem::field("base64", format!("not base64: {why}")))?,
                    (None, None) => {
                        let problem = Problem::field("text", "missing: the outcome is `document`");
                        return Err(problem.hint("give `text` or `base64`"));
                    }
                    (Some(_), Some(_)) => {
                        let detail = "the document is there twice: as `text` and as `base64`";
                        return Err(Problem::field("base64", detail));
                    }
                };
                Seen::Document { bytes, content_type: self.content_type }
            }
        })
    }
}
