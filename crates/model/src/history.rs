//! When sources changed.

use crate::Strings;

/// From when to when a source was there, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Life {
    /// When it came up.
    pub birth: f64,
    /// When it went away, or the record ended.
    pub end: f64,
}

/// A record of the changes of many sources: a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Their names.
    pub ids: Strings,
    /// When each was there.
    pub lives: Vec<Life>,
    /// All change times, source by source, each source's in order.
    times: Vec<f64>,
    /// Where the times of each source end.
    ends: Vec<usize>,
}

impl History {
    /// From changes in any order: pairs of a source's index and a time.
    ///
    /// # Panics
    /// If there are not as many lives as names, or a change is of a source that there is not.
    #[must_use]
    pub fn new(ids: Strings, lives: Vec<Life>, changes: &[(u32, f64)]) -> Self {
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
        Self { ids, lives, times, ends }
    }

    /// How many sources there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lives.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lives.is_empty()
    }

    /// The change times of a source, in order.
    ///
    /// # Panics
    /// If there is no such source.
    #[must_use]
    pub fn changes(&self, source: usize) -> &[f64] {
        let start = if source == 0 { 0 } else { self.ends[source - 1] };
        &self.times[start..self.ends[source]]
    }

    /// How many changes there are in all.
    #[must_use]
    pub fn total(&self) -> usize {
        self.times.len()
    }

    /// What happened between two times: of sources that were there in between, the changes in it.
    #[must_use]
    pub fn between(&self, from: f64, to: f64) -> Self {
        let mut ids = Strings::default();
        let mut lives = Vec::new();
        let mut changes = Vec::new();
        for (source, life) in self.lives.iter().enumerate() {
            let life = Life { birth: life.birth.max(from), end: life.end.min(to) };
            if life.birth >= life.end {
                continue;
            }
            let number = lives.len() as u32;
            let within = self.changes(source).iter().filter(|&&time| from <= time && time <= to);
            changes.extend(within.map(|&time| (number, time)));
            ids.push(self.ids.get(source).unwrap_or_default());
            lives.push(life);
        }
        Self::new(ids, lives, &changes)
    }

    /// The first and the last change of all; `None` if there is none.
    #[must_use]
    pub fn first_and_last(&self) -> Option<(f64, f64)> {
        let ends = |(first, last): (f64, f64), &time: &f64| (first.min(time), last.max(time));
        let first = *self.times.first()?;
        Some(self.times.iter().fold((first, first), ends))
    }

    /// From the first birth to the last end; `None` without sources.
    #[must_use]
    pub fn span(&self) -> Option<Life> {
        let both = |a: Life, b: &Life| Life { birth: a.birth.min(b.birth), end: a.end.max(b.end) };
        let first = *self.lives.first()?;
        Some(self.lives.iter().fold(first, both))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_sorted_by_source_and_time() {
        let lives = vec![Life { birth: 0.0, end: 9.0 }, Life { birth: 2.0, end: 12.0 }];
        let ids = ["a", "b"].into_iter().collect();
        let history = History::new(ids, lives, &[(1, 5.0), (0, 3.0), (1, 4.0)]);
        assert_eq!(history.changes(0), [3.0]);
        assert_eq!(history.changes(1), [4.0, 5.0]);
        assert_eq!(history.span(), Some(Life { birth: 0.0, end: 12.0 }));
        assert_eq!((history.len(), history.total()), (2, 3));
        assert_eq!(history.first_and_last(), Some((3.0, 5.0)));
        let part = history.between(4.5, 9.0);
        assert_eq!((part.changes(0), part.changes(1)), (&[][..], &[5.0][..]));
        assert_eq!(part.span(), Some(Life { birth: 4.5, end: 9.0 }));
        let late = history.between(10.0, 11.0);
        assert_eq!(late.ids.iter().collect::<Vec<_>>(), ["b"]);
        assert_eq!((late.total(), late.first_and_last()), (0, None));
    }
}
