//! Which IP addresses a request may connect to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// Returns why an address is not a public one, or `None` if it is public.
///
/// IPv4 follows the IANA registry of special-purpose addresses. For IPv6, only global unicast addresses are public, and
/// of these none that belongs to a protocol or that embeds an IPv4 address.
pub(super) fn reserved(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => reserved_v4(address),
        IpAddr::V6(address) => reserved_v6(address),
    }
}

fn reserved_v4(address: Ipv4Addr) -> Option<&'static str> {
    match address.octets() {
        [0, ..] => Some("this network"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some("private"),
        [100, 64..=127, ..] => Some("shared"),
        [127, ..] => Some("loopback"),
        [169, 254, ..] => Some("link-local"),
        [192, 0, 0, _] => Some("protocol assignment"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Some("documentation"),
        [192, 88, 99, _] => Some("6to4 relay"),
        [198, 18..=19, ..] => Some("benchmarking"),
        [224..=239, ..] => Some("multicast"),
        [240..=255, ..] => Some("reserved"),
        _ => None,
    }
}

fn reserved_v6(address: Ipv6Addr) -> Option<&'static str> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("loopback"),
        [0, 0, 0, 0, 0, 0xffff, ..] => Some("IPv4-mapped"),
        [0, 0, 0, 0, 0xffff, 0, ..] => Some("IPv4-translated"),
        [0, 0, 0, 0, 0, 0, ..] => Some("IPv4-compatible"),
        [0x0064, 0xff9b, ..] => Some("NAT64"),
        [0xfc00..=0xfdff, ..] => Some("unique local"),
        [0xfe80..=0xfebf, ..] => Some("link-local"),
        [0xff00..=0xffff, ..] => Some("multicast"),
        [0x2001, 0, ..] => Some("Teredo"),
        [0x2001, 1..=0x01ff, ..] => Some("protocol assignment"),
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => Some("documentation"),
        [0x2002, ..] => Some("6to4"),
        // ISATAP: the last 32 bits are an IPv4 address.
        [_, _, _, _, 0 | 0x0200, 0x5efe, ..] => Some("ISATAP"),
        [0x2000..=0x3fff, ..] => None,
        _ => Some("reserved"),
    }
}

/// Addresses under which clouds serve the credentials of a machine. No network can allow them.
const METADATA: [IpAddr; 6] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

/// The networks that are allowed although their addresses are not public.
#[derive(Debug, Clone, Default)]
pub(super) struct AllowedNetworks(Vec<IpNet>);

impl AllowedNetworks {
    pub(super) fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    /// Returns why an address must not be connected to.
    pub(super) fn refusal(&self, address: IpAddr) -> Option<&'static str> {
        if METADATA.contains(&address) {
            return Some("cloud metadata");
        }
        reserved(address).filter(|_| !self.0.iter().any(|network| network.contains(&address)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(address: &str) -> Option<&'static str> {
        reserved(address.parse().expect("an address"))
    }

    #[test]
    fn addresses_that_are_not_public_are_recognized() {
        for (address, expected) in [
            ("0.0.0.0", "this network"),
            ("0.1.2.3", "this network"),
            ("10.0.0.1", "private"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.168.1.1", "private"),
            ("100.64.0.1", "shared"),
            ("100.127.255.255", "shared"),
            ("127.0.0.1", "loopback"),
            ("127.255.255.255", "loopback"),
            ("169.254.169.254", "link-local"),
            ("192.0.0.1", "protocol assignment"),
            ("192.0.2.1", "documentation"),
            ("198.51.100.1", "documentation"),
            ("203.0.113.1", "documentation"),
            ("192.88.99.1", "6to4 relay"),
            ("198.18.0.1", "benchmarking"),
            ("198.19.255.255", "benchmarking"),
            ("224.0.0.1", "multicast"),
            ("239.255.255.255", "multicast"),
            ("240.0.0.1", "reserved"),
            ("255.255.255.255", "reserved"),
            ("::", "unspecified"),
            ("::1", "loopback"),
            ("::ffff:127.0.0.1", "IPv4-mapped"),
            ("::ffff:8.8.8.8", "IPv4-mapped"),
            ("::ffff:0:127.0.0.1", "IPv4-translated"),
            ("::127.0.0.1", "IPv4-compatible"),
            ("::2", "IPv4-compatible"),
            ("64:ff9b::7f00:1", "NAT64"),
            ("64:ff9b:1::7f00:1", "NAT64"),
            ("100::1", "reserved"),
            ("2001::1", "Teredo"),
            ("2001:0:7f00:1::", "Teredo"),
            ("2001:2::1", "protocol assignment"),
            ("2001:20::1", "protocol assignment"),
            ("2001:1ff:ffff::1", "protocol assignment"),
            ("2001:db8::1", "documentation"),
            ("3fff::1", "documentation"),
            ("2002:7f00:1::", "6to4"),
            ("2a00::5efe:7f00:1", "ISATAP"),
            ("5f00::1", "reserved"),
            ("fc00::1", "unique local"),
            ("fd12:3456::1", "unique local"),
            ("fe80::1", "link-local"),
            ("fec0::1", "reserved"),
            ("ff02::1", "multicast"),
            ("4000::1", "reserved"),
        ] {
            assert_eq!(kind(address), Some(expected), "{address}");
        }
    }

    #[test]
    fn public_addresses_are_allowed() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2606:4700::1111",
            "2a00:1450::1",
            "2003::1",
            "3ffe::1",
        ] {
            assert_eq!(kind(address), None, "{address}");
        }
    }

    #[test]
    fn a_network_allows_its_addresses_in_their_own_form_only() {
        let networks = ["10.1.0.0/16", "169.254.0.0/16", "fd00::/8"];
        let parse = |network: &&str| network.parse().expect("a network");
        let allowed = AllowedNetworks::new(networks.iter().map(parse).collect());
        let refusal = |address: &str| allowed.refusal(address.parse().expect("an address"));
        for address in ["10.1.2.3", "169.254.1.1", "fd00::1", "8.8.8.8"] {
            assert_eq!(refusal(address), None, "{address}");
        }
        for address in ["10.2.0.1", "127.0.0.1", "::ffff:10.1.2.3", "64:ff9b::a01:203"] {
            assert!(refusal(address).is_some(), "{address}");
        }
        for address in ["169.254.169.254", "169.254.170.2", "fd00:ec2::254", "fd20:ce::254"] {
            assert_eq!(refusal(address), Some("cloud metadata"), "{address}");
        }
    }
}
