//! What part of the address space an address belongs to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A part of the address space that is not the public internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Zone {
    /// "This host": 0.0.0.0/8 and ::.
    Unspecified,
    /// The machine itself: 127.0.0.0/8 and ::1.
    Loopback,
    /// A private network: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7 and fec0::/10.
    Private,
    /// One link: 169.254.0.0/16, where most clouds keep their metadata, and fe80::/10.
    LinkLocal,
    /// Shared behind a provider's translator: 100.64.0.0/10.
    Shared,
    /// A cloud's service for its own machines on an address that looks public.
    Metadata,
    /// Many receivers: 224.0.0.0/4 and ff00::/8.
    Multicast,
    /// For examples: 192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32 and 3fff::/20.
    Documentation,
    /// For measurements: 198.18.0.0/15 and 2001:2::/48.
    Benchmark,
    /// Anything else that no public host has.
    Reserved,
}

impl Zone {
    /// The zone of an address; `None` if it is public.
    ///
    /// An IPv6 address that carries an IPv4 address (mapped, compatible, 6to4, NAT64, Teredo) is in
    /// the zone of what it carries.
    #[must_use]
    pub fn of(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }

    /// Its name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::Shared => "shared",
            Self::Metadata => "metadata",
            Self::Multicast => "multicast",
            Self::Documentation => "documentation",
            Self::Benchmark => "benchmark",
            Self::Reserved => "reserved",
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn of_v4(address: Ipv4Addr) -> Option<Zone> {
    Some(match address.octets() {
        [0, ..] => Zone::Unspecified,
        [127, ..] => Zone::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Zone::Private,
        [169, 254, ..] => Zone::LinkLocal,
        [100, 64..=127, ..] => Zone::Shared,
        // Azure answers its own machines here.
        [168, 63, 129, 16] => Zone::Metadata,
        [224..=239, ..] => Zone::Multicast,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Zone::Documentation,
        [198, 18..=19, ..] => Zone::Benchmark,
        // IETF protocols, relays of 6to4, and what was never given out.
        [192, 0, 0, _] | [192, 88, 99, _] | [240..=255, ..] => Zone::Reserved,
        _ => return None,
    })
}

fn of_v6(address: Ipv6Addr) -> Option<Zone> {
    let [s0, s1, s2, s3, s4, s5, s6, s7] = address.segments();
    match (s0, s1) {
        (0, 0) if address.is_unspecified() => Some(Zone::Unspecified),
        (0, 0) if address.is_loopback() => Some(Zone::Loopback),
        (0, 0) if (s2, s3, s4, s5) == (0, 0, 0, 0xffff) => of_v4(v4(s6, s7)),
        // Nobody is reached by a compatible address any more, whatever it carries.
        (0, 0) if (s2, s3, s4, s5) == (0, 0, 0, 0) => of_v4(v4(s6, s7)).or(Some(Zone::Reserved)),
        (0x64, 0xff9b) if (s2, s3, s4, s5) == (0, 0, 0, 0) => of_v4(v4(s6, s7)),
        (0xfc00..=0xfdff | 0xfec0..=0xfeff, _) => Some(Zone::Private),
        (0xfe80..=0xfebf, _) => Some(Zone::LinkLocal),
        (0xff00..=0xffff, _) => Some(Zone::Multicast),
        (0x2001, 0x0db8) | (0x3fff, 0x0000..=0x0fff) => Some(Zone::Documentation),
        (0x2001, 0x0002) if s2 == 0 => Some(Zone::Benchmark),
        // Teredo: the server in clear, the client with its bits turned over.
        (0x2001, 0) => of_v4(v4(s2, s3)).or_else(|| of_v4(v4(!s6, !s7))),
        // The rest of IETF protocols: ORCHID and others.
        (0x2001, 0x0001..=0x01ff) => Some(Zone::Reserved),
        (0x2002, _) => of_v4(v4(s1, s2)),
        (0x2000..=0x3fff, _) => None,
        // Of all the rest nothing was given out to the public; NAT64 for local use is in here too.
        _ => Some(Zone::Reserved),
    }
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(zone: Option<Zone>, addresses: &[&str]) {
        for address in addresses {
            assert_eq!(Zone::of(address.parse().unwrap()), zone, "{address}");
        }
    }

    #[test]
    fn public_addresses_are_in_no_zone() {
        check(
            None,
            &[
                "8.8.8.8",
                "93.184.216.34",
                "1.0.0.0",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "169.253.255.255",
                "172.15.255.255",
                "172.32.0.0",
                "191.255.255.255",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "2606:4700::6810:84e5",
                "2a00:1450:4001:80b::200e",
                "2001:4860:4860::8888",
                "2001:200::1",
            ],
        );
    }

    // RFC 6890 and the IANA registries of special-purpose addresses.
    #[test]
    fn special_addresses_are_known_to_their_edges() {
        check(Some(Zone::Unspecified), &["0.0.0.0", "0.255.255.255", "::"]);
        check(Some(Zone::Loopback), &["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"]);
        check(
            Some(Zone::Private),
            &["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0"],
        );
        check(Some(Zone::Private), &["fc00::", "fdff:ffff::1", "fd00:ec2::254", "fec0::1"]);
        check(Some(Zone::LinkLocal), &["169.254.169.254", "169.254.0.0", "fe80::1", "febf::1"]);
        check(Some(Zone::Shared), &["100.64.0.0", "100.100.100.200", "100.127.255.255"]);
        check(Some(Zone::Metadata), &["168.63.129.16"]);
        check(Some(Zone::Multicast), &["224.0.0.0", "239.255.255.255", "ff00::", "ff02::1"]);
        check(
            Some(Zone::Documentation),
            &["192.0.2.1", "198.51.100.7", "203.0.113.255", "2001:db8::1", "3fff:fff::1"],
        );
        check(Some(Zone::Benchmark), &["198.18.0.0", "198.19.255.255", "2001:2::1"]);
        check(
            Some(Zone::Reserved),
            &["240.0.0.0", "255.255.255.255", "192.0.0.192", "192.88.99.1", "100::1", "5f00::1"],
        );
        check(
            Some(Zone::Reserved),
            &["64:ff9b:1::a00:1", "4000::1", "2001:10::1", "::ffff:0:1.2.3.4"],
        );
    }

    #[test]
    fn an_address_within_an_address_is_judged() {
        check(Some(Zone::Loopback), &["::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::127.0.0.1"]);
        check(Some(Zone::Private), &["::ffff:10.0.0.1", "2002:a00:1::", "64:ff9b::192.168.1.1"]);
        check(Some(Zone::LinkLocal), &["::ffff:169.254.169.254", "2002:a9fe:a9fe::1"]);
        // Teredo: a private server; a public server and the client 10.0.0.1 turned over.
        check(Some(Zone::Private), &["2001:0:a00:1::1", "2001:0:808:808:0:0:f5ff:fffe"]);
        check(None, &["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"]);
        check(Some(Zone::Reserved), &["::8.8.8.8"]);
    }
}
