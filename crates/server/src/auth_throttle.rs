//! Who failed to say who they are, and how often.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

use freshet_daemon::Millis;

/// Failures of one peer that are answered as such, within a time.
const MOST: u32 = 10;
const WITHIN: Millis = 60_000;
/// Peers that are kept in mind; beyond that all begin anew.
const PEERS: usize = 10_000;

/// Failures of peers.
#[derive(Default)]
pub(crate) struct Failures {
    peers: Mutex<HashMap<IpAddr, (u32, Millis)>>,
}

impl Failures {
    /// One more. Gives the seconds after which the peer may try again, if it has failed too often.
    pub(crate) fn count(&self, peer: IpAddr, now: Millis) -> Option<u32> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() >= PEERS {
            peers.retain(|_, (_, since)| now - *since < WITHIN);
            if peers.len() >= PEERS {
                peers.clear();
            }
        }
        let (count, since) = peers.entry(network(peer)).or_insert((0, now));
        if now - *since >= WITHIN {
            (*count, *since) = (0, now);
        }
        *count += 1;
        let left = WITHIN - (now - *since);
        (*count > MOST).then(|| u32::try_from(left / 1000).unwrap_or(0) + 1)
    }
}

/// Whoever has one address of version 6 has a whole network of them.
fn network(peer: IpAddr) -> IpAddr {
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
    fn a_peer_that_fails_too_often_waits_and_others_do_not() {
        let failures = Failures::default();
        let peer: IpAddr = "2001:db8::1".parse().unwrap();
        for _ in 0..MOST {
            assert_eq!(failures.count(peer, 0), None);
        }
        assert_eq!(failures.count(peer, 10_000), Some(51));
        // The same network.
        assert_eq!(failures.count("2001:db8::2".parse().unwrap(), 10_000), Some(51));
        assert_eq!(failures.count("2001:db9::1".parse().unwrap(), 10_000), None);
        assert_eq!(failures.count(peer, 60_000), None);
    }
}
