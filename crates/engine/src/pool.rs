//! Many that wait, and the best of them first: nearly.

use serde::{Deserialize, Serialize};

/// Places at the front that hold the best seen so far.
const KEPT: usize = 4;
/// Others that are looked at each time.
const FRESH: usize = 4;

/// Numbers of which the most worthy is wanted, while the worth of all of them grows with time, of
/// each at its own pace.
///
/// No order stays right for long, and to look at all is too much. So each time a few are looked at
/// that were best before, and a few others in turn. In a pool of a thousand, whoever is best is at
/// the front after some hundreds of choices at the latest; up to eight are always compared exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pool {
    members: Vec<u32>,
    /// Who is looked at next.
    next: u32,
}

/// What a look at a pool shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    /// The most worthy that was seen, and its worth.
    pub(crate) best: (u32, f64),
    /// The least worthy, if others were not looked at.
    pub(crate) worst: Option<(u32, f64)>,
}

impl Pool {
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The one at the front.
    pub(crate) fn first(&self) -> Option<u32> {
        self.members.first().copied()
    }

    pub(crate) fn members(&self) -> &[u32] {
        &self.members
    }

    /// Adds a member, and says its place.
    pub(crate) fn add(&mut self, member: u32) -> u32 {
        self.members.push(member);
        self.members.len() as u32 - 1
    }

    /// Takes out the member at a place. Another may have moved there: it is given.
    pub(crate) fn remove(&mut self, place: u32) -> Option<u32> {
        let place = place as usize;
        if place < self.members.len() {
            self.members.swap_remove(place);
        }
        self.members.get(place).copied()
    }

    /// Brings the best that is found to the front. `moved` is told of each new place.
    pub(crate) fn look(
        &mut self,
        worth: impl Fn(u32) -> f64,
        mut moved: impl FnMut(u32, u32),
    ) -> Option<Look> {
        let all = self.members.len();
        let rest = all.saturating_sub(KEPT);
        let count = all.min(KEPT + FRESH);
        let mut places = [0; KEPT + FRESH];
        let mut seen = [(0, 0.0); KEPT + FRESH];
        let start = self.next as usize;
        for (at, place) in places.iter_mut().enumerate().take(count) {
            *place = if at < KEPT { at } else { KEPT + (start + at) % rest };
            let member = self.members[*place];
            seen[at] = (member, worth(member));
        }
        self.next = if rest > 0 { ((start + FRESH) % rest) as u32 } else { 0 };
        let seen = &mut seen[..count];
        // Few, and nearly in order.
        for end in 1..count {
            let mut at = end;
            while at > 0 && is_better(seen[at], seen[at - 1]) {
                seen.swap(at, at - 1);
                at -= 1;
            }
        }
        for (&place, &(member, _)) in places.iter().zip(&*seen) {
            if self.members[place] != member {
                self.members[place] = member;
                moved(member, place as u32);
            }
        }
        let best = *seen.first()?;
        Some(Look { best, worst: seen.last().copied().filter(|_| all > count) })
    }
}

fn is_better(one: (u32, f64), other: (u32, f64)) -> bool {
    one.1 > other.1 || (one.1 == other.1 && one.0 < other.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(pool: &mut Pool, places: &mut [u32], worth: impl Fn(u32) -> f64) -> u32 {
        let look = pool.look(worth, |member, place| places[member as usize] = place).unwrap();
        let (best, _) = look.best;
        assert_eq!(pool.members()[places[best as usize] as usize], best, "places are kept");
        if let Some(moved) = pool.remove(places[best as usize]) {
            places[moved as usize] = places[best as usize];
        }
        best
    }

    fn worth(member: u32) -> f64 {
        f64::from(member.wrapping_mul(0x9e37_79b9) >> 8)
    }

    #[test]
    fn few_come_out_in_order_and_many_nearly() {
        for size in [1_u32, 5, 8, 1000] {
            let mut pool = Pool::default();
            let mut places: Vec<u32> = (0..size).map(|member| pool.add(member)).collect();
            let mut order: Vec<u32> = (0..size).collect();
            order.sort_by(|a, b| worth(*b).total_cmp(&worth(*a)));
            let taken: Vec<u32> =
                (0..size).map(|_| take(&mut pool, &mut places, worth)).collect();
            assert!(pool.is_empty());
            if size <= 8 {
                assert_eq!(taken, order);
            } else {
                // The best tenth is gone before a third of all are.
                let late = order[..100].iter().filter(|best| !taken[..333].contains(best)).count();
                assert!(late <= 2, "{late} of the best 100 come late");
            }
        }
    }

    #[test]
    fn an_empty_pool_shows_nothing() {
        assert_eq!(Pool::default().look(worth, |_, _| ()), None);
        assert_eq!(Pool::default().remove(3), None);
    }
}
