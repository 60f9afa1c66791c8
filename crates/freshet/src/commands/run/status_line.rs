//! A line at the bottom of a terminal that says how it goes.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use freshet_daemon::Status;
use indicatif::{ProgressBar, ProgressStyle};

use crate::commands::status::price;
use crate::number::{count, plural, significant};

/// Beats over which the speed is taken.
const BEATS: usize = 20;

/// The line; nothing where there is no terminal.
pub(crate) struct StatusLine {
    bar: Option<ProgressBar>,
    objective: String,
    /// When, and how many fetches there were.
    beats: Mutex<VecDeque<(i64, u64)>>,
}

impl StatusLine {
    /// A line about copies that are to be good for this.
    pub(crate) fn new(objective: String) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar
        });
        Self { bar, objective, beats: Mutex::default() }
    }

    /// Draws it anew.
    pub(crate) fn show(&self, status: &Status) {
        let Some(bar) = &self.bar else { return };
        let mut beats = self.beats.lock().unwrap_or_else(PoisonError::into_inner);
        beats.push_back((status.at, status.fetches));
        if beats.len() > BEATS {
            beats.pop_front();
        }
        let first = beats.front().copied().unwrap_or_default();
        bar.set_message(words(status, first, &self.objective));
        bar.tick();
    }

    /// Writes something above it.
    pub(crate) fn above(&self, write: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Takes it away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How it goes, since a beat some seconds ago.
fn words(status: &Status, (at, fetches): (i64, u64), objective: &str) -> String {
    let seconds = (status.at - at).max(1) as f64 / 1000.0;
    let speed = (status.fetches - fetches) as f64 / seconds;
    let mut words = format!(
        "{} · {:.1} % fresh · {} fetches/s · {} · {}/day · crew {}/{} · {}",
        plural(status.sources as usize, "source", "sources"),
        100.0 * status.freshness,
        significant((10.0 * speed).round() / 10.0),
        plural(status.changes as usize, "change", "changes"),
        count(status.budget.round() as usize),
        status.crew.active,
        status.crew.target,
        price(status, objective),
    );
    if status.trouble.is_some() {
        words.insert_str(0, "cannot write! · ");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_it_goes() {
        let mut status = Status {
            at: 10_000,
            sources: 1234,
            fetches: 30,
            changes: 1,
            budget: 500.0,
            freshness: 0.931,
            price: 1.13,
            ..Status::default()
        };
        (status.crew.active, status.crew.target) = (3, 8);
        assert_eq!(
            words(&status, (0, 0), "age"),
            "1,234 sources · 93.1 % fresh · 3 fetches/s · 1 change · 500/day · crew 3/8 · a fetch \
             must be worth 1.13"
        );
        // By the harmonic objective it is a time, in days.
        status.price = 0.01;
        let line = words(&status, (0, 0), "harmonic");
        assert!(line.ends_with("a fetch must end 14.4 minutes of being stale"), "{line}");
        // Whatever it was before.
        status.budget = 0.0;
        let line = words(&status, (0, 0), "harmonic");
        assert!(line.ends_with("no fetch can be paid for"), "{line}");
    }
}
