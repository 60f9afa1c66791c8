//! One request to a hub, and what its answer means.

use std::time::{Duration, SystemTime};

use freshet_fetch::{Answer, Outcome, Request};
use freshet_store::Subscription;
use url::Url;

use super::life::{self, HubAnswer, Mode};
use crate::clock::{Millis, millis};
use crate::polite_fetch::PoliteFetch;
use crate::work::FetchContext;

/// Redirects of a hub that are followed.
const HOPS: usize = 5;
/// Characters of what a hub says that are shown.
const SHOWN: usize = 200;

/// Where hubs call back, behind the address of the service.
pub(super) const PATH: &str = "/websub/";

/// Asks a hub.
pub(super) async fn ask(shop: &FetchContext, it: &Subscription, mode: Mode) -> HubAnswer {
    let body = form(it, mode);
    let mut to = life::hub(it).to_owned();
    let mut hops = 0;
    loop {
        let request = match request(&to, &body) {
            Ok(request) => request,
            Err(why) => return HubAnswer::No(why.to_string()),
        };
        let from = request.url().clone();
        let mut errand = PoliteFetch::new(shop, String::new(), false);
        let (answer, _) = errand.run(request).await;
        if let Some(it) = errand.put_off.take() {
            return HubAnswer::PutOff(millis(it.days).max(1_000));
        }
        match next(&answer, &from) {
            Some(url) if hops < HOPS => {
                hops += 1;
                to = url.into();
            }
            Some(_) => return HubAnswer::No(format!("the hub leads on more than {HOPS} times")),
            None => return said(answer, shop.clock.now()),
        }
    }
}

fn request(to: &str, body: &str) -> Result<Request, freshet_fetch::InvalidRequest> {
    Request::new(to)?.post("application/x-www-form-urlencoded", body.to_owned())
}

fn form(it: &Subscription, mode: Mode) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("hub.mode", mode.word());
    form.append_pair("hub.topic", &it.topic);
    form.append_pair("hub.callback", &format!("{}{PATH}{}", it.base, it.callback));
    if mode == Mode::Subscribe {
        form.append_pair("hub.lease_seconds", &(life::LEASE / 1000).to_string());
        form.append_pair("hub.secret", &it.secret);
    }
    form.finish()
}

/// Where the hub wants to be asked instead: the method stays with 307 and 308 only, and a secret that
/// went by https goes by nothing else.
fn next(answer: &Answer, from: &Url) -> Option<Url> {
    let to = answer.trace.leads_to.as_ref()?;
    let is_kept = matches!(answer.trace.status(), Some(307 | 308));
    let is_down = from.scheme() == "https" && to.scheme() != "https";
    (is_kept && !is_down).then(|| to.clone())
}

fn said(answer: Answer, now: Millis) -> HubAnswer {
    let status = answer.trace.status().unwrap_or(0);
    let content = match answer.outcome {
        Outcome::Content(content) => content,
        Outcome::Refused(refusal) => return HubAnswer::No(refusal.to_string()),
        Outcome::Failed(error) => return HubAnswer::Later(error.to_string(), None),
        other => return HubAnswer::Later(other.name().to_owned(), None),
    };
    if (200..300).contains(&status) {
        return HubAnswer::Accepted;
    }
    let text = shown(&content.text().text);
    let note = match text.as_str() {
        "" => format!("the hub answers {status}"),
        text => format!("the hub answers {status}: {text}"),
    };
    match status {
        408 | 425 | 429 | 500.. => {
            let at = SystemTime::UNIX_EPOCH + Duration::from_millis(now.max(0).unsigned_abs());
            let wait = answer.trace.retry_after.map(|wait| wait.length(at));
            HubAnswer::Later(note, wait.map(|it| i64::try_from(it.as_millis()).unwrap_or(i64::MAX)))
        }
        _ => HubAnswer::No(note),
    }
}

/// What strangers say, as one short line.
pub(super) fn shown(text: &str) -> String {
    let words = text.split(|it: char| it.is_whitespace() || it.is_control());
    let line = words.filter(|word| !word.is_empty()).take(SHOWN).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
