//! Parser of git's log.

use std::path::Path;

use freshet_model::{ChangeTrace, PackedStrings, TimeRange};

use crate::error::Quoted;
use crate::names::Names;
use crate::trace::git::error::GitError;
use crate::trace::git::path::readable;

/// Parsed log, newest commit first.
#[derive(Default)]
pub(super) struct Log {
    paths: Paths,
    commits: Vec<Commit>,
    /// Events of paths, commit by commit.
    events: Vec<(u32, Event)>,
    /// The path of an event comes next.
    announced: Option<Option<Event>>,
}

struct Commit {
    /// Time in seconds since 1970; NaN if it is invalid.
    time: f64,
    /// Index of its first event.
    events: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Appears,
    Changes,
    Disappears,
}

/// Error of a log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LogFault {
    Unknown(Quoted),
    TooManyFiles,
}

impl LogFault {
    pub(super) fn in_repository(self, path: &Path) -> GitError {
        let path = path.to_owned();
        match self {
            Self::Unknown(found) => GitError::NotALog { path, found },
            Self::TooManyFiles => GitError::TooManyFiles { path },
        }
    }
}

/// Latest accepted commit time; later ones are clock errors.
const LATEST: f64 = 1e12;

impl Log {
    pub(super) fn commits(&self) -> u64 {
        self.commits.len() as u64
    }

    /// Processes the text between two zero bytes. Returns the number of commits if it is one.
    pub(super) fn take(&mut self, token: &[u8]) -> Result<Option<u64>, LogFault> {
        if let Some(event) = self.announced.take() {
            if let Some(event) = event {
                self.events.push((self.paths.number(token)?, event));
            }
            return Ok(None);
        }
        let token = token.strip_prefix(b"\n").unwrap_or(token);
        match token.split_first() {
            Some((b'@', time)) => {
                let time = std::str::from_utf8(time).ok().and_then(|time| time.parse().ok());
                let time = time.filter(|time| (0.0..=LATEST).contains(time)).unwrap_or(f64::NAN);
                self.commits.push(Commit { time, events: self.events.len() });
                Ok(Some(self.commits()))
            }
            Some((b':', raw)) if !self.commits.is_empty() => {
                let event = event(raw).ok_or_else(|| unknown(token))?;
                self.announced = Some(event);
                Ok(None)
            }
            _ => Err(unknown(token)),
        }
    }

    /// Returns the history and the number of commits that are dated before their parent.
    pub(super) fn into_history(self) -> (ChangeTrace, u64) {
        let mut files: Vec<Option<File>> = vec![None; self.paths.0.len()];
        let mut sources: Vec<u32> = Vec::new();
        let mut changes: Vec<(u32, f64)> = Vec::new();
        let (mut now, mut out_of_order) = (0.0, 0);
        let mut after = self.events.len();
        for commit in self.commits.iter().rev() {
            if commit.time >= now {
                now = commit.time;
            } else {
                out_of_order += 1;
            }
            for &(path, event) in &self.events[commit.events..after] {
                match (&mut files[path as usize], event) {
                    (None, Event::Disappears) => {}
                    (file @ None, _) => {
                        *file = Some(File { source: sources.len() as u32, birth: now, end: None });
                        sources.push(path);
                    }
                    (Some(file), Event::Disappears) => file.end = Some(now),
                    (Some(file), _) => {
                        file.end = None;
                        changes.push((file.source, now));
                    }
                }
            }
            after = commit.events;
        }
        let lives = sources.iter().filter_map(|&path| files[path as usize]);
        let lives: Vec<TimeRange> = lives
            .map(|file| TimeRange { start: file.birth, end: file.end.unwrap_or(now) })
            .collect();
        let ids: PackedStrings = sources.iter().map(|&path| self.paths.0.text(path)).collect();
        (ChangeTrace::new(ids, lives, &changes), out_of_order)
    }
}

#[derive(Clone, Copy)]
struct File {
    source: u32,
    birth: f64,
    /// Time of deletion, unless the file exists.
    end: Option<f64>,
}

/// Interprets `OLD_MODE NEW_MODE OLD_HASH NEW_HASH STATUS`. The outer `None` is a
/// line of another kind, the inner one is not an event: permissions and submodules.
fn event(raw: &[u8]) -> Option<Option<Event>> {
    let mut words = raw.split(|byte| *byte == b' ');
    let mut next = || words.next();
    let (old_mode, new_mode, old, new) = (next()?, next()?, next()?, next()?);
    let _status = next()?;
    Some(match (is_file(old_mode), is_file(new_mode)) {
        (false, false) => None,
        (false, true) => Some(Event::Appears),
        (true, false) => Some(Event::Disappears),
        (true, true) if old == new && old_mode[..2] == new_mode[..2] => None,
        (true, true) => Some(Event::Changes),
    })
}

