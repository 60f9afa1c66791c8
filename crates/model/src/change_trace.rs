//! Traces: records of when sources changed.

use crate::PackedStrings;

/// Range of time, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeRange {
    /// Start.
    pub start: f64,
    /// End.
    pub end: f64,
}

/// Change times of many sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeTrace {
    /// Ids of the sources.
    pub ids: PackedStrings,
    /// Time during which each source existed, or was recorded.
    pub lifetimes: Vec<TimeRange>,
    /// Change times, grouped by source and sorted within each source.
    times: Vec<f64>,
    /// End of the times of each source in `times`.
    ends: Vec<usize>,
}

impl ChangeTrace {
    /// Creates a trace from changes in any order: pairs of the index of a source and a time.
    ///
    /// # Panics
    /// Panics if the numbers of ids and lifetimes differ, or a change has an index without a source.
    #[must_use]
    pub fn new(ids: PackedStrings, lifetimes: Vec<TimeRange>, changes: &[(u32, f64)]) -> Self {
        assert_eq!(ids.len(), lifetimes.len(), "one lifetime per source");
        let mut ends = vec![0_usize; lifetimes.len()];
        for &(source, _) in changes {
            ends[source as usize] += 1;
        }
        let mut total = 0;
        let mut next_index = Vec::with_capacity(ends.len());
        for end in &mut ends {
            next_index.push(total);
            total += *end;
            *end = total;
        }
        let mut times = vec![0.0; total];
        for &(source, time) in changes {
            let index = &mut next_index[source as usize];
            times[*index] = time;
            *index += 1;
        }
        let mut start = 0;
        for &end in &ends {
            times[start..end].sort_by(f64::total_cmp);
            start = end;
        }
        Self { ids, lifetimes, times, ends }
    }

    /// Returns the number of sources.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lifetimes.len()
    }

    /// True if there are no sources.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lifetimes.is_empty()
    }

    /// Returns the change times of a source, sorted.
    ///
    /// # Panics
    /// Panics if there is no such source.
    #[must_use]
    pub fn change_times(&self, source: usize) -> &[f64] {
        let start = if source == 0 { 0 } else { self.ends[source - 1] };
        &self.times[start..self.ends[source]]
    }

    /// Returns the number of changes of all sources.
    #[must_use]
    pub fn change_count(&self) -> usize {
        self.times.len()
    }

    /// Returns the part of the trace between two times: the sources that existed in it, and their changes in it.
    #[must_use]
    pub fn slice(&self, from: f64, to: f64) -> Self {
        let mut ids = PackedStrings::default();
        let mut lifetimes = Vec::new();
        let mut changes = Vec::new();
        for (source, lifetime) in self.lifetimes.iter().enumerate() {
            let lifetime = TimeRange { start: lifetime.start.max(from), end: lifetime.end.min(to) };
            if lifetime.start >= lifetime.end {
                continue;
            }
            let index = lifetimes.len() as u32;
            let times =
                self.change_times(source).iter().filter(|&&time| from <= time && time <= to);
            changes.extend(times.map(|&time| (index, time)));
            ids.push(self.ids.get(source).unwrap_or_default());
            lifetimes.push(lifetime);
        }
        Self::new(ids, lifetimes, &changes)
    }

    /// Returns the times of the first and the last change; `None` if there are no changes.
    #[must_use]
    pub fn first_and_last_change(&self) -> Option<(f64, f64)> {
        let widen = |(first, last): (f64, f64), &time: &f64| (first.min(time), last.max(time));
        let first = *self.times.first()?;
        Some(self.times.iter().fold((first, first), widen))
    }

    /// Returns the range from the first start to the last end of all lifetimes; `None` without sources.
    #[must_use]
    pub fn time_range(&self) -> Option<TimeRange> {
        let union = |a: TimeRange, b: &TimeRange| TimeRange {
            start: a.start.min(b.start),
            end: a.end.max(b.end),
        };
        let first = *self.lifetimes.first()?;
        Some(self.lifetimes.iter().fold(first, union))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_sorted_by_source_and_time() {
        let lifetimes =
            vec![TimeRange { start: 0.0, end: 9.0 }, TimeRange { start: 2.0, end: 12.0 }];
        let ids = ["a", "b"].into_iter().collect();
        let history = ChangeTrace::new(ids, lifetimes, &[(1, 5.0), (0, 3.0), (1, 4.0)]);
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
