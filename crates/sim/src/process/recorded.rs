//! Recorded changes.

use freshet_model::ChangeTrace;

use super::{Process, Stream};
use crate::population::SECONDS_PER_DAY;

/// Changes of a trace; day 0 is `start` in seconds since 1970.
pub(crate) struct Recorded {
    pub(crate) history: std::sync::Arc<ChangeTrace>,
    pub(crate) start: f64,
}

impl Process for Recorded {
    fn next(&self, source: usize, stream: &mut Stream) -> f64 {
        match self.history.change_times(source).get(stream.drawn as usize) {
            Some(&time) => (time - self.start) / SECONDS_PER_DAY,
            None => f64::INFINITY,
        }
    }

    fn mean_rate(&self, source: usize, from: f64, to: f64) -> f64 {
        let seconds = |day: f64| self.start + day * SECONDS_PER_DAY;
        let life = self.history.lifetimes[source];
        let (from, to) = (seconds(from).max(life.start), seconds(to).min(life.end));
        let days = (to - from) / SECONDS_PER_DAY;
        if days <= 0.0 {
            return 0.0;
        }
        let changes = self.history.change_times(source);
        let until = |time: f64| changes.partition_point(|&at| at <= time);
        until(to).saturating_sub(until(from)) as f64 / days
    }

    /// Returns the rate in hindsight, over the whole life of the source.
    fn rate(&self, source: usize, _: f64) -> f64 {
        self.mean_rate(source, f64::NEG_INFINITY, f64::INFINITY)
    }
}
