use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// For each source, perhaps a certificate: its value is below a level until a time. Finds those
/// that end, and those whose level is too high.
#[derive(Clone, Debug)]
pub(crate) struct Certificates {
    held: Vec<Certificate>,
    /// Both queues may hold what has been replaced since: entries that disagree with `held`.
    by_time: BinaryHeap<Reverse<(i64, u32)>>,
    by_level: BinaryHeap<(i64, u32)>,
}

/// Numbers as integers in the same order.
#[derive(Clone, Copy, Debug)]
struct Certificate {
    level: i64,
    until: i64,
}

const NONE: Certificate = Certificate { level: i64::MIN, until: i64::MIN };

impl Certificates {
    /// None, for so many sources.
    pub(crate) fn new(sources: usize) -> Self {
        let (by_time, by_level) = (BinaryHeap::new(), BinaryHeap::new());
        Self { held: vec![NONE; sources], by_time, by_level }
    }

    pub(crate) fn give(&mut self, source: u32, level: f64, until: f64) {
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

    /// Takes back one that ends by now.
    pub(crate) fn take_ended(&mut self, now: f64) -> Option<u32> {
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
    pub(crate) fn take_from(&mut self, level: f64) -> Option<u32> {
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
        certificates.give(0, 5.0, 1.0);
        certificates.give(0, 3.0, 9.0);
        certificates.give(1, 4.0, f64::INFINITY);
        assert_eq!(certificates.take_ended(8.0), None);
        assert_eq!(certificates.take_from(4.0), Some(1));
        assert_eq!(certificates.take_from(4.0), None);
        assert_eq!(certificates.take_ended(9.0), Some(0));
        assert_eq!(certificates.take_from(0.0), None);
    }

    #[test]
    fn queues_stay_short() {
        let mut certificates = Certificates::new(10);
        for round in 0..10_000 {
            certificates.give(round % 10, f64::from(round), 1e6 + f64::from(round));
        }
        assert!(certificates.by_time.len() <= 84 && certificates.by_level.len() <= 84);
        assert_eq!(certificates.take_from(9_999.0), Some(9));
    }
}
