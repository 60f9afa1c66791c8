//! A robots.txt as it is kept from one run to the next.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use url::Url;

use super::{Absence, RobotsFile, State};
use crate::robots::Rules;

/// Of the layout of these bytes. In that of version 1 nothing comes after the rules.
const VERSION: u8 = 2;
const WITHOUT_MORE: u8 = 1;
/// Sitemaps that are kept at most, and bytes of each.
const SITEMAPS: usize = 100;
const SITEMAP: usize = 2048;

#[derive(Serialize, Deserialize)]
struct Written {
    status: Option<u16>,
    cut: bool,
    /// How long it holds, from when it was found.
    holds: Duration,
    rules: Option<Rules>,
}

#[derive(Default, Serialize, Deserialize)]
struct More {
    sitemaps: Vec<String>,
    bytes: Option<u64>,
}

impl RobotsFile {
    /// What is worth keeping of it: the rules for us, or that there is no file. `None` if it could not be
    /// reached: that may be otherwise the next time.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let rules = match &self.state {
            State::Found(rules) => Some(rules.clone()),
            State::Absent(Absence::Status { .. }) => None,
            State::Absent(_) | State::Unreachable(..) => return None,
        };
        let holds = self.before + self.until.duration_since(self.at);
        let written = Written { status: self.status, cut: self.cut, holds, rules };
        let sitemaps = self.sitemaps.iter().filter(|it| it.len() <= SITEMAP).take(SITEMAPS);
        let more = More { sitemaps: sitemaps.cloned().collect(), bytes: self.bytes };
        postcard::to_extend(&(written, more), vec![VERSION]).ok()
    }

    /// From bytes of [`to_bytes`](Self::to_bytes), of a file that was found so long ago. `None` if they
    /// are something else.
    #[must_use]
    pub fn from_bytes(url: Url, bytes: &[u8], age: Duration) -> Option<Self> {
        let (written, more) = match bytes.split_first()? {
            (&VERSION, bytes) => postcard::from_bytes(bytes).ok()?,
            (&WITHOUT_MORE, bytes) => (postcard::from_bytes(bytes).ok()?, More::default()),
            _ => return None,
        };
        let Written { status, cut, holds, rules } = written;
        let now = Instant::now();
        let crawl_delay = rules.as_ref().and_then(Rules::crawl_delay);
        let state = match (rules, status) {
            (Some(rules), _) => State::Found(rules),
            (None, Some(status)) => State::Absent(Absence::Status { status }),
            (None, None) => return None,
        };
        Some(Self {
            url,
            status,
            sitemaps: more.sitemaps,
            crawl_delay,
            cut,
            bytes: more.bytes,
            state,
            retry_after: None,
            at: now,
            before: age,
            until: now + holds.saturating_sub(age),
        })
    }

    /// How old it is.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.before + self.at.elapsed()
    }
}
