//! Accumulated cost of copies over time.

/// Simulated time: a burn-in for learning, then the measured part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calendar {
    /// Duration in days.
    pub days: f64,
    /// Start of the measured part in days.
    pub burn_in: f64,
    /// Number of time steps before it.
    before: usize,
    /// Number of time steps after it.
    after: usize,
}

impl Calendar {
    /// Splits the time into about `pieces` steps of similar length, with an edge at the start of the measured part.
    #[must_use]
    pub fn new(days: f64, burn_in: f64, pieces: usize) -> Self {
        let share = (burn_in / days * pieces as f64).round() as usize;
        let before = if burn_in > 0.0 { share.clamp(1, pieces.max(2) - 1) } else { 0 };
        Self { days, burn_in, before, after: (pieces - before.min(pieces)).max(1) }
    }

    /// Returns the number of time steps.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.before + self.after
    }

    /// Returns the start of step `at`; the step after the last one starts at the end.
    #[must_use]
    pub fn edge(&self, at: usize) -> f64 {
        if at >= self.pieces() {
            self.days
        } else if at < self.before {
            self.burn_in * at as f64 / self.before as f64
        } else {
            let part = (at - self.before) as f64 / self.after as f64;
            (self.days - self.burn_in).mul_add(part, self.burn_in)
        }
    }

    /// Returns the first measured step.
    #[must_use]
    pub fn measured(&self) -> usize {
        self.before
    }

    fn piece(&self, day: f64) -> usize {
        let (start, length, count, first) = if day < self.burn_in {
            (0.0, self.burn_in, self.before, 0)
        } else {
            (self.burn_in, self.days - self.burn_in, self.after, self.before)
        };
        let mut at = first + (((day - start) / length * count as f64) as usize).min(count - 1);
        // Corrects rounding that puts a day on the wrong side of an edge.
        if at > first && day < self.edge(at) {
            at -= 1;
        } else if at + 1 < self.pieces() && day >= self.edge(at + 1) {
            at += 1;
        }
        at
    }
}

/// Sums over a time step, weighted by importance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Days that sources existed.
    pub present: f64,
    /// Days that copies were stale.
    pub stale: f64,
    /// Days times days that copies were stale for.
    pub age: f64,
    /// Days times the harmonic number of the changes missed.
    pub harmonic: f64,
    /// Changes.
    pub changes: f64,
    /// Changes that a fetch observed.
    pub captured: f64,
    /// Mean number of days from an observed change to the fetch.
    pub delay: f64,
    /// Worth of the captured changes; 0 unless the objective is capture.
    pub utility: f64,
    /// Number of requests, unweighted.
    pub requests: f64,
    /// Number of requests that found a change, unweighted.
    pub found: f64,
}

impl Sums {
    pub(crate) fn add(&mut self, other: &Self) {
        self.present += other.present;
        self.stale += other.stale;
        self.age += other.age;
        self.harmonic += other.harmonic;
        self.changes += other.changes;
        self.captured += other.captured;
        self.delay += other.delay;
        self.utility += other.utility;
        self.requests += other.requests;
        self.found += other.found;
    }
}

/// Sums of a simulation by time step.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    calendar: Calendar,
    pieces: Vec<Sums>,
    /// Step of the last entry, with its edges; the next entry is usually in the same one.
    current: (usize, f64, f64),
}

/// A period in which a copy was stale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StalePeriod {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Day of the first missed change.
    pub(crate) first: f64,
    /// Harmonic number of the missed changes.
    pub(crate) harmonic: f64,
    pub(crate) weight: f64,
}

impl Ledger {
    pub(crate) fn new(calendar: Calendar) -> Self {
        let current = (0, calendar.edge(0), calendar.edge(1));
        Self { calendar, pieces: vec![Sums::default(); calendar.pieces()], current }
    }

    /// Returns the calendar.
    #[must_use]
    pub fn calendar(&self) -> &Calendar {
        &self.calendar
    }

    /// Returns the sums by time step.
    #[must_use]
    pub fn pieces(&self) -> &[Sums] {
        &self.pieces
    }

    /// Returns the sums over the measured time.
    #[must_use]
    pub fn measured(&self) -> Sums {
        let mut total = Sums::default();
        for piece in &self.pieces[self.calendar.measured()..] {
            total.add(piece);
        }
        total
    }

    /// Returns the day from which changes count: the start, or the start of the measured time.
    #[inline]
    pub(crate) fn since(&self, day: f64) -> f64 {
        if day < self.calendar.burn_in { 0.0 } else { self.calendar.burn_in }
    }

    /// Returns the sums of the step that contains a day.
    #[inline]
    pub(crate) fn at(&mut self, day: f64) -> &mut Sums {
        self.turn_to(day);
        &mut self.pieces[self.current.0]
    }

    #[inline]
    fn turn_to(&mut self, day: f64) {
        let (_, start, end) = self.current;
        if !(day >= start && day < end) {
            let at = self.calendar.piece(day);
            self.current = (at, self.calendar.edge(at), self.calendar.edge(at + 1));
        }
    }

    /// Records stale time, which may span several steps.
    #[inline]
    pub(crate) fn stale(&mut self, stale: StalePeriod) {
        let mut from = stale.from;
        while from < stale.to {
            self.turn_to(from);
            let (at, _, end) = self.current;
            let to = if end < stale.to { end } else { stale.to };
            let (days, sums) = (to - from, &mut self.pieces[at]);
            let weighted = stale.weight * days;
            sums.stale += weighted;
            sums.harmonic += weighted * stale.harmonic;
            sums.age += weighted * (0.5 * (from + to) - stale.first);
            if to <= from {
                return;
            }
            from = to;
        }
    }

    /// Records that a source exists.
    pub(crate) fn present(&mut self, from: f64, to: f64, weight: f64) {
        for at in 0..self.pieces.len() {
            let (start, end) = (self.calendar.edge(at), self.calendar.edge(at + 1));
            self.pieces[at].present += weight * (to.min(end) - from.max(start)).max(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_meet_where_measuring_starts() {
        for (days, burn_in, pieces) in
            [(100.0, 50.0, 60), (1.0, 0.0, 7), (365.0, 1e-3, 10), (3.0, 2.99, 4)]
        {
            let calendar = Calendar::new(days, burn_in, pieces);
            assert_eq!(calendar.edge(calendar.measured()), burn_in);
            assert_eq!((calendar.edge(0), calendar.edge(calendar.pieces())), (0.0, days));
            for at in 0..calendar.pieces() {
                let (start, end) = (calendar.edge(at), calendar.edge(at + 1));
                assert!(start < end);
                assert_eq!(calendar.piece(start), at);
                assert_eq!(calendar.piece(end.next_down()), at);
            }
        }
    }

    #[test]
    fn what_is_split_adds_up() {
        let mut ledger = Ledger::new(Calendar::new(10.0, 5.0, 10));
        ledger.stale(StalePeriod { from: 1.5, to: 7.25, first: 1.0, harmonic: 2.0, weight: 3.0 });
        let mut all = Sums::default();
        for piece in ledger.pieces() {
            all.add(piece);
        }
        assert!((all.stale - 3.0 * 5.75).abs() < 1e-12);
        assert!((all.harmonic - 6.0 * 5.75).abs() < 1e-12);
        assert!((all.age - 1.5 * (6.25 * 6.25 - 0.25)).abs() < 1e-12);
        assert!((ledger.measured().stale - 3.0 * 2.25).abs() < 1e-12);
    }
}
