//! Behaviour of pages and hosts: validators, slowness, faults.
//! It follows from the seed and the time, so that all clients see the same.

use std::time::Duration;

use crate::clock::DAY;
use crate::seed::{Purpose, share};

/// Validators that a page sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Validated {
    pub(crate) etag: bool,
    pub(crate) last_modified: bool,
}

/// Fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerFault {
    /// The page fails with 500.
    Broken,
    /// The connection ends without a response.
    Dropped,
    /// The host responds with 429 and `Retry-After` in seconds of the demo.
    TooMany { seconds: u64 },
}

/// Half of the pages send both validators, and one in seven sends none.
pub(crate) fn validated(seed: u64, page: u32) -> Validated {
    let turn = share(seed, Purpose::Manners, page.into(), 0);
    let (etag, last_modified) = match turn {
        ..0.5 => (true, true),
        ..0.7 => (true, false),
        ..0.86 => (false, true),
        _ => (false, false),
    };
    Validated { etag, last_modified }
}

/// Returns the delay of a page in real time; one page in a hundred is slow.
pub(crate) fn delay(seed: u64, page: u32) -> Option<Duration> {
    let is_slow = share(seed, Purpose::Manners, page.into(), 1) < 0.01;
    let millis = 100.0 + 250.0 * share(seed, Purpose::Manners, page.into(), 2);
    is_slow.then(|| Duration::from_millis(millis as u64))
}

/// Duration of a fault: ten minutes of the demo.
const SPELL: f64 = 600.0 / DAY;
/// Probabilities that a page fails, and that it does not respond.
const BROKEN: f64 = 0.003;
const DROPPED: f64 = 0.001;
/// Probability that a host responds with 429 for ten minutes of an hour.
const TOO_MANY: f64 = 0.04;
const HOUR: f64 = 3600.0 / DAY;

/// Returns the fault of a page at a time, if any.
pub(crate) fn trouble(seed: u64, host: u32, page: u32, day: f64) -> Option<ServerFault> {
    // Pages and hosts have independent random numbers.
    let host = u64::from(host) | 1 << 40;
    let hour = (day / HOUR).floor();
    if share(seed, Purpose::Faults, host, hour as u64) < TOO_MANY {
        let place = share(seed, Purpose::Faults, host, hour as u64 | 1 << 40);
        let end = hour.mul_add(HOUR, SPELL + place * (HOUR - SPELL));
        if (end - SPELL..end).contains(&day) {
            return Some(ServerFault::TooMany {
                seconds: ((end - day) * DAY).ceil().max(1.0) as u64,
            });
        }
    }
    let turn = share(seed, Purpose::Faults, page.into(), (day / SPELL) as u64);
    if turn < BROKEN {
        Some(ServerFault::Broken)
    } else if turn < BROKEN + DROPPED {
        Some(ServerFault::Dropped)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_pages_have_validators_and_some_have_none() {
        let count = |test: fn(Validated) -> bool| {
            (0..2000).filter(|&page| test(validated(3, page))).count()
        };
        assert!((1300..1500).contains(&count(|it| it.etag)));
        assert!((1200..1450).contains(&count(|it| it.last_modified)));
        assert!((200..360).contains(&count(|it| !it.etag && !it.last_modified)));
        assert!((5..50).contains(&(0..2000).filter(|&page| delay(3, page).is_some()).count()));
    }

    #[test]
    fn trouble_comes_now_and_then_and_ends_when_it_says() {
        let (mut broken, mut dropped, mut too_many, mut asked) = (0, 0, 0, 0);
        for page in 0..400 {
            for moment in 0..720 {
                let day = f64::from(moment) / 720.0;
                asked += 1;
                match trouble(9, page % 20, page, day) {
                    Some(ServerFault::Broken) => broken += 1,
                    Some(ServerFault::Dropped) => dropped += 1,
                    Some(ServerFault::TooMany { seconds }) => {
                        too_many += 1;
                        assert!((1..=600).contains(&seconds));
                        let after = trouble(9, page % 20, page, day + seconds as f64 / DAY);
                        assert!(!matches!(after, Some(ServerFault::TooMany { .. })), "{after:?}");
                    }
                    None => {}
                }
            }
        }
        let share = |count: i32| f64::from(count) / f64::from(asked);
        assert!((0.001..0.006).contains(&share(broken)), "{broken}");
        assert!((0.0002..0.003).contains(&share(dropped)), "{dropped}");
        assert!((0.002..0.02).contains(&share(too_many)), "{too_many}");
    }
}
