//! Fetches robots.txt, and says what an answer means.

use std::time::Duration;

use hyper::header::{HeaderMap, USER_AGENT};
use tokio::time::Instant;
use url::Url;

use super::{Absence, PATIENCE, RobotsFile, State};
use crate::connect::Stop;
use crate::error::{FetchError, ProtocolFault};
use crate::exchange::Exchange;
use crate::guard::Refusal;
use crate::headers::{self, Wait};
use crate::outcome::Hop;
use crate::request::Verb;
use crate::request_hook::Road;
use crate::robots::{MOST_BYTES, Robots};

/// Redirects that are followed at the least (RFC 9309 §2.3.1.2).
const LEAST_REDIRECTS: u32 = 5;

/// What a look at a host brought.
pub(super) struct Found {
    status: Option<u16>,
    what: What,
    retry_after: Option<Wait>,
}

enum What {
    /// The file, and whether there is more of it.
    File(Vec<u8>, bool),
    Absent(Absence),
    Unreachable(FetchError),
}

impl Found {
    pub(super) fn failed(error: FetchError) -> Self {
        Self { status: None, what: What::Unreachable(error), retry_after: None }
    }

    fn absent(status: Option<u16>, absence: Absence) -> Self {
        Self { status, what: What::Absent(absence), retry_after: None }
    }

    pub(super) fn file(
        self,
        exchange: &Exchange,
        url: Url,
        before: Option<&RobotsFile>,
    ) -> RobotsFile {
        let (limits, now) = (&exchange.settings.limits, Instant::now());
        let file = |state| RobotsFile {
            url,
            status: self.status,
            sitemaps: Vec::new(),
            crawl_delay: None,
            cut: false,
            bytes: None,
            state,
            retry_after: self.retry_after,
            at: now,
            before: Duration::ZERO,
            until: now + limits.robots,
        };
        match self.what {
            What::Absent(absence) => file(State::Absent(absence)),
            What::File(body, more) => {
                let robots = if more { Robots::parse_part(&body) } else { Robots::parse(&body) };
                let rules = robots.rules_for(exchange.settings.agent());
                RobotsFile {
                    crawl_delay: rules.crawl_delay(),
                    sitemaps: robots.sitemaps().to_vec(),
                    cut: robots.is_cut(),
                    bytes: Some(body.len() as u64),
                    ..file(State::Found(rules))
                }
            }
            What::Unreachable(error) => {
                let wish = match self.retry_after {
                    Some(Wait::For(time)) => time,
                    _ => limits.robots_retry,
                };
                let until = now + wish.max(limits.robots_retry).min(limits.robots);
                let since = match before {
                    // §2.4: a copy may be used for longer while the file cannot be reached.
                    Some(before)
                        if !matches!(before.state, State::Unreachable(..))
                            && before.age() <= PATIENCE =>
                    {
                        return RobotsFile { until, ..before.clone() };
                    }
                    Some(RobotsFile { state: State::Unreachable(_, since), .. }) => *since,
                    _ => now,
                };
                RobotsFile { until, ..file(State::Unreachable(error, since)) }
            }
        }
    }
}

/// Fetches a robots.txt file. From https to http it follows whatever the settings say of pages: a
/// file that is not read forbids nothing.
pub(super) async fn look(
    exchange: &Exchange,
    place: Url,
    road: &mut Road<'_>,
) -> Result<Found, Stop> {
    let limit = exchange.settings.limits.redirects.max(LEAST_REDIRECTS);
    let mut seen: Vec<Url> = Vec::new();
    let mut url = place;
    loop {
        let mut hop = Hop::to(url.clone());
        let mut own = HeaderMap::new();
        own.insert(USER_AGENT, exchange.settings.user_agent.clone());
        exchange.settings.headers_for(&url, &mut own);
        let reply = match exchange.ask(&mut hop, &Verb::Get, own, None, road).await {
            Err(Stop::Refused(refusal)) if !seen.is_empty() => {
                return Ok(Found::absent(None, Absence::Refused(refusal)));
            }
            reply => reply?,
        };
        let code = reply.status;
        let status = Some(code);
        match code {
            200..=299 => {
                let (body, more) = exchange.read_part(reply, &mut hop, MOST_BYTES).await?;
                let what = What::File(body, more);
                return Ok(Found { status, what, retry_after: None });
            }
            301 | 302 | 303 | 307 | 308 => {
                let next = headers::location(&reply.headers, &url);
                exchange.drain(reply).await;
                seen.push(url);
                // §2.3.1.2: a file that redirects too often is taken for absent.
                let absence = match next {
                    None => Absence::Nowhere { status: code },
                    Some(next) if !matches!(next.scheme(), "http" | "https") => {
                        Absence::Refused(Refusal::Redirect { scheme: next.scheme().to_owned() })
                    }
                    Some(next) if seen.contains(&next) => Absence::Circle,
                    Some(_) if seen.len() > limit as usize => Absence::TooManyRedirects { limit },
                    Some(next) => {
                        url = next;
                        continue;
                    }
                };
                return Ok(Found::absent(status, absence));
            }
            304 => {
                exchange.drain(reply).await;
                return Err(FetchError::Protocol { fault: ProtocolFault::Unasked }.into());
            }
            300..=399 => {
                exchange.drain(reply).await;
                return Ok(Found::absent(status, Absence::Nowhere { status: code }));
            }
            // Who asks us to slow down has not said that there is no file.
            400..=428 | 430..=499 => {
                exchange.drain(reply).await;
                return Ok(Found::absent(status, Absence::Status { status: code }));
            }
            _ => {
                let retry_after = headers::retry_after(&reply.headers);
                exchange.drain(reply).await;
                let what = What::Unreachable(FetchError::Status { status: code });
                return Ok(Found { status, what, retry_after });
            }
        }
    }
}
