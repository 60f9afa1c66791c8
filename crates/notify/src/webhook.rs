//! Webhooks: JSON, signed, through the guarded fetch function.

use std::time::Duration;

use freshet_fetch::{Outcome, Request};
use tokio::time::timeout;

use crate::sender::{DeliveryError, Envelope, FailureKind, Receipt, Sender};
use crate::sign::signatures;
use crate::target::{RawWebhook, Target};
use crate::template::{cut, line};

/// From the first byte to the end of the answer.
const LIMIT: Duration = Duration::from_secs(30);
/// Characters of an answer that are shown.
const SHOWN: usize = 300;

pub(crate) async fn send(
    sender: &Sender,
    target: &Target,
    hook: &RawWebhook,
    parcel: &Envelope<'_>,
) -> Result<Receipt, DeliveryError> {
    let request = request(hook, parcel).map_err(|why| {
        DeliveryError::new(format!("cannot be sent: {why}"), FailureKind::Permanent)
    })?;
    let late = || {
        let what = format!("no answer within {} s", LIMIT.as_secs());
        DeliveryError::new(what, FailureKind::Transient)
    };
    let answer = timeout(LIMIT, sender.fetcher.fetch(&request)).await.map_err(|_| late())?;
    let status = answer.trace.status();
    let content = match answer.outcome {
        Outcome::Content(content) => content,
        Outcome::Refused(refusal) => {
            return Err(DeliveryError::new(refusal.to_string(), FailureKind::Permanent));
        }
        Outcome::Failed(error) => {
            return Err(DeliveryError::new(error.to_string(), FailureKind::Transient));
        }
        other => return Err(DeliveryError::new(other.name(), FailureKind::Transient)),
    };
    let status = status.unwrap_or(0);
    let text = cut(&line(&content.text().text), SHOWN);
    let said = if text.is_empty() { status.to_string() } else { format!("{status}: {text}") };
    let fault = match status {
        200..=299 => {
            let entries = match parcel.payload.entries.len() {
                1 => "1 entry".to_owned(),
                some => format!("{some} entries"),
            };
            return Ok(Receipt {
                kind: target.kind(),
                to: target.redacted_address(),
                id: parcel.id.to_owned(),
                sent: format!("{} bytes of JSON, {entries}", parcel.body.len()),
                answer: said,
            });
        }
        410 => FailureKind::Unsubscribed,
        408 | 425 | 429 => FailureKind::Transient,
        // A redirect that is not followed leads nowhere the next time either.
        300..=499 => FailureKind::Permanent,
        _ => FailureKind::Transient,
    };
    let mut trouble = DeliveryError::new(format!("the answer is {status}"), fault);
    trouble.retry_after = answer.trace.retry_after.map(|wait| wait.length(moment(parcel.now)));
    trouble.response = Some(said);
    Err(trouble)
}

/// Milliseconds since 1970 as others count time.
fn moment(now: i64) -> std::time::SystemTime {
    let since = Duration::from_millis(u64::try_from(now).unwrap_or(0));
    std::time::SystemTime::UNIX_EPOCH + since
}

fn request(
    hook: &RawWebhook,
    parcel: &Envelope<'_>,
) -> Result<Request, freshet_fetch::InvalidRequest> {
    let mut request = Request::new(&hook.url)?;
    for (name, value) in &hook.headers {
        request = request.header(name, value)?;
    }
    let signed = signatures(&hook.keys, parcel.id, parcel.now, parcel.body);
    request
        .header("webhook-id", parcel.id)?
        .header("webhook-timestamp", &parcel.now.div_euclid(1000).to_string())?
        .header("webhook-signature", &signed)?
        .post("application/json", parcel.body.to_vec())
}
