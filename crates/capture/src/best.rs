/// Selects the pages with the highest values in one pass over all pages in order; among equal values, the
/// first pages.
///
/// Holds up to twice the capacity, then drops the lower half. A pass
/// takes linear time in any order, and usually one comparison per page.
#[derive(Clone, Debug)]
pub(crate) struct Best {
    room: usize,
    /// Lowest value that can be among the best; a value of zero never is.
    floor: f64,
    held: Vec<(f64, u32)>,
    pages: Vec<u32>,
}

impl Best {
    pub(crate) fn new(room: usize) -> Self {
        Self { room, floor: Self::lowest(room), held: Vec::new(), pages: Vec::new() }
    }

    fn lowest(room: usize) -> f64 {
        if room == 0 { f64::INFINITY } else { 0.0 }
    }

    /// Offers the next page.
    #[inline]
    pub(crate) fn offer(&mut self, value: f64, page: u32) {
        if value > self.floor {
            self.hold(value, page);
        }
    }

    fn hold(&mut self, value: f64, page: u32) {
        self.held.push((value, page));
        if self.held.len() >= self.room.max(16).saturating_mul(2) {
            self.floor = self.trim();
        }
    }

    /// Drops pages above the capacity and returns the lowest remaining value.
    fn trim(&mut self) -> f64 {
        if self.held.len() < self.room {
            return self.floor;
        }
        let by_value = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let (_, &mut (lowest, _), _) = self.held.select_nth_unstable_by(self.room - 1, by_value);
        self.held.truncate(self.room);
        lowest
    }

    /// Returns the best pages since the last call, in order of pages, and the sum of their
    /// values.
    pub(crate) fn take(&mut self) -> (&[u32], f64) {
        if self.room > 0 {
            self.trim();
        }
        self.held.sort_unstable_by_key(|&(_, page)| page);
        let sum = self.held.iter().map(|&(value, _)| value).sum();
        self.pages.clear();
        self.pages.extend(self.held.drain(..).map(|(_, page)| page));
        self.floor = Self::lowest(self.room);
        (&self.pages, sum)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, ..ProptestConfig::default()
        })]

        /// A small number of distinct values, so that there are ties; twice, to check that no state remains.
        #[test]
        fn they_are_the_first_of_all_sorted(
            values in prop::collection::vec(0_u8..20, 0..300),
            room in 0_usize..80,
        ) {
            let mut best = Best::new(room);
            for values in [values.clone(), values.into_iter().rev().collect()] {
                let mut sorted: Vec<(u8, u32)> = values.iter().copied().zip(0..).collect();
                sorted.retain(|&(value, _)| value > 0);
                sorted.sort_by_key(|&(value, page)| (std::cmp::Reverse(value), page));
                sorted.truncate(room);
                sorted.sort_by_key(|&(_, page)| page);
                values.iter().zip(0..).for_each(|(&value, page)| best.offer(value.into(), page));
                let expect: Vec<u32> = sorted.iter().map(|&(_, page)| page).collect();
                let sum: f64 = sorted.iter().map(|&(value, _)| f64::from(value)).sum();
                prop_assert_eq!(best.take(), (&expect[..], sum));
            }
        }
    }
}
