//! A request to a hub and the interpretation of its response.

use std::time::{Duration, SystemTime};

use freshet_fetch::{FetchOutcome, FetchRequest, FetchResponse};
use freshet_store::Subscription;
use url::Url;

use super::subscription::{self, HubAnswer, HubMode};
use crate::clock::{Millis, millis_from_days};
use crate::fetch_context::FetchContext;
use crate::polite_fetch::PoliteFetch;

/// Redirects followed per request.
const MAX_REDIRECTS: usize = 5;
/// Longest excerpt of a hub's response that is shown.
const MAX_SHOWN_CHARS: usize = 200;

/// Callback path below the public base URL.
pub(super) const CALLBACK_PATH: &str = "/websub/";

/// Sends a request to a hub.
pub(super) async fn send_request(
    context: &FetchContext,
    it: &Subscription,
    mode: HubMode,
) -> HubAnswer {
    let body = build_form(it, mode);
    let mut to = subscription::current_hub(it).to_owned();
    let mut hops = 0;
    loop {
        let request = match build_request(&to, &body) {
            Ok(request) => request,
            Err(error) => return HubAnswer::Rejected(error.to_string()),
        };
        let from = request.url().clone();
        let mut polite_fetch = PoliteFetch::new(context, String::new(), false);
        let (answer, _) = polite_fetch.fetch(request).await;
        if let Some(it) = polite_fetch.postponement.take() {
            return HubAnswer::Postponed(millis_from_days(it.days).max(1_000));
        }
        match redirect_target(&answer, &from) {
            Some(url) if hops < MAX_REDIRECTS => {
                hops += 1;
                to = url.into();
            }
            Some(_) => {
                return HubAnswer::Rejected(format!(
                    "the hub redirects more than {MAX_REDIRECTS} times"
                ));
            }
            None => return interpret_answer(answer, context.clock.now()),
        }
    }
}

fn build_request(to: &str, body: &str) -> Result<FetchRequest, freshet_fetch::InvalidRequest> {
    FetchRequest::new(to)?.with_post_body("application/x-www-form-urlencoded", body.to_owned())
}

fn build_form(it: &Subscription, mode: HubMode) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("hub.mode", mode.name());
    form.append_pair("hub.topic", &it.topic);
    form.append_pair(
        "hub.callback",
        &format!("{}{CALLBACK_PATH}{}", it.callback_base, it.callback),
    );
    if mode == HubMode::Subscribe {
        form.append_pair(
            "hub.lease_seconds",
            &(subscription::REQUESTED_LEASE_MS / 1000).to_string(),
        );
        form.append_pair("hub.secret", &it.secret);
    }
    form.finish()
}

/// Returns the redirect target: only 307 and 308 keep the method, and a secret never goes from
/// https to http.
fn redirect_target(answer: &FetchResponse, from: &Url) -> Option<Url> {
    let to = answer.trace.redirect_target.as_ref()?;
    let is_kept = matches!(answer.trace.status(), Some(307 | 308));
    let is_down = from.scheme() == "https" && to.scheme() != "https";
    (is_kept && !is_down).then(|| to.clone())
}

fn interpret_answer(answer: FetchResponse, now: Millis) -> HubAnswer {
    let status = answer.trace.status().unwrap_or(0);
    let content = match answer.outcome {
        FetchOutcome::Content(content) => content,
        FetchOutcome::Refused(refusal) => return HubAnswer::Rejected(refusal.to_string()),
        FetchOutcome::Failed(error) => return HubAnswer::Transient(error.to_string(), None),
        other => return HubAnswer::Transient(other.name().to_owned(), None),
    };
    if (200..300).contains(&status) {
        return HubAnswer::Accepted;
    }
    let text = sanitize_text(&content.text().text);
    let note = match text.as_str() {
        "" => format!("the hub responds with status {status}"),
        text => format!("the hub responds with status {status}: {text}"),
    };
    match status {
        408 | 425 | 429 | 500.. => {
            let at = SystemTime::UNIX_EPOCH + Duration::from_millis(now.max(0).unsigned_abs());
            let wait = answer.trace.retry_after.map(|wait| wait.delay_from(at));
            HubAnswer::Transient(
                note,
                wait.map(|it| i64::try_from(it.as_millis()).unwrap_or(i64::MAX)),
            )
        }
        _ => HubAnswer::Rejected(note),
    }
}

/// Condenses untrusted text to one short line.
pub(super) fn sanitize_text(text: &str) -> String {
    let words = text.split(|it: char| it.is_whitespace() || it.is_control());
    let line =
        words.filter(|word| !word.is_empty()).take(MAX_SHOWN_CHARS).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
