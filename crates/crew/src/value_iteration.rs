//! Relative value iteration, as in the paper (Proposition 6), over states (queue, active, event).
//!
//! Slower than [`solve`](fn@crate::solve), with arbitrary accuracy. It serves to check
//! the paper, and as an independent check.
//!
//! Corrections of the paper: in (1.14) the probability of an arrival is that after the decision, and its third line adds the
//! two terms; in (1.15) the queue is limited to K; the probability of a fictitious event is one minus the
//! others; and the cost is T(h) at the reference state, without the factor τ.

use crate::{CrewError, Event, Setting};

/// Parameters of the iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iteration {
    /// Damping τ, above 0 and at most 1: the part of each step that is taken.
    pub damping: f64,
    /// Relative change of values at which the iteration ends.
    pub tolerance: f64,
    /// Largest number of iterations.
    pub most: u32,
}

impl Default for Iteration {
    /// Parameters of the paper.
    fn default() -> Self {
        Self { damping: 0.999_99, tolerance: 1e-5, most: 1_000_000 }
    }
}

/// Result of relative value iteration.
#[derive(Clone, Debug)]
pub struct Iterated {
    /// T(h) at the reference state: queue length 1, one active fetcher, an arrival.
    pub cost: f64,
    /// Lower bound on the cost of any policy, except for rounding.
    pub least: f64,
    /// Upper bound on the cost of the policy.
    pub most: f64,
    /// Number of iterations.
    pub iterations: u32,
    table: Table,
    ahead: Vec<f64>,
}

impl Iterated {
    /// Returns true if the policy starts one more fetcher, given queue and active fetchers just before the event.
    #[must_use]
    pub fn starts_on(&self, event: Event, queue: u32, active: u32) -> bool {
        let table = &self.table;
        let (queue, active) = match event {
            Event::Departure if queue > 0 => (queue as usize - 1, active as usize),
            Event::Arrival if active > 0 => {
                ((queue as usize + 1).min(table.buffer), active as usize - 1)
            }
            _ => return false,
        };
        if queue > table.buffer || active >= table.available {
            return false;
        }
        let place = table.place(queue, active);
        (queue == 0 && active == 0) || self.ahead[place + 1] < self.ahead[place]
    }
}

/// Sizes and rates.
#[derive(Clone, Copy, Debug)]
struct Table {
    buffer: usize,
    available: usize,
    fetch: f64,
    process: f64,
    weight: f64,
    /// Event rate ν = λN + μ, including fictitious events.
    events: f64,
}

/// h of each state, for the three kinds of event.
struct Values {
    departure: Vec<f64>,
    arrival: Vec<f64>,
    fictitious: Vec<f64>,
}

impl Table {
    fn place(&self, queue: usize, active: usize) -> usize {
        queue * (self.available + 1) + active
    }

    /// Expected value at the next event, for each queue length and number of active fetchers.
    fn look_ahead(&self, h: &Values, ahead: &mut [f64]) {
        for queue in 0..=self.buffer {
            for active in 0..=self.available {
                let place = self.place(queue, active);
                let arrival = self.fetch * active as f64 / self.events;
                let departure = if queue > 0 { self.process / self.events } else { 0.0 };
                ahead[place] = departure * h.departure[place]
                    + arrival * h.arrival[place]
                    + (1.0 - departure - arrival) * h.fictitious[place];
            }
        }
        // With an empty queue, at least one fetcher is active.
        ahead[0] = f64::INFINITY;
    }

    /// Returns the lower value of starting one more fetcher and not.
    fn best(&self, ahead: &[f64], queue: usize, active: usize) -> f64 {
        let place = self.place(queue, active);
        if active < self.available { ahead[place].min(ahead[place + 1]) } else { ahead[place] }
    }

    /// Computes T(h) for each state: calls `take` with h and T(h), and sets h to its result.
    fn sweep(&self, h: &mut Values, ahead: &[f64], mut take: impl FnMut(f64, f64) -> f64) {
        for queue in 0..=self.buffer {
            let idle = if queue == 0 { self.weight } else { 0.0 };
            let lost = if queue == self.buffer { self.events } else { 0.0 };
            for active in 0..=self.available {
                let place = self.place(queue, active);
                if queue > 0 {
                    let next = self.best(ahead, queue - 1, active);
                    h.departure[place] = take(h.departure[place], idle + next);
                }
                if active > 0 {
                    let next = self.best(ahead, (queue + 1).min(self.buffer), active - 1);
                    h.arrival[place] = take(h.arrival[place], idle + lost + next);
                }
                if queue > 0 || active > 0 {
                    h.fictitious[place] = take(h.fictitious[place], idle + ahead[place]);
                }
            }
        }
    }
}

/// Runs relative value iteration from h = 0.
pub fn value_iteration(
    setting: &Setting,
    available: u32,
    iteration: &Iteration,
) -> Result<Iterated, CrewError> {
    let Iteration { damping, tolerance, most } = *iteration;
    if !(damping > 0.0 && damping <= 1.0) {
        return Err(CrewError::Damping(damping));
    }
    if available == 0 {
        return Err(CrewError::NoFetchers);
    }
    let table = Table {
        buffer: setting.buffer() as usize,
        available: available as usize,
        fetch: setting.fetch_rate(),
        process: setting.process_rate(),
        weight: setting.starvation_weight(),
        events: setting.fetch_rate() * f64::from(available) + setting.process_rate(),
    };
    let size = (table.buffer + 1) * (table.available + 1);
    let zeros = || vec![0.0; size];
    let mut h = Values { departure: zeros(), arrival: zeros(), fictitious: zeros() };
    let mut ahead = zeros();
    let full = if table.buffer == 1 { table.events } else { 0.0 };
    for iterations in 1..=most {
        table.look_ahead(&h, &mut ahead);
        let cost = full + table.best(&ahead, table.buffer.min(2), 0);
        let mut change = 0.0_f64;
        let (mut lower, mut upper) = (f64::INFINITY, f64::NEG_INFINITY);
        table.sweep(&mut h, &ahead, |old, next| {
            lower = lower.min(next - old);
            upper = upper.max(next - old);
            let new = (1.0 - damping) * old + damping * (next - cost);
            if new != old {
                change = change.max(((new - old) / old).abs());
            }
            new
        });
        if change < tolerance {
            return Ok(Iterated { cost, least: lower, most: upper, iterations, table, ahead });
        }
    }
    Err(CrewError::Unsettled(most))
}
