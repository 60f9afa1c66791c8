use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// At most one certificate per source, which says that the value of the source is below a level until
/// a time. Finds certificates that expire, and those with a level at or above a given one.
#[derive(Clone, Debug)]
pub(crate) struct Certificates {
    held: Vec<Certificate>,
    /// Both queues may contain stale entries: those that differ from `held`.
    by_time: BinaryHeap<Reverse<(i64, u32)>>,
    by_level: BinaryHeap<(i64, u32)>,
}

/// Floating-point numbers, mapped to integers in the same order.
#[derive(Clone, Copy, Debug)]
struct Certificate {
    level: i64,
    until: i64,
}

const NONE: Certificate = Certificate { level: i64::MIN, until: i64::MIN };

impl Certificates {
    /// Creates an empty set for the given number of sources.
    pub(crate) fn new(sources: usize) -> Self {
        let (by_time, by_level) = (BinaryHeap::new(), BinaryHeap::new());
        Self { held: vec![NONE; sources], by_time, by_level }
    }

    pub(crate) fn insert(&mut self, source: u32, level: f64, until: f64) {
        let certificate = Certificate { level: ordered(level), until: ordered(until) };
        self.held[source as usize] = certificate;
        self.by_level.push((certificate.level, source));
        if until < f64::INFINITY {
            self.by_time.push(Reverse((certificate.until, source)));
        }
        let (held, room) = (&self.held, 2 * self.held.len() + 64);
        if self.by_level.len() > room {
            self.by_level.retain(|&(level, source)| held[source as usize].level == level);
        }
        if self.by_time.len() > room {
            self.by_time.retain(|&Reverse((until, source))| held[source as usize].until == until);
        }
    }

    /// Removes and returns a source whose certificate expires by `now`.
    pub(crate) fn pop_expired(&mut self, now: f64) -> Option<u32> {
        let now = ordered(now);
        while let Some(&Reverse((until, source))) = self.by_time.peek()
            && until <= now
        {
            self.by_time.pop();
            if self.held[source as usize].until == until {
                self.held[source as usize] = NONE;
                return Some(source);
            }
        }
        None
    }

    /// Takes back one with at least this level.
    pub(crate) fn pop_at_or_above(&mut self, level: f64) -> Option<u32> {
        let least = ordered(level);
        while let Some(&(level, source)) = self.by_level.peek()
            && level >= least
        {
            self.by_level.pop();
            if self.held[source as usize].level == level {
                self.held[source as usize] = NONE;
                return Some(source);
            }
        }
        None
    }
}

/// The order of `f64::total_cmp`.
fn ordered(number: f64) -> i64 {
    let bits = number.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_order() {
        let numbers = [f64::NEG_INFINITY, -2.0, -1e-300, 0.0, 5e-324, 1.0, f64::INFINITY];
        assert!(numbers.map(ordered).is_sorted());
    }

    #[test]
    fn what_was_replaced_is_not_found() {
        let mut certificates = Certificates::new(2);
        certificates.insert(0, 5.0, 1.0);
        certificates.insert(0, 3.0, 9.0);
        certificates.insert(1, 4.0, f64::INFINITY);
        assert_eq!(certificates.pop_expired(8.0), None);
        assert_eq!(certificates.pop_at_or_above(4.0), Some(1));
        assert_eq!(certificates.pop_at_or_above(4.0), None);
        assert_eq!(certificates.pop_expired(9.0), Some(0));
        assert_eq!(certificates.pop_at_or_above(0.0), None);
    }

    #[test]
    fn queues_stay_short() {
        let mut certificates = Certificates::new(10);
        for round in 0..10_000 {
            certificates.insert(round % 10, f64::from(round), 1e6 + f64::from(round));
        }
        assert!(certificates.by_time.len() <= 84 && certificates.by_level.len() <= 84);
        assert_eq!(certificates.pop_at_or_above(9_999.0), Some(9));
    }
}
