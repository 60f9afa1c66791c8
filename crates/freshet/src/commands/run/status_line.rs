//! Status line at the bottom of a terminal.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use freshet_daemon::DaemonStatus;
use indicatif::{ProgressBar, ProgressStyle};

use crate::number::{format_count, format_significant, pluralize};

/// Number of status updates over which the fetch rate is averaged.
const MAX_SAMPLES: usize = 20;

/// The status line; it does nothing without a terminal.
pub(crate) struct StatusLine {
    bar: Option<ProgressBar>,
    /// Recent times and fetch counts.
    samples: Mutex<VecDeque<(i64, u64)>>,
}

impl StatusLine {
    pub(crate) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar
        });
        Self { bar, samples: Mutex::default() }
    }

    /// Shows a new status.
    pub(crate) fn show(&self, status: &DaemonStatus) {
        let Some(bar) = &self.bar else { return };
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        samples.push_back((status.at, status.fetches));
        if samples.len() > MAX_SAMPLES {
            samples.pop_front();
        }
        let first = samples.front().copied().unwrap_or_default();
        bar.set_message(format_status(status, first));
        bar.tick();
    }

    /// Writes something above the line.
    pub(crate) fn print_above(&self, write: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Formats a status, with the fetch rate since an earlier sample.
fn format_status(status: &DaemonStatus, (at, fetches): (i64, u64)) -> String {
    let seconds = (status.at - at).max(1) as f64 / 1000.0;
    let rate = (status.fetches - fetches) as f64 / seconds;
    let mut line = format!(
        "{} · {:.1} % fresh · {} fetches/s · {} · {}/day · {} of {} fetchers busy",
        pluralize(status.sources as usize, "source", "sources"),
        100.0 * status.freshness,
        format_significant((10.0 * rate).round() / 10.0),
        pluralize(status.changes as usize, "change", "changes"),
        format_count(status.budget.round() as usize),
        status.concurrency.active,
        status.concurrency.target,
    );
    if status.budget <= 0.0 {
        line.push_str(" · nothing is fetched: the budget is 0");
    }
    if status.write_error.is_some() {
        line.insert_str(0, "needs attention: cannot write to the store · ");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_freshness_rate_budget_and_fetchers() {
        let mut status = DaemonStatus {
            at: 10_000,
            sources: 1234,
            fetches: 30,
            changes: 1,
            budget: 500.0,
            freshness: 0.931,
            ..DaemonStatus::default()
        };
        (status.concurrency.active, status.concurrency.target) = (3, 8);
        assert_eq!(
            format_status(&status, (0, 0)),
            "1,234 sources · 93.1 % fresh · 3 fetches/s · 1 change · 500/day · 3 of 8 fetchers busy"
        );
        status.budget = 0.0;
        let line = format_status(&status, (0, 0));
        assert!(line.ends_with("nothing is fetched: the budget is 0"), "{line}");
    }
}
