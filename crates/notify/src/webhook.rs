//! Webhooks: signed JSON, sent through the fetcher with its checks of addresses.

use std::time::Duration;

use freshet_fetch::{FetchOutcome, FetchRequest};
use tokio::time::timeout;

use crate::sender::{DeliveryError, Envelope, FailureKind, Receipt, Sender};
use crate::signature::signatures;
use crate::target::{RawWebhook, Target};
use crate::template::{to_line, truncate};

/// Time limit from the first byte of the request to the end of the response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
/// Characters of a response that are shown.
const MAX_SHOWN_CHARS: usize = 300;

pub(crate) async fn send(
    sender: &Sender,
    target: &Target,
    hook: &RawWebhook,
    envelope: &Envelope<'_>,
) -> Result<Receipt, DeliveryError> {
    let request = request(hook, envelope).map_err(|why| {
        DeliveryError::new(format!("cannot send the request: {why}"), FailureKind::Permanent)
    })?;
    let timed_out = || {
        let message = format!("no response within {} s", RESPONSE_TIMEOUT.as_secs());
        DeliveryError::new(message, FailureKind::Transient)
    };
    let response =
        timeout(RESPONSE_TIMEOUT, sender.fetcher.fetch(&request)).await.map_err(|_| timed_out())?;
    let status = response.trace.status();
    let content = match response.outcome {
        FetchOutcome::Content(content) => content,
        FetchOutcome::Refused(refusal) => {
            return Err(DeliveryError::new(refusal.to_string(), FailureKind::Permanent));
        }
        FetchOutcome::Failed(error) => {
            return Err(DeliveryError::new(error.to_string(), FailureKind::Transient));
        }
        other => return Err(DeliveryError::new(other.name(), FailureKind::Transient)),
    };
    let status = status.unwrap_or(0);
    let text = truncate(&to_line(&content.text().text), MAX_SHOWN_CHARS);
    let shown = if text.is_empty() { status.to_string() } else { format!("{status}: {text}") };
    let kind = match status {
        200..=299 => {
            let entries = match envelope.payload.entries.len() {
                1 => "1 entry".to_owned(),
                count => format!("{count} entries"),
            };
            return Ok(Receipt {
                kind: target.kind(),
                to: target.redacted_address(),
                id: envelope.id.to_owned(),
                sent: format!("{} bytes of JSON, {entries}", envelope.body.len()),
                answer: shown,
            });
        }
        410 => FailureKind::Unsubscribed,
        408 | 425 | 429 => FailureKind::Transient,
        // Redirects are not followed: a retry would get the same response.
        300..=499 => FailureKind::Permanent,
        _ => FailureKind::Transient,
    };
    let mut error = DeliveryError::new(format!("HTTP status {status}"), kind);
    error.retry_after =
        response.trace.retry_after.map(|wait| wait.delay_from(system_time(envelope.now)));
    error.response = Some(shown);
    Err(error)
}

/// Converts milliseconds since 1970.
fn system_time(now: i64) -> std::time::SystemTime {
    let since = Duration::from_millis(u64::try_from(now).unwrap_or(0));
    std::time::SystemTime::UNIX_EPOCH + since
}

fn request(
    hook: &RawWebhook,
    envelope: &Envelope<'_>,
) -> Result<FetchRequest, freshet_fetch::InvalidRequest> {
    let mut request = FetchRequest::new(&hook.url)?;
    for (name, value) in &hook.headers {
        request = request.with_header(name, value)?;
    }
    let signature = signatures(&hook.keys, envelope.id, envelope.now, envelope.body);
    request
        .with_header("webhook-id", envelope.id)?
        .with_header("webhook-timestamp", &envelope.now.div_euclid(1000).to_string())?
        .with_header("webhook-signature", &signature)?
        .with_post_body("application/json", envelope.body.to_vec())
}
