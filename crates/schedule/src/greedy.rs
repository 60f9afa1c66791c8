use crate::certificates::Certificates;

/// Value of a fetch per unit of its cost.
pub trait FetchValue {
    /// Returns the value of fetching a source `elapsed` after its last fetch. It must not decrease
    /// with time.
    fn value(&self, source: usize, elapsed: f64) -> f64;

    /// Returns the time after a fetch at which the value reaches a level, or infinity if it never does.
    /// Before that time the value must not exceed the level by more than one part in 10⁹. A time that is
    /// too early costs only speed.
    fn time_to_reach(&self, source: usize, level: f64) -> f64;
}

/// Relative tolerance of [`FetchValue::time_to_reach`].
const RELATIVE_TOLERANCE: f64 = 1e-9;

/// Position of a certificate's level between the value of the source (0) and the winning value (1).
/// A higher level lasts longer while winning values rise, a lower one while they fall.
const LEVEL_POSITION: f64 = 0.85;

/// Greedy by value: each slot goes to the source with the highest value; among equal values, to the
/// lowest index. A source with value zero is never fetched.
///
/// The result equals a comparison of all sources, but few of them are evaluated. A source
/// that loses gets a certificate: its value stays below a level, between its own value and the
/// winner's, until the time that [`FetchValue::time_to_reach`] returns. It is evaluated again at that time,
/// or when a winning value does not exceed the level. The closer a source gets to winning, the shorter
/// its certificates are: about log n of them between two fetches.
///
/// A level cannot separate sources with equal values. While many sources are tied for the
/// highest value, for example equal sources that were all fetched at the same time, each of
/// them is evaluated in every slot. Spread their last fetches to avoid this.
#[derive(Clone, Debug)]
pub struct Greedy<V> {
    values: V,
    last: Vec<f64>,
    certificates: Certificates,
    /// Sources without a certificate, with their last computed values.
    open: Vec<(u32, f64)>,
    slot: u64,
}

impl<V: FetchValue> Greedy<V> {
    /// Creates a sequence for sources with the given last fetch times, which must be at most 0, the start.
    pub fn new(values: V, last: Vec<f64>) -> Self {
        let open = (0..last.len() as u32).map(|source| (source, 0.0)).collect();
        let certificates = Certificates::new(last.len());
        Self { values, last, certificates, open, slot: 0 }
    }

    /// Returns the source with the highest value at `now` and marks it as fetched. `now` must not
    /// decrease between calls.
    pub fn fetch(&mut self, now: f64) -> Option<usize> {
        while let Some(source) = self.certificates.pop_expired(now) {
            self.open.push((source, 0.0));
        }
        let mut best = (0.0, u32::MAX);
        let evaluate = |source: u32, best: &mut (f64, u32)| {
            let elapsed = now - self.last[source as usize];
            let value = self.values.value(source as usize, elapsed);
            if value > best.0 || (value == best.0 && source < best.1 && value > 0.0) {
                *best = (value, source);
            }
            value
        };
        for (source, value) in &mut self.open {
            *value = evaluate(*source, &mut best);
        }
        while let Some(source) =
            self.certificates.pop_at_or_above(best.0 * (1.0 - 2.0 * RELATIVE_TOLERANCE))
        {
            let value = evaluate(source, &mut best);
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
        let level = value + LEVEL_POSITION * (highest - value);
        if level >= highest * (1.0 - 4.0 * RELATIVE_TOLERANCE) {
            return false;
        }
        let last = self.last[source as usize];
        let until = time_after(last, self.values.time_to_reach(source as usize, level));
        if until > now {
            self.certificates.insert(source, level, until);
        }
        until > now
    }
}

impl<V: FetchValue> Iterator for Greedy<V> {
    type Item = Option<usize>;

    /// Returns the fetch at time t = 1, 2, 3, ….
    fn next(&mut self) -> Option<Option<usize>> {
        self.slot += 1;
        Some(self.fetch(self.slot as f64))
    }
}

/// Returns a time t for which `t − last` is below `elapsed`, whatever the rounding.
fn time_after(last: f64, elapsed: f64) -> f64 {
    if elapsed.is_infinite() {
        return f64::INFINITY;
    }
    last + elapsed - (last.abs() + elapsed) * (4.0 * f64::EPSILON)
}
