//! What somebody pasted: kept until it is added, and read.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use freshet_daemon::{Handle, NewSourceRequest};
use freshet_store::{Reader, StoreError};
use freshet_tables::{ListError, ListFormat, read_list};

use super::super::session::hex;
use crate::routes::check_url;

/// Bytes of a paste, and URLs in it, at most.
pub(super) const LARGEST: usize = 16 << 20;
pub(super) const MOST: usize = 100_000;
/// Pastes that are kept, and bytes of all of them.
const KEPT: usize = 32;
const KEPT_BYTES: usize = 64 << 20;
/// What is told of each kind.
const TOLD: usize = 50;

/// Pastes that wait to be added, each for who pasted it.
#[derive(Default)]
pub(crate) struct Pastes {
    kept: Mutex<VecDeque<Paste>>,
}

struct Paste {
    name: String,
    owner: String,
    text: Arc<str>,
}

impl Pastes {
    /// Keeps a paste, and gives its name. The oldest make room.
    pub(super) fn keep(&self, owner: &str, text: &str) -> Result<String, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let name = hex(&bytes);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(Paste { name: name.clone(), owner: owner.to_owned(), text: text.into() });
        let mut size: usize = kept.iter().map(|it| it.text.len()).sum();
        while kept.len() > KEPT || size > KEPT_BYTES {
            size -= kept.pop_front().map_or(size, |it| it.text.len());
        }
        Ok(name)
    }

    /// A paste by its name.
    pub(super) fn get(&self, owner: &str, name: &str) -> Option<Arc<str>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|it| it.name == name && it.owner == owner);
        found.map(|it| Arc::clone(&it.text))
    }

    /// Forgets one that has been added.
    pub(super) fn forget(&self, owner: &str, name: &str) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|it| it.name != name || it.owner != owner);
    }
}

/// What is in a paste.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) format: ListFormat,
    /// What is no source yet: its URL, and the folders that it is in.
    pub(super) new: Vec<(String, Vec<String>)>,
    /// New ones of each host.
    pub(super) hosts: HashMap<String, usize>,
    /// What is a source already, and some of it.
    pub(super) known: u64,
    pub(super) some_known: Vec<String>,
    /// URLs that are there once more.
    pub(super) again: u64,
    /// What cannot be a source, and the first of it.
    pub(super) refused: u64,
    pub(super) some_refused: Vec<Refused>,
    /// Why it was not read to its end.
    pub(super) stopped: Option<String>,
}

/// Something that cannot be a source.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) line: u64,
    pub(super) what: String,
    pub(super) why: String,
}

/// Reads a paste, beside what there is.
pub(super) fn read(text: &str, reader: &Reader, handle: &Handle) -> Result<Contents, StoreError> {
    let now = handle.now();
    let mut beginning = text.len().min(4096);
    while !text.is_char_boundary(beginning) {
        beginning -= 1;
    }
    let format = ListFormat::of_beginning(&text[..beginning]);
    let mut contents = Contents {
        format,
        new: Vec::new(),
        hosts: HashMap::new(),
        known: 0,
        some_known: Vec::new(),
        again: 0,
        refused: 0,
        some_refused: Vec::new(),
        stopped: None,
    };
    let (mut seen, mut failed) = (HashSet::new(), None);
    let mut count = 0;
    let ended = read_list(&mut text.as_bytes(), format, &mut |listed| {
        count += 1;
        if count > MOST {
            return ControlFlow::Break(());
        }
        let listed = match listed {
            Ok(listed) => listed,
            Err(bad) => {
                contents.refuse(bad.line, "", bad.fault.to_string());
                return ControlFlow::Continue(());
            }
        };
        let checked = check_url(&listed.url).map_err(|problem| problem.detail);
        let checked = checked
            .and_then(|()| {
                NewSourceRequest::new(&listed.url).check(now).map_err(|why| why.to_string())
            })
            .and_then(|source| match handle.refusal(&source.url) {
                // It would never be fetched.
                Some(why) => Err(why),
                None => Ok(source),
            });
        match checked {
            Err(why) => contents.refuse(listed.line, &listed.url, why),
            Ok(source) if seen.contains(&source.url) => contents.again += 1,
            Ok(source) => {
                seen.insert(source.url.clone());
                match reader.find_source(&source.url) {
                    Ok(None) => {
                        *contents.hosts.entry(source.host).or_default() += 1;
                        contents.new.push((source.url, listed.folders));
                    }
                    Ok(Some(_)) => {
                        contents.known += 1;
                        if contents.some_known.len() < TOLD {
                            contents.some_known.push(source.url);
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
        _ if count > MOST => Some(format!(
            "more than {MOST} URLs: what is behind them was left out; `freshet import` takes any number"
        )),
        Ok(()) => None,
        Err(ListError::Index { parts, more }) => Some(format!(
            "an index of sitemaps, not a sitemap: paste what is at {}{}",
            parts.join(" "),
            if more { " …" } else { "" }
        )),
        Err(error) => Some(error.to_string()),
    };
    Ok(contents)
}

impl Contents {
    fn refuse(&mut self, line: u64, what: &str, why: String) {
        self.refused += 1;
        if self.some_refused.len() < TOLD {
            let what = what.chars().take(200).collect();
            self.some_refused.push(Refused { line, what, why });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_is_for_who_pasted_it_and_the_oldest_go() {
        let pastes = Pastes::default();
        let first = pastes.keep("a", "one").unwrap();
        assert_eq!(pastes.get("a", &first).as_deref(), Some("one"));
        assert_eq!(pastes.get("b", &first), None);
        let large = "x".repeat(KEPT_BYTES);
        let second = pastes.keep("a", &large).unwrap();
        assert_eq!(pastes.get("a", &first), None);
        assert!(pastes.get("a", &second).is_some());
        pastes.forget("a", &second);
        assert_eq!(pastes.get("a", &second), None);
    }
}
