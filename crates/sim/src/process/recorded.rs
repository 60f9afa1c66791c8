//! What really happened.

use freshet_model::History;

use super::{Process, Stream};
use crate::population::SECONDS_PER_DAY;

/// The changes of a record, day 0 at `start` (seconds since 1970).
pub(crate) struct Recorded {
    pub(crate) history: std::sync::Arc<History>,
    pub(crate) start: f64,
}

impl Process for Recorded {
    fn next(&self, source: usize, stream: &mut Stream) -> f64 {
        match self.history.changes(source).get(stream.drawn as usize) {
            Some(&time) => (time - self.start) / SECONDS_PER_DAY,
            None => f64::INFINITY,
        }
    }

    fn mean_rate(&self, source: usize, from: f64, to: f64) -> f64 {
        let seconds = |day: f64| self.start + day * SECONDS_PER_DAY;
        let life = self.history.lives[source];
        let (from, to) = (seconds(from).max(life.birth), seconds(to).min(life.end));
        let days = (to - from) / SECONDS_PER_DAY;
        if days <= 0.0 {
            return 0.0;
        }
        let changes = self.history.changes(source);
        let until = |time: f64| changes.partition_point(|&at| at <= time);
        until(to).saturating_sub(until(from)) as f64 / days
    }

    /// In hindsight: that of its whole life.
    fn rate(&self, source: usize, _: f64) -> f64 {
        self.mean_rate(source, f64::NEG_INFINITY, f64::INFINITY)
    }
}
