//! When sources changed.

use crate::PackedStrings;

/// From when to when a source was there, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeRange {
    /// When it came up.
    pub start: f64,
    /// When it went away, or the record ended.
    pub end: f64,
}

/// A record of the changes of many sources: a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeTrace {
    /// Their names.
    pub ids: PackedStrings,
    /// When each was there.
    pub lifetimes: Vec<TimeRange>,
    /// All change times, source by source, each source's in order.
    times: Vec<f64>,
    /// Where the times of each source end.
    ends: Vec<usize>,
}

impl ChangeTrace {
    /// From changes in any order: pairs of a source's index and a time.
    ///
    /// # Panics
    /// If there are not as many lives as names, or a change is of a source that there is not.
    #[must_use]
    pub fn new(ids: PackedStrings, lives: Vec<TimeRange>, changes: &[(u32, f64)]) -> Self {
        assert_eq!(ids.len(), lives.len(), "one life for each source");
        let mut ends = vec![0_usize; lives.len()];
        for &(source, _) in changes {
            ends[source as usize] += 1;
        }
        let mut total = 0;
        let mut next = Vec::with_capacity(ends.len());
        for end in &mut ends {
            next.push(total);
            total += *end;
            *end = total;
        }
        let mut times = vec![0.0; total];
        for &(source, time) in changes {
            let at = &mut next[source as usize];
            times[*at] = time;
            *at += 1;
        }
        let mut start = 0;
        for &end in &ends {
            times[start..end].sort_by(f64::total_cmp);
            start = end;
        }
        Self { ids, lifetimes: lives, times, ends }
    }

    /// How many sources there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lifetimes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lifetimes.is_empty()
    }

    /// The change times of a source, in order.
    ///
    /// # Panics
    /// If there is no such source.
    #[must_use]
    pub fn change_times(&self, source: usize) -> &[f64] {
        let start = if source == 0 { 0 } else { self.ends[source - 1] };
        &self.times[start..self.ends[source]]
    }

    /// How many changes there are in all.
    #[must_use]
    pub fn change_count(&self) -> usize {
        self.times.len()
    }

    /// What happened between two times: of sources that were there in between, the changes in it.
    #[must_use]
    pub fn slice(&self, from: f64, to: f64) -> Self {
        let mut ids = PackedStrings::default();
        let mut lives = Vec::new();
        let mut changes = Vec::new();
        for (source, life) in self.lifetimes.iter().enumerate() {
            let life = TimeRange { start: life.start.max(from), end: life.end.min(to) };
            if life.start >= life.end {
                continue;
            }
            let number = lives.len() as u32;
            let within =
                self.change_times(source).iter().filter(|&&time| from <= time && time <= to);
            changes.extend(within.map(|&time| (number, time)));
            ids.push(self.ids.get(source).unwrap_or_default());
            lives.push(life);
        }
        Self::new(ids, lives, &changes)
    }

    /// The first and the last change of all; `None` if there is none.
    #[must_use]
    pub fn first_and_last_change(&self) -> Option<(f64, f64)> {
        let ends = |(first, last): (f64, f64), &time: &f64| (first.min(time), last.max(time));
        let first = *self.times.first()?;
        Some(self.times.iter().fold((first, first), ends))
    }

    /// From the first birth to the last end; `None` without sources.
    #[must_use]
    pub fn time_range(&self) -> Option<TimeRange> {
        let both = |a: TimeRange, b: &TimeRange| TimeRange {
            start: a.start.min(b.start),
            end: a.end.max(b.end),
        };
        let first = *self.lifetimes.first()?;
        Some(self.lifetimes.iter().fold(first, both))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_sorted_by_source_and_time() {
        let lives = vec![TimeRange { start: 0.0, end: 9.0 }, TimeRange { start: 2.0, end: 12.0 }];
        let ids = ["a", "b"].into_iter().collect();
        let history = ChangeTrace::new(ids, lives, &[(1, 5.0), (0, 3.0), (1, 4.0)]);
        assert_eq!(history.change_times(0), [3.0]);
        assert_eq!(history.change_times(1), [4.0, 5.0]);
        assert_eq!(history.time_range(), Some(TimeRange { start: 0.0, end: 12.0 }));
        assert_eq!((history.len(), history.change_count()), (2, 3));
        assert_eq!(history.first_and_last_change(), Some((3.0, 5.0)));
        let part = history.slice(4.5, 9.0);
        assert_eq!((part.change_times(0), part.change_times(1)), (&[][..], &[5.0][..]));
        assert_eq!(part.time_range(), Some(TimeRange { start: 4.5, end: 9.0 }));
        let late = history.slice(10.0, 11.0);
        assert_eq!(late.ids.iter().collect::<Vec<_>>(), ["b"]);
        assert_eq!((late.change_count(), late.first_and_last_change()), (0, None));
    }
}
