//! Progress bars on a terminal for work of more than a second; nothing elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::clock::Stopwatch;

/// Time after which a bar is shown.
const SHOW_AFTER: Duration = Duration::from_secs(1);

/// Progress bar that appears after a second of work and disappears when it is dropped.
pub(crate) struct Progress {
    activity: &'static str,
    watch: Stopwatch,
    bar: Option<ProgressBar>,
    is_terminal: bool,
}

impl Progress {
    pub(crate) fn new(activity: &'static str) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { activity, watch: Stopwatch::start(), bar: None, is_terminal }
    }

    /// Shows a spinner immediately, for work that is known to take long.
    pub(crate) fn spin(&mut self) {
        if self.is_terminal {
            let bar = self.bar.get_or_insert_with(|| new_bar(self.activity, false));
            bar.enable_steady_tick(Duration::from_millis(100));
        }
    }

    /// Reports the finished fraction, from 0 to 1 where it is known, with a message.
    pub(crate) fn report(&mut self, fraction: Option<f64>, message: &str) {
        if !self.is_terminal || self.watch.elapsed() < SHOW_AFTER {
            return;
        }
        let activity = self.activity;
        let bar = self.bar.get_or_insert_with(|| new_bar(activity, fraction.is_some()));
        if let Some(fraction) = fraction {
            bar.set_position((fraction * 1000.0) as u64);
        } else {
            bar.tick();
        }
        bar.set_message(message.to_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(activity: &'static str, has_fraction: bool) -> ProgressBar {
    let template = if has_fraction {
        "{prefix} {bar:40} {percent:>3} %  {msg}  {eta} left"
    } else {
        "{prefix} {spinner} {msg}"
    };
    let bar = if has_fraction { ProgressBar::new(1000) } else { ProgressBar::new_spinner() };
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("━╸─"));
    bar.set_prefix(activity);
    bar
}
