//! Rate limit on failed authentication.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

use freshet_daemon::Millis;

/// Failures that one peer may have within the window; further ones are refused with 429.
const MAX_FAILURES: u32 = 10;
const WINDOW: Millis = 60_000;
/// Maximum number of peers tracked; beyond it all counts start over.
const MAX_PEERS: usize = 10_000;

/// Failed attempts by peer address.
#[derive(Default)]
pub(crate) struct AuthThrottle {
    peers: Mutex<HashMap<IpAddr, (u32, Millis)>>,
}

impl AuthThrottle {
    /// Records a failed attempt. Returns the seconds until the next attempt if the peer has failed
    /// too often.
    pub(crate) fn record_failure(&self, peer: IpAddr, now: Millis) -> Option<u32> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() >= MAX_PEERS {
            peers.retain(|_, (_, since)| now - *since < WINDOW);
            if peers.len() >= MAX_PEERS {
                peers.clear();
            }
        }
        let (count, since) = peers.entry(throttle_key(peer)).or_insert((0, now));
        if now - *since >= WINDOW {
            (*count, *since) = (0, now);
        }
        *count += 1;
        let remaining = WINDOW - (now - *since);
        (*count > MAX_FAILURES).then(|| u32::try_from(remaining / 1000).unwrap_or(0) + 1)
    }
}

/// Returns the key that a peer is counted under: an IPv6 address counts as its /64 network,
/// because a client usually controls all of it.
fn throttle_key(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => mapped.into(),
            None => Ipv6Addr::from_bits(address.to_bits() & !(u128::MAX >> 64)).into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_fails_too_often_is_delayed_and_others_are_not() {
        let throttle = AuthThrottle::default();
        let peer: IpAddr = "2001:db8::1".parse().unwrap();
        for _ in 0..MAX_FAILURES {
            assert_eq!(throttle.record_failure(peer, 0), None);
        }
        assert_eq!(throttle.record_failure(peer, 10_000), Some(51));
        // The same /64 network.
        assert_eq!(throttle.record_failure("2001:db8::2".parse().unwrap(), 10_000), Some(51));
        assert_eq!(throttle.record_failure("2001:db9::1".parse().unwrap(), 10_000), None);
        assert_eq!(throttle.record_failure(peer, 60_000), None);
    }
}
