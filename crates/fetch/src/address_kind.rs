//! Kinds of IP addresses that are not publicly routable.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Kind of an address that is not part of the public internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressKind {
    /// "This host": 0.0.0.0/8 and ::.
    Unspecified,
    /// The machine itself: 127.0.0.0/8 and ::1.
    Loopback,
    /// A private network: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7 and fec0::/10.
    Private,
    /// One link: 169.254.0.0/16, where most clouds serve instance metadata, and fe80::/10.
    LinkLocal,
    /// Carrier-grade NAT: 100.64.0.0/10.
    Shared,
    /// Metadata service of a cloud on an address that looks public.
    Metadata,
    /// Multicast: 224.0.0.0/4 and ff00::/8.
    Multicast,
    /// Documentation: 192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32 and 3fff::/20.
    Documentation,
    /// Benchmarks: 198.18.0.0/15 and 2001:2::/48.
    Benchmark,
    /// Any other address that no public host has.
    Reserved,
}

impl AddressKind {
    /// Returns the kind of an address, or `None` if the address is public.
    ///
    /// An IPv6 address that embeds an IPv4 address (mapped, compatible, 6to4, NAT64, Teredo) has
    /// the kind of the embedded address.
    #[must_use]
    pub fn from_address(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(address) => ipv4_kind(address),
            IpAddr::V6(address) => ipv6_kind(address),
        }
    }

    /// Returns the name used in messages.
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

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn ipv4_kind(address: Ipv4Addr) -> Option<AddressKind> {
    Some(match address.octets() {
        [0, ..] => AddressKind::Unspecified,
        [127, ..] => AddressKind::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressKind::Private,
        [169, 254, ..] => AddressKind::LinkLocal,
        [100, 64..=127, ..] => AddressKind::Shared,
        // Azure's metadata service for virtual machines.
        [168, 63, 129, 16] => AddressKind::Metadata,
        [224..=239, ..] => AddressKind::Multicast,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => AddressKind::Documentation,
        [198, 18..=19, ..] => AddressKind::Benchmark,
        // IETF protocol assignments, 6to4 relays and unassigned ranges.
        [192, 0, 0, _] | [192, 88, 99, _] | [240..=255, ..] => AddressKind::Reserved,
        _ => return None,
    })
}

fn ipv6_kind(address: Ipv6Addr) -> Option<AddressKind> {
    let [s0, s1, s2, s3, s4, s5, s6, s7] = address.segments();
    match (s0, s1) {
        (0, 0) if address.is_unspecified() => Some(AddressKind::Unspecified),
        (0, 0) if address.is_loopback() => Some(AddressKind::Loopback),
        (0, 0) if (s2, s3, s4, s5) == (0, 0, 0, 0xffff) => ipv4_kind(ipv4_from_segments(s6, s7)),
        // Compatible addresses are deprecated and reach nobody, whatever they embed.
        (0, 0) if (s2, s3, s4, s5) == (0, 0, 0, 0) => {
            ipv4_kind(ipv4_from_segments(s6, s7)).or(Some(AddressKind::Reserved))
        }
        (0x64, 0xff9b) if (s2, s3, s4, s5) == (0, 0, 0, 0) => ipv4_kind(ipv4_from_segments(s6, s7)),
        (0xfc00..=0xfdff | 0xfec0..=0xfeff, _) => Some(AddressKind::Private),
        (0xfe80..=0xfebf, _) => Some(AddressKind::LinkLocal),
        (0xff00..=0xffff, _) => Some(AddressKind::Multicast),
        (0x2001, 0x0db8) | (0x3fff, 0x0000..=0x0fff) => Some(AddressKind::Documentation),
        (0x2001, 0x0002) if s2 == 0 => Some(AddressKind::Benchmark),
        // Teredo: the server address in clear, the client address with its bits inverted.
        (0x2001, 0) => ipv4_kind(ipv4_from_segments(s2, s3))
            .or_else(|| ipv4_kind(ipv4_from_segments(!s6, !s7))),
        // The remaining IETF protocol assignments: ORCHID and others.
        (0x2001, 0x0001..=0x01ff) => Some(AddressKind::Reserved),
        (0x2002, _) => ipv4_kind(ipv4_from_segments(s1, s2)),
        (0x2000..=0x3fff, _) => None,
        // The rest of IPv6 is not assigned to the public; it includes NAT64 for local use.
        _ => Some(AddressKind::Reserved),
    }
}

fn ipv4_from_segments(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(zone: Option<AddressKind>, addresses: &[&str]) {
        for address in addresses {
            assert_eq!(AddressKind::from_address(address.parse().unwrap()), zone, "{address}");
        }
    }

    #[test]
    fn public_addresses_have_no_kind() {
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
    fn special_ranges_are_exact() {
        check(Some(AddressKind::Unspecified), &["0.0.0.0", "0.255.255.255", "::"]);
        check(Some(AddressKind::Loopback), &["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"]);
        check(
            Some(AddressKind::Private),
            &["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0"],
        );
        check(Some(AddressKind::Private), &["fc00::", "fdff:ffff::1", "fd00:ec2::254", "fec0::1"]);
        check(
            Some(AddressKind::LinkLocal),
            &["169.254.169.254", "169.254.0.0", "fe80::1", "febf::1"],
        );
        check(Some(AddressKind::Shared), &["100.64.0.0", "100.100.100.200", "100.127.255.255"]);
        check(Some(AddressKind::Metadata), &["168.63.129.16"]);
        check(Some(AddressKind::Multicast), &["224.0.0.0", "239.255.255.255", "ff00::", "ff02::1"]);
        check(
            Some(AddressKind::Documentation),
            &["192.0.2.1", "198.51.100.7", "203.0.113.255", "2001:db8::1", "3fff:fff::1"],
        );
        check(Some(AddressKind::Benchmark), &["198.18.0.0", "198.19.255.255", "2001:2::1"]);
        check(
            Some(AddressKind::Reserved),
            &["240.0.0.0", "255.255.255.255", "192.0.0.192", "192.88.99.1", "100::1", "5f00::1"],
        );
        check(
            Some(AddressKind::Reserved),
            &["64:ff9b:1::a00:1", "4000::1", "2001:10::1", "::ffff:0:1.2.3.4"],
        );
    }

    #[test]
    fn an_embedded_ipv4_address_counts() {
        check(
            Some(AddressKind::Loopback),
            &["::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::127.0.0.1"],
        );
        check(
            Some(AddressKind::Private),
            &["::ffff:10.0.0.1", "2002:a00:1::", "64:ff9b::192.168.1.1"],
        );
        check(Some(AddressKind::LinkLocal), &["::ffff:169.254.169.254", "2002:a9fe:a9fe::1"]);
        // Teredo: a private server; a public server and the inverted client 10.0.0.1.
        check(Some(AddressKind::Private), &["2001:0:a00:1::1", "2001:0:808:808:0:0:f5ff:fffe"]);
        check(None, &["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"]);
        check(Some(AddressKind::Reserved), &["::8.8.8.8"]);
    }
}
