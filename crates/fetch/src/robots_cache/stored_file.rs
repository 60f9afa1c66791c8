//! Binary format of a stored robots.txt file.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use url::Url;

use super::{FileState, RobotsAbsence, RobotsFile};
use crate::robots::RobotsRules;

/// Version of the format. Version 1 has nothing after the rules.
const VERSION: u8 = 2;
const VERSION_WITHOUT_EXTRAS: u8 = 1;
/// Maximum number of stored sitemaps, and the maximum length of each.
const MAX_SITEMAPS: usize = 100;
const MAX_SITEMAP_LEN: usize = 2048;

#[derive(Serialize, Deserialize)]
struct StoredFile {
    status: Option<u16>,
    truncated: bool,
    /// Lifetime since the file was fetched.
    lifetime: Duration,
    rules: Option<RobotsRules>,
}

#[derive(Default, Serialize, Deserialize)]
struct StoredExtras {
    sitemaps: Vec<String>,
    bytes_read: Option<u64>,
}

impl RobotsFile {
    /// Encodes the parts of the file worth storing: the rules for this crawler, or the absence of
    /// the file. Returns `None` if it was unreachable, which may be different next time.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let rules = match &self.state {
            FileState::Found(rules) => Some(rules.clone()),
            FileState::Absent(RobotsAbsence::Status { .. }) => None,
            FileState::Absent(_) | FileState::Unreachable(..) => return None,
        };
        let lifetime = self.age_when_loaded + self.expires_at.duration_since(self.loaded_at);
        let stored = StoredFile { status: self.status, truncated: self.truncated, lifetime, rules };
        let sitemaps =
            self.sitemaps.iter().filter(|it| it.len() <= MAX_SITEMAP_LEN).take(MAX_SITEMAPS);
        let extras =
            StoredExtras { sitemaps: sitemaps.cloned().collect(), bytes_read: self.bytes_read };
        postcard::to_extend(&(stored, extras), vec![VERSION]).ok()
    }

    /// Decodes the output of [`to_bytes`](Self::to_bytes) for a file of this age. Returns `None`
    /// for other bytes.
    #[must_use]
    pub fn from_bytes(url: Url, bytes: &[u8], age: Duration) -> Option<Self> {
        let (stored, extras) = match bytes.split_first()? {
            (&VERSION, bytes) => postcard::from_bytes(bytes).ok()?,
            (&VERSION_WITHOUT_EXTRAS, bytes) => {
                (postcard::from_bytes(bytes).ok()?, StoredExtras::default())
            }
            _ => return None,
        };
        let StoredFile { status, truncated, lifetime, rules } = stored;
        let now = Instant::now();
        let crawl_delay = rules.as_ref().and_then(RobotsRules::crawl_delay);
        let state = match (rules, status) {
            (Some(rules), _) => FileState::Found(rules),
            (None, Some(status)) => FileState::Absent(RobotsAbsence::Status { status }),
            (None, None) => return None,
        };
        Some(Self {
            url,
            status,
            sitemaps: extras.sitemaps,
            crawl_delay,
            truncated,
            bytes_read: extras.bytes_read,
            state,
            retry_after: None,
            loaded_at: now,
            age_when_loaded: age,
            expires_at: now + lifetime.saturating_sub(age),
        })
    }

    /// Returns the age of the file.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.age_when_loaded + self.loaded_at.elapsed()
    }
}
