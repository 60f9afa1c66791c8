//! Progress on a terminal for whatever takes longer than a second; nothing elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::clock::Stopwatch;

const PATIENCE: Duration = Duration::from_secs(1);

/// A bar that appears when the work has taken a second and is gone when it is done.
pub(crate) struct Progress {
    what: &'static str,
    watch: Stopwatch,
    bar: Option<ProgressBar>,
    allowed: bool,
}

impl Progress {
    pub(crate) fn new(what: &'static str) -> Self {
        let allowed = std::io::stderr().is_terminal();
        Self { what, watch: Stopwatch::start(), bar: None, allowed }
    }

    /// Shows at once that something is going on, for work that will take its time.
    pub(crate) fn spin(&mut self) {
        if self.allowed {
            let bar = self.bar.get_or_insert_with(|| new_bar(self.what, false));
            bar.enable_steady_tick(Duration::from_millis(100));
        }
    }

    /// Reports how much is done, from 0 to 1 where that is known, and in words.
    pub(crate) fn report(&mut self, fraction: Option<f64>, words: &str) {
        if !self.allowed || self.watch.elapsed() < PATIENCE {
            return;
        }
        let what = self.what;
        let bar = self.bar.get_or_insert_with(|| new_bar(what, fraction.is_some()));
        if let Some(fraction) = fraction {
            bar.set_position((fraction * 1000.0) as u64);
        } else {
            bar.tick();
        }
        bar.set_message(words.to_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(what: &'static str, known: bool) -> ProgressBar {
    let template = if known {
        "{prefix} {bar:40} {percent:>3} %  {msg}  {eta} left"
    } else {
        "{prefix} {spinner} {msg}"
    };
    let bar = if known { ProgressBar::new(1000) } else { ProgressBar::new_spinner() };
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("━╸─"));
    bar.set_prefix(what);
    bar
}
