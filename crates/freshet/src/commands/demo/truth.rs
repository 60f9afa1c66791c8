//! What the demo's web knows, as the dashboard shows it.

use freshet_demo::{Client, Standing};
use freshet_server::{Line, Truth};
use tokio::sync::watch;

/// Points of a line at most.
const MOST: usize = 400;

/// Follows how the clients stand, for as long as that is told.
pub(super) fn follow(mut standing: watch::Receiver<Standing>) -> watch::Receiver<Truth> {
    let (tell, truth) = watch::channel(Truth::default());
    tokio::spawn(async move {
        let mut known = Known::default();
        while standing.changed().await.is_ok() {
            known.add(*standing.borrow_and_update());
            tell.send_replace(known.truth());
        }
    });
    truth
}

/// How the clients stood at moments from the start on, equally far apart but for the last.
#[derive(Default)]
struct Known {
    moments: Vec<Standing>,
    /// How many moments there were.
    seen: usize,
    /// One in 2^`thinned` is kept.
    thinned: u32,
}

impl Known {
    fn add(&mut self, standing: Standing) {
        // The last one is there since it was the last.
        if self.seen > 0 && !(self.seen - 1).is_multiple_of(1_usize << self.thinned) {
            self.moments.pop();
        }
        if self.moments.len() >= MOST {
            let mut at = 0;
            self.moments.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.thinned += 1;
        }
        self.moments.push(standing);
        self.seen += 1;
    }

    fn truth(&self) -> Truth {
        let Some(last) = self.moments.last() else { return Truth::default() };
        let line = |client: Client| Line {
            name: client.name().to_owned(),
            fresh: self
                .moments
                .iter()
                .map(|it| (freshet_daemon::millis(it.day), it.fresh[client as usize]))
                .collect(),
            mean: last.mean(client),
            requests: last.tallies[client as usize].requests,
        };
        Truth { lines: Client::ALL.map(line).into() }
    }
}

#[cfg(test)]
mod tests {
    use freshet_demo::Tally;

    use super::*;

    #[test]
    fn a_long_demo_is_known_from_its_start_to_now_in_few_points() {
        let mut known = Known::default();
        for at in 0..10_000_u32 {
            let day = f64::from(at);
            let tallies = [Tally { requests: u64::from(at), ..Tally::default() }; 3];
            let fresh_days = [0.5 * day, 0.25 * day, 0.0];
            known.add(Standing { day, fresh: [0.5, 0.25, 0.0], fresh_days, tallies });
            let moments: Vec<u32> = known.moments.iter().map(|it| it.day as u32).collect();
            assert!(moments.len() <= MOST, "{}", moments.len());
            assert_eq!((moments[0], *moments.last().unwrap()), (0, at));
            let (_, even) = moments.split_last().unwrap();
            assert!(even.windows(2).all(|it| it[1] - it[0] == 1 << known.thinned), "{moments:?}");
        }
        let truth = known.truth();
        let names: Vec<_> = truth.lines.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["freshet", "equal polling", "Nutch's rule"]);
        assert_eq!(truth.lines[1].mean, 0.25);
        assert_eq!(truth.lines[0].requests, 9999);
        assert_eq!(truth.lines[0].fresh.last(), Some(&(freshet_daemon::millis(9999.0), 0.5)));
    }
}
