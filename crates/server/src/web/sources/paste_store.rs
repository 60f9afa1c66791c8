//! Pasted lists: stored until they are added, and parsed.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use freshet_daemon::{DaemonHandle, NewSourceRequest};
use freshet_store::{Reader, StoreError};
use freshet_tables::{ListError, ListFormat, read_list};

use super::super::session::hex;
use crate::routes::check_url;

/// Maximum size of a paste in bytes, and maximum number of URLs.
pub(super) const MAX_PASTE_BYTES: usize = 16 << 20;
pub(super) const MAX_URLS: usize = 100_000;
/// Maximum number and total size in bytes of stored pastes.
const MAX_PASTES: usize = 32;
const MAX_STORED_BYTES: usize = 64 << 20;
/// Entries listed per category.
const MAX_LISTED: usize = 50;

/// Pastes that wait for confirmation, each visible only to its owner.
#[derive(Default)]
pub(crate) struct PasteStore {
    stored: Mutex<VecDeque<Paste>>,
}

struct Paste {
    name: String,
    owner: String,
    text: Arc<str>,
}

impl PasteStore {
    /// Stores a paste and returns its name. Drops the oldest if there is no room.
    pub(super) fn insert(&self, owner: &str, text: &str) -> Result<String, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let name = hex(&bytes);
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        stored.push_back(Paste { name: name.clone(), owner: owner.to_owned(), text: text.into() });
        let mut size: usize = stored.iter().map(|it| it.text.len()).sum();
        while stored.len() > MAX_PASTES || size > MAX_STORED_BYTES {
            size -= stored.pop_front().map_or(size, |it| it.text.len());
        }
        Ok(name)
    }

    /// Returns a paste.
    pub(super) fn get(&self, owner: &str, name: &str) -> Option<Arc<str>> {
        let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let found = stored.iter().find(|it| it.name == name && it.owner == owner);
        found.map(|it| Arc::clone(&it.text))
    }

    /// Removes a paste.
    pub(super) fn remove(&self, owner: &str, name: &str) {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        stored.retain(|it| it.name != name || it.owner != owner);
    }
}

/// The parsed content of a paste.
#[derive(Debug)]
pub(super) struct PasteContents {
    pub(super) format: ListFormat,
    /// New sources: URL and OPML folders.
    pub(super) new: Vec<(String, Vec<String>)>,
    /// Number of new sources per host.
    pub(super) hosts: HashMap<String, usize>,
    /// Number of existing sources, and the first of them.
    pub(super) known: u64,
    pub(super) listed_known: Vec<String>,
    /// Number of repeated URLs.
    pub(super) duplicates: u64,
    /// Number of invalid entries, and the first of them.
    pub(super) rejected: u64,
    pub(super) listed_rejected: Vec<RejectedLine>,
    /// Reason why reading stopped early.
    pub(super) stopped: Option<String>,
}

/// An entry that is not a valid source.
#[derive(Debug)]
pub(super) struct RejectedLine {
    pub(super) line: u64,
    pub(super) text: String,
    pub(super) reason: String,
}

/// Parses a paste and compares it with the existing sources.
pub(super) fn read(
    text: &str,
    reader: &Reader,
    handle: &DaemonHandle,
) -> Result<PasteContents, StoreError> {
    let now = handle.now();
    let mut beginning = text.len().min(4096);
    while !text.is_char_boundary(beginning) {
        beginning -= 1;
    }
    let format = ListFormat::of_beginning(&text[..beginning]);
    let mut contents = PasteContents {
        format,
        new: Vec::new(),
        hosts: HashMap::new(),
        known: 0,
        listed_known: Vec::new(),
        duplicates: 0,
        rejected: 0,
        listed_rejected: Vec::new(),
        stopped: None,
    };
    let (mut seen, mut failed) = (HashSet::new(), None);
    let mut count = 0;
    let ended = read_list(&mut text.as_bytes(), format, &mut |listed| {
        count += 1;
        if count > MAX_URLS {
            return ControlFlow::Break(());
        }
        let listed = match listed {
            Ok(listed) => listed,
            Err(bad) => {
                contents.reject(bad.line, "", bad.fault.to_string());
                return ControlFlow::Continue(());
            }
        };
        let checked = check_url(&listed.url).map_err(|problem| problem.detail);
        let checked = checked
            .and_then(|()| {
                NewSourceRequest::new(&listed.url)
                    .to_new_source(now)
                    .map_err(|error| error.to_string())
            })
            .and_then(|source| match handle.fetch_refusal(&source.url) {
                // A source that the daemon would refuse to fetch.
                Some(error) => Err(error),
                None => Ok(source),
            });
        match checked {
            Err(error) => contents.reject(listed.line, &listed.url, error),
            Ok(source) if seen.contains(&source.url) => contents.duplicates += 1,
            Ok(source) => {
                seen.insert(source.url.clone());
                match reader.find_source(&source.url) {
                    Ok(None) => {
                        *contents.hosts.entry(source.host).or_default() += 1;
                        contents.new.push((source.url, listed.folders));
                    }
                    Ok(Some(_)) => {
                        contents.known += 1;
                        if contents.listed_known.len() < MAX_LISTED {
                            contents.listed_known.push(source.url);
                        }
                    }
                    Err(error) => {
                        failed = Some(error);
                        return ControlFlow::Break(());
                    }
                }
            }
        }
        ControlFlow::Continue(())
    });
    if let Some(error) = failed {
        return Err(error);
    }
    contents.stopped = match ended {
        _ if count > MAX_URLS => Some(format!(
            "more than {MAX_URLS} URLs: the rest was skipped; `freshet import` has no limit"
        )),
        Ok(()) => None,
        Err(ListError::Index { parts, more }) => Some(format!(
            "a sitemap index: paste the content of {}{}",
            parts.join(" "),
            if more { " …" } else { "" }
        )),
        Err(error) => Some(error.to_string()),
    };
    Ok(contents)
}

impl PasteContents {
    fn reject(&mut self, line: u64, text: &str, reason: String) {
        self.rejected += 1;
        if self.listed_rejected.len() < MAX_LISTED {
            let text = text.chars().take(200).collect();
            self.listed_rejected.push(RejectedLine { line, text, reason });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_is_private_and_the_oldest_is_dropped() {
        let pastes = PasteStore::default();
        let first = pastes.insert("a", "one").unwrap();
        assert_eq!(pastes.get("a", &first).as_deref(), Some("one"));
        assert_eq!(pastes.get("b", &first), None);
        let large = "x".repeat(MAX_STORED_BYTES);
        let second = pastes.insert("a", &large).unwrap();
        assert_eq!(pastes.get("a", &first), None);
        assert!(pastes.get("a", &second).is_some());
        pastes.remove("a", &second);
        assert_eq!(pastes.get("a", &second), None);
    }
}
