//! Markov chain of a switching curve. The unit of time is one processed page: μ = 1.

use std::ops::AddAssign;

/// State: pages in the queue, and active fetchers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) queue: u32,
    pub(crate) active: u32,
}

/// Quantities that accumulate along a path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// Time.
    pub(crate) time: f64,
    /// Time with an empty queue.
    pub(crate) idle: f64,
    /// Pages lost.
    pub(crate) lost: f64,
    /// Time × active fetchers.
    pub(crate) active: f64,
}

impl Tally {
    pub(crate) fn times(self, factor: f64) -> Self {
        Self {
            time: factor * self.time,
            idle: factor * self.idle,
            lost: factor * self.lost,
            active: factor * self.active,
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.time += other.time;
        self.idle += other.idle;
        self.lost += other.lost;
        self.active += other.active;
    }
}

/// Transition from a state: a page arrives, or one is processed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Probability that a page arrives first.
    pub(crate) up: f64,
    /// Probability that a page is processed first.
    pub(crate) down: f64,
    /// Quantities that accumulate until then.
    pub(crate) tally: Tally,
}

/// Markov chain of a switching curve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain<'a> {
    /// Target number of fetchers at each queue length, non-increasing.
    pub(crate) targets: &'a [u32],
    /// λ/μ.
    pub(crate) fetched: f64,
}

impl Chain<'_> {
    pub(crate) fn buffer(&self) -> u32 {
        (self.targets.len() - 1) as u32
    }

    pub(crate) fn target(&self, queue: u32) -> u32 {
        self.targets[queue as usize]
    }

    /// Returns the state after a page arrives.
    pub(crate) fn arrive(&self, State { queue, active }: State) -> State {
        let queue = (queue + 1).min(self.buffer());
        State { queue, active: if active <= self.target(queue) { active } else { active - 1 } }
    }

    /// Returns the state after a page is processed.
    pub(crate) fn depart(&self, State { queue, active }: State) -> State {
        let queue = queue - 1;
        State { queue, active: if active < self.target(queue) { active + 1 } else { active } }
    }

    /// Returns the next transition of a state. With a full queue and no more than the target number of fetchers, an arriving page
    /// is lost and changes nothing: such pages are counted until one is processed.
    pub(crate) fn step(&self, State { queue, active }: State) -> Step {
        let fetchers = f64::from(active);
        let arrivals = self.fetched * fetchers;
        if queue == 0 {
            let time = 1.0 / arrivals;
            let tally = Tally { time, idle: time, lost: 0.0, active: fetchers * time };
            return Step { up: 1.0, down: 0.0, tally };
        }
        let full = queue == self.buffer();
        if full && active <= self.target(queue) {
            let tally = Tally { time: 1.0, idle: 0.0, lost: arrivals, active: fetchers };
            return Step { up: 0.0, down: 1.0, tally };
        }
        let down = 1.0 / (1.0 + arrivals);
        let up = arrivals * down;
        let lost = if full { up } else { 0.0 };
        Step { up, down, tally: Tally { time: down, idle: 0.0, lost, active: fetchers * down } }
    }

    /// Returns a state that is reachable from every other state, and therefore recurrent.
    ///
    /// If the target is positive even with a full queue, arrivals and the fetchers started after departures lead
    /// to the corner of the curve there. Otherwise arrivals lead to a queue with no active fetcher, and
    /// departures from there to the shortest queue with target zero.
    fn ground(&self) -> State {
        let wanting = self.targets.partition_point(|&target| target > 0) as u32;
        let buffer = self.buffer();
        if wanting > buffer {
            State { queue: buffer, active: self.target(buffer) }
        } else {
            State { queue: wanting, active: 0 }
        }
    }

    /// Returns the recurrent states.
    pub(crate) fn recurrent(&self) -> Recurrent {
        let width = self.targets.len();
        let mut seen = vec![false; (self.target(0) as usize + 2) * width];
        let place = |state: State| state.active as usize * width + state.queue as usize;
        let ground = self.ground();
        let (mut fewest, mut most) = (ground.active, ground.active);
        seen[place(ground)] = true;
        let mut open = vec![ground];
        while let Some(state) = open.pop() {
            fewest = fewest.min(state.active);
            most = most.max(state.active);
            let step = self.step(state);
            let up = (step.up > 0.0).then(|| self.arrive(state));
            let down = (step.down > 0.0).then(|| self.depart(state));
            for next in [up, down].into_iter().flatten() {
                let seen = &mut seen[place(next)];
                if !*seen {
                    *seen = true;
                    open.push(next);
                }
            }
        }
        Recurrent { seen, width, fewest, most }
    }
}

/// Recurrent states of a chain.
pub(crate) struct Recurrent {
    seen: Vec<bool>,
    width: usize,
    /// Smallest number of active fetchers among them.
    pub(crate) fewest: u32,
    /// Largest number.
    pub(crate) most: u32,
}

impl Recurrent {
    pub(crate) fn contains(&self, state: State) -> bool {
        self.seen[state.active as usize * self.width + state.queue as usize]
    }
}