/// Regular files are 100644 and 100755, links 120000, submodules 160000, absent files 000000.
fn is_file(mode: &[u8]) -> bool {
    mode.starts_with(b"10") || mode.starts_with(b"12")
}

fn unknown(token: &[u8]) -> LogFault {
    LogFault::Unknown(Quoted::new(&String::from_utf8_lossy(token)))
}

/// Set of paths with numbers.
struct Paths(Names);

impl Default for Paths {
    fn default() -> Self {
        Self(Names::new())
    }
}

impl Paths {
    fn number(&mut self, path: &[u8]) -> Result<u32, LogFault> {
        if self.0.len() == u32::MAX as usize - 1 {
            return Err(LogFault::TooManyFiles);
        }
        Ok(self.0.insert(&readable(path)).unwrap_or_else(|known| known))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A log with `|` for each zero byte, newest first, and its files: birth, end, changes.
    #[track_caller]
    fn check(log: &str, expect: &[(&str, f64, f64, &[f64])], out_of_order: u64) {
        let mut read = Log::default();
        for token in log.split_terminator('|') {
            read.take(token.as_bytes()).unwrap();
        }
        let (history, got) = read.into_history();
        let files: Vec<(&str, f64, f64, &[f64])> = (history.ids.iter().zip(&history.lifetimes))
            .enumerate()
            .map(|(at, (id, life))| (id, life.start, life.end, history.change_times(at)))
            .collect();
        assert_eq!((files.as_slice(), got), (expect, out_of_order));
    }

    const APPEARS: &str = ":000000 100644 0 1 A";
    const CHANGES: &str = ":100644 100644 1 2 M";
    const DISAPPEARS: &str = ":100644 000000 1 0 D";

    #[test]
    fn birth_changes_end_and_return() {
        check("", &[], 0);
        check("@5|", &[], 0);
        check(
            &format!("@5|@3|\n{CHANGES}|a|@1|\n{APPEARS}|a|{APPEARS}|b|"),
            &[("a", 1.0, 5.0, &[3.0]), ("b", 1.0, 5.0, &[])],
            0,
        );
        check(&format!("@9|@5|\n{DISAPPEARS}|a|@1|\n{APPEARS}|a|"), &[("a", 1.0, 5.0, &[])], 0);
        check(
            &format!("@9|@7|\n{APPEARS}|a|@5|\n{DISAPPEARS}|a|@1|\n{APPEARS}|a|"),
            &[("a", 1.0, 9.0, &[7.0])],
            0,
        );
    }

    #[test]
    fn times_do_not_go_back() {
        let log = format!("@6|\n{CHANGES}|a|@4|\n{CHANGES}|a|@5|\n{CHANGES}|a|@1|\n{APPEARS}|a|");
        check(&log, &[("a", 1.0, 6.0, &[5.0, 5.0, 6.0])], 1);
        // A committer line that cannot be read, and a clock that was far off.
        let log = format!("@6|\n{CHANGES}|a|@9e15|\n{CHANGES}|a|@|\n{CHANGES}|a|@1|\n{APPEARS}|a|");
        check(&log, &[("a", 1.0, 6.0, &[1.0, 1.0, 6.0])], 2);
    }

    #[test]
    fn links_count_and_permissions_and_submodules_do_not() {
        let log = format!(
            "@9|:160000 100644 3 1 T|a|@8|:100644 160000 1 3 T|a|@5|:100644 120000 1 1 T|a|\
             @4|:100644 100755 1 1 M|a|@3|:000000 160000 0 3 A|s|@1|\n{APPEARS}|a|"
        );
        check(&log, &[("a", 1.0, 9.0, &[5.0, 9.0])], 0);
    }

    #[test]
    fn what_is_no_log_is_refused() {
        for log in
            ["1600000000", ":100644 100644 1 2 M", "@1|\0|", "@1|:100644 M", "gpg: signature"]
        {
            let mut read = Log::default();
            let fault = log.split('|').find_map(|token| read.take(token.as_bytes()).err());
            assert!(matches!(fault, Some(LogFault::Unknown(_))), "{log}: {fault:?}");
        }
    }

    proptest! {
        #[test]
        fn any_tokens_end_in_a_history_or_a_fault(
            tokens in prop::collection::vec("(@|:|\n|[0-9 ]{0,3}|100644 |000000 |120000 ){0,8}", 0..20),
        ) {
            let mut log = Log::default();
            let read: Result<(), LogFault> =
                tokens.iter().try_for_each(|token| log.take(token.as_bytes()).map(drop));
            let (history, _) = log.into_history();
            prop_assert!(read.is_err() || history.len() <= tokens.len());
        }
    }
}
