//! History of the true freshness of the demo's clients, for the dashboard.

use freshet_demo::{Client, Standing};
use freshet_server::{FreshnessSeries, TrueFreshness};
use tokio::sync::watch;

/// Maximum number of points of a line.
const MAX_POINTS: usize = 400;

/// Returns a channel with the history of the standings, updated until the demo ends.
pub(super) fn follow(mut standing: watch::Receiver<Standing>) -> watch::Receiver<TrueFreshness> {
    let (sender, truth) = watch::channel(TrueFreshness::default());
    tokio::spawn(async move {
        let mut history = TruthHistory::default();
        while standing.changed().await.is_ok() {
            history.add(*standing.borrow_and_update());
            sender.send_replace(history.truth());
        }
    });
    truth
}

/// Standings of the clients since the start: equally spaced samples, and the latest one.
#[derive(Default)]
struct TruthHistory {
    samples: Vec<Standing>,
    /// Number of standings so far.
    total: usize,
    /// One standing in 2^`thinning` is kept.
    thinning: u32,
}

impl TruthHistory {
    fn add(&mut self, standing: Standing) {
        // The previous sample is removed unless it is one of the equally spaced ones.
        if self.total > 0 && !(self.total - 1).is_multiple_of(1_usize << self.thinning) {
            self.samples.pop();
        }
        if self.samples.len() >= MAX_POINTS {
            let mut at = 0;
            self.samples.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.thinning += 1;
        }
        self.samples.push(standing);
        self.total += 1;
    }

    fn truth(&self) -> TrueFreshness {
        let Some(last) = self.samples.last() else { return TrueFreshness::default() };
        let line = |client: Client| FreshnessSeries {
            name: client.name().to_owned(),
            points: self
                .samples
                .iter()
                .map(|it| (freshet_daemon::millis_from_days(it.day), it.fresh[client as usize]))
                .collect(),
            mean: last.mean(client),
            requests: last.tallies[client as usize].requests,
        };
        TrueFreshness { series: Client::ALL.map(line).into() }
    }
}

#[cfg(test)]
mod tests {
    use freshet_demo::Tally;

    use super::*;

    #[test]
    fn a_long_demo_is_sampled_evenly_from_its_start_to_now() {
        let mut history = TruthHistory::default();
        for at in 0..10_000_u32 {
            let day = f64::from(at);
            let tallies = [Tally { requests: u64::from(at), ..Tally::default() }; 3];
            let fresh_days = [0.5 * day, 0.25 * day, 0.0];
            history.add(Standing { day, fresh: [0.5, 0.25, 0.0], fresh_days, tallies });
            let days: Vec<u32> = history.samples.iter().map(|it| it.day as u32).collect();
            assert!(days.len() <= MAX_POINTS, "{}", days.len());
            assert_eq!((days[0], *days.last().unwrap()), (0, at));
            let (_, even) = days.split_last().unwrap();
            assert!(even.windows(2).all(|it| it[1] - it[0] == 1 << history.thinning), "{days:?}");
        }
        let truth = history.truth();
        let names: Vec<_> = truth.series.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["freshet", "equal polling", "Nutch's rule"]);
        assert_eq!(truth.series[1].mean, 0.25);
        assert_eq!(truth.series[0].requests, 9999);
        assert_eq!(
            truth.series[0].points.last(),
            Some(&(freshet_daemon::millis_from_days(9999.0), 0.5))
        );
    }
}
