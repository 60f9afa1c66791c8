use crate::certificates::Certificates;

/// What a fetch is worth, per unit of its cost.
pub trait Value {
    /// The value of fetching a source when so much time has passed since its last fetch. It does
    /// not fall as time passes.
    fn value(&self, source: usize, elapsed: f64) -> f64;

    /// The time after a fetch at which the value reaches a level, infinite if it never does.
    /// Before that time the value must not pass the level by more than one part in 10⁹. A time too
    /// early is only slow.
    fn reaches(&self, source: usize, level: f64) -> f64;
}

/// What [`Value::reaches`] may miss the level by, relatively.
const SLACK: f64 = 1e-9;

/// A certificate's level: this far from the loser's value to the winner's. A higher level lasts
/// longer while winning values rise, a lower one when they fall.
const REACH: f64 = 0.85;

/// Greedy by value: every slot goes to the source whose fetch is worth most now; of equals, to the
/// lowest. A source whose fetch is worth nothing is not fetched.
///
/// The choice is exactly that of comparing all sources, but few of them are looked at. A source
/// that loses gets a certificate: its value stays below a level, set between its own value and the
/// winner's, until a time that [`Value::reaches`] gives. It is looked at again when that time comes,
/// or when a winner's value is not above the level. The closer a source gets to winning, the shorter
/// its certificates: about log n of them between two fetches.
///
/// Sources with equal values cannot be told apart by a level. While many sources are tied for the
/// highest value, as when equal sources were all last fetched at the same moment, every one of
/// them is looked at in every slot. Spread their last fetches.
#[derive(Clone, Debug)]
pub struct Greedy<V> {
    values: V,
    last: Vec<f64>,
    certificates: Certificates,
    /// Sources without a certificate, and their values when they were last looked at.
    open: Vec<(u32, f64)>,
    slot: u64,
}

impl<V: Value> Greedy<V> {
    /// Of sources fetched last at these times: at most 0, the start.
    pub fn new(values: V, last: Vec<f64>) -> Self {
        let open = (0..last.len() as u32).map(|source| (source, 0.0)).collect();
        let certificates = Certificates::new(last.len());
        Self { values, last, certificates, open, slot: 0 }
    }

    /// Fetches the source that is worth most at this time, and says which. Time does not go back.
    pub fn fetch(&mut self, now: f64) -> Option<usize> {
        while let Some(source) = self.certificates.take_ended(now) {
            self.open.push((source, 0.0));
        }
        let mut best = (0.0, u32::MAX);
        let look = |source: u32, best: &mut (f64, u32)| {
            let elapsed = now - self.last[source as usize];
            let value = self.values.value(source as usize, elapsed);
            if value > best.0 || (value == best.0 && source < best.1 && value > 0.0) {
                *best = (value, source);
            }
            value
        };
        for (source, value) in &mut self.open {
            *value = look(*source, &mut best);
        }
        while let Some(source) = self.certificates.take_from(best.0 * (1.0 - 2.0 * SLACK)) {
            let value = look(source, &mut best);
            self.open.push((source, value));
        }
        let (highest, winner) = best;
        if winner == u32::MAX {
            return None;
        }
        self.last[winner as usize] = now;
        let mut open = std::mem::take(&mut self.open);
        open.retain(|&(source, value)| {
            let value = if source == winner { 0.0 } else { value };
            !self.certify(source, value, highest, now)
        });
        self.open = open;
        Some(winner as usize)
    }

    fn certify(&mut self, source: u32, value: f64, highest: f64, now: f64) -> bool {
        let level = value + REACH * (highest - value);
        if level >= highest * (1.0 - 4.0 * SLACK) {
            return false;
        }
        let last = self.last[source as usize];
        let until = time_after(last, self.values.reaches(source as usize, level));
        if until > now {
            self.certificates.give(source, level, until);
        }
        until > now
    }
}

impl<V: Value> Iterator for Greedy<V> {
    type Item = Option<usize>;

    /// The fetch at time t = 1, 2, 3, ….
    fn next(&mut self) -> Option<Option<usize>> {
        self.slot += 1;
        Some(self.fetch(self.slot as f64))
    }
}

/// A time t at or before which `t − last` is still below `elapsed`, whichever way both round.
fn time_after(last: f64, elapsed: f64) -> f64 {
    if elapsed.is_infinite() {
        return f64::INFINITY;
    }
    last + elapsed - (last.abs() + elapsed) * (4.0 * f64::EPSILON)
}
