//! Fetches robots.txt and interprets the response.

use std::time::Duration;

use hyper::header::{HeaderMap, USER_AGENT};
use tokio::time::Instant;
use url::Url;

use super::{FileState, MAX_UNREACHABLE, RobotsAbsence, RobotsFile};
use crate::connect::FetchStop;
use crate::error::{FetchError, ProtocolFault};
use crate::fetch_response::FetchHop;
use crate::guard::GuardRefusal;
use crate::headers::{self, RetryAfter};
use crate::http_client::HttpClient;
use crate::request::RequestMethod;
use crate::request_hook::RequestContext;
use crate::robots::{MAX_ROBOTS_BYTES, RobotsTxt};

/// Minimum number of redirects to follow (RFC 9309 §2.3.1.2).
const MIN_REDIRECT_LIMIT: u32 = 5;

/// Result of fetching robots.txt.
pub(super) struct RobotsFetch {
    status: Option<u16>,
    content: RobotsContent,
    retry_after: Option<RetryAfter>,
}

enum RobotsContent {
    /// Content, and true if the file is longer.
    File(Vec<u8>, bool),
    Absent(RobotsAbsence),
    Unreachable(FetchError),
}

impl RobotsFetch {
    pub(super) fn from_error(error: FetchError) -> Self {
        Self { status: None, content: RobotsContent::Unreachable(error), retry_after: None }
    }

    fn absent(status: Option<u16>, absence: RobotsAbsence) -> Self {
        Self { status, content: RobotsContent::Absent(absence), retry_after: None }
    }

    pub(super) fn into_file(
        self,
        client: &HttpClient,
        url: Url,
        previous: Option<&RobotsFile>,
    ) -> RobotsFile {
        let (limits, now) = (&client.settings.limits, Instant::now());
        let file = |state| RobotsFile {
            url,
            status: self.status,
            sitemaps: Vec::new(),
            crawl_delay: None,
            truncated: false,
            bytes_read: None,
            state,
            retry_after: self.retry_after,
            loaded_at: now,
            age_when_loaded: Duration::ZERO,
            expires_at: now + limits.robots_max_age,
        };
        match self.content {
            RobotsContent::Absent(absence) => file(FileState::Absent(absence)),
            RobotsContent::File(body, is_truncated) => {
                let robots = if is_truncated {
                    RobotsTxt::parse_prefix(&body)
                } else {
                    RobotsTxt::parse(&body)
                };
                let rules = robots.rules_for_agent(client.settings.user_agent_text());
                RobotsFile {
                    crawl_delay: rules.crawl_delay(),
                    sitemaps: robots.sitemaps().to_vec(),
                    truncated: robots.is_truncated(),
                    bytes_read: Some(body.len() as u64),
                    ..file(FileState::Found(rules))
                }
            }
            RobotsContent::Unreachable(error) => {
                let delay = match self.retry_after {
                    Some(RetryAfter::Delay(time)) => time,
                    _ => limits.robots_retry_interval,
                };
                let expires_at =
                    now + delay.max(limits.robots_retry_interval).min(limits.robots_max_age);
                let since = match previous {
                    // §2.4: a cached copy may be used for longer while the file is unreachable.
                    Some(previous)
                        if !matches!(previous.state, FileState::Unreachable(..))
                            && previous.age() <= MAX_UNREACHABLE =>
                    {
                        return RobotsFile { expires_at, ..previous.clone() };
                    }
                    Some(RobotsFile { state: FileState::Unreachable(_, since), .. }) => *since,
                    _ => now,
                };
                RobotsFile { expires_at, ..file(FileState::Unreachable(error, since)) }
            }
        }
    }
}

/// Fetches a robots.txt file. Follows redirects from https to http whatever the settings say: a
/// file that is not read forbids nothing.
pub(super) async fn fetch_robots(
    client: &HttpClient,
    robots_url: Url,
    context: &mut RequestContext<'_>,
) -> Result<RobotsFetch, FetchStop> {
    let limit = client.settings.limits.max_redirects.max(MIN_REDIRECT_LIMIT);
    let mut visited: Vec<Url> = Vec::new();
    let mut url = robots_url;
    loop {
        let mut hop = FetchHop::new(url.clone());
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, client.settings.user_agent.clone());
        client.settings.headers_for(&url, &mut headers);
        let response = match client
            .send_when_allowed(&mut hop, &RequestMethod::Get, headers, None, context)
            .await
        {
            Err(FetchStop::Refused(refusal)) if !visited.is_empty() => {
                return Ok(RobotsFetch::absent(None, RobotsAbsence::Refused(refusal)));
            }
            response => response?,
        };
        let status_code = response.status;
        let status = Some(status_code);
        match status_code {
            200..=299 => {
                let (body, is_truncated) =
                    client.read_body_prefix(response, &mut hop, MAX_ROBOTS_BYTES).await?;
                let content = RobotsContent::File(body, is_truncated);
                return Ok(RobotsFetch { status, content, retry_after: None });
            }
            301 | 302 | 303 | 307 | 308 => {
                let next = headers::location(&response.headers, &url);
                client.drain_body(response).await;
                visited.push(url);
                // §2.3.1.2: a file with too many redirects counts as absent.
                let absence = match next {
                    None => RobotsAbsence::InvalidLocation { status: status_code },
                    Some(next) if !matches!(next.scheme(), "http" | "https") => {
                        RobotsAbsence::Refused(GuardRefusal::Redirect {
                            scheme: next.scheme().to_owned(),
                        })
                    }
                    Some(next) if visited.contains(&next) => RobotsAbsence::RedirectLoop,
                    Some(_) if visited.len() > limit as usize => {
                        RobotsAbsence::TooManyRedirects { limit }
                    }
                    Some(next) => {
                        url = next;
                        continue;
                    }
                };
                return Ok(RobotsFetch::absent(status, absence));
            }
            304 => {
                client.drain_body(response).await;
                return Err(
                    FetchError::Protocol { fault: ProtocolFault::UnexpectedNotModified }.into()
                );
            }
            300..=399 => {
                client.drain_body(response).await;
                return Ok(RobotsFetch::absent(
                    status,
                    RobotsAbsence::InvalidLocation { status: status_code },
                ));
            }
            // A 429 does not mean that there is no file.
            400..=428 | 430..=499 => {
                client.drain_body(response).await;
                return Ok(RobotsFetch::absent(
                    status,
                    RobotsAbsence::Status { status: status_code },
                ));
            }
            _ => {
                let retry_after = headers::retry_after(&response.headers);
                client.drain_body(response).await;
                let content =
                    RobotsContent::Unreachable(FetchError::Status { status: status_code });
                return Ok(RobotsFetch { status, content, retry_after });
            }
        }
    }
}
