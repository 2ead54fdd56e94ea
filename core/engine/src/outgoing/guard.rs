//! Which addresses the engine connects to when a client has chosen them.
//!
//! Without a guard, a subscription to `http://169.254.169.254/` would make the server send requests from inside its
//! network (server-side request forgery). The guard is asked twice: for the URL, before a request, and for each
//! address that its host resolves to, at the moment when the connection is made. A name that resolves to another
//! address later (DNS rebinding) gains nothing, because the address that was checked is the one connected to.
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use axum::http::Uri;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// Networks of version 4 that are no public addresses (IANA special-purpose registry), and one of a cloud's metadata.
const SPECIAL_V4: &[Ipv4Net] = &[
    v4([0, 0, 0, 0], 8),
    v4([10, 0, 0, 0], 8),
    v4([100, 64, 0, 0], 10),
    v4([127, 0, 0, 0], 8),
    v4([168, 63, 129, 16], 32),
    v4([169, 254, 0, 0], 16),
    v4([172, 16, 0, 0], 12),
    v4([192, 0, 0, 0], 24),
    v4([192, 0, 2, 0], 24),
    v4([192, 88, 99, 0], 24),
    v4([192, 168, 0, 0], 16),
    v4([198, 18, 0, 0], 15),
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    v4([224, 0, 0, 0], 4),
    v4([240, 0, 0, 0], 4),
];
/// Networks of version 6 inside `2000::/3` that are no public addresses. Outside of it none are.
const SPECIAL_V6: &[Ipv6Net] = &[v6([0x2001, 0], 23), v6([0x2001, 0xdb8], 32), v6([0x2002, 0], 16), v6([0x3fff, 0], 20)];
const GLOBAL_V6: Ipv6Net = v6([0x2000, 0], 3);
/// Addresses of version 4 as a translator (NAT64) writes them.
const TRANSLATED_V6: Ipv6Net = v6([0x64, 0xff9b], 96);

/// A network by its address; one that is not well-formed does not compile.
const fn v4([a, b, c, d]: [u8; 4], prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

/// A network by the first two groups of its address; the others are 0.
const fn v6([a, b]: [u16; 2], prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), prefix)
}

/// A target that an operator allows although it is not public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// All addresses of a network.
    Network(IpNet),
    /// A host by its name, whatever it resolves to.
    Host(String),
}

impl FromStr for Allowed {
    type Err = String;

    /// ```
    /// use ojs_engine::outgoing::Allowed;
    /// assert!("10.1.0.0/16".parse::<Allowed>().is_ok());
    /// assert!("192.168.1.7".parse::<Allowed>().is_ok());
    /// assert!("hooks.internal".parse::<Allowed>().is_ok());
    /// assert!("https://hooks.internal/".parse::<Allowed>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(address) = text.trim_matches(['[', ']']).parse::<IpAddr>() {
            return Ok(Self::Network(address.into()));
        }
        if text.contains('/') {
            return text.parse().map(Self::Network).map_err(|_| format!("'{text}' is not a network such as 10.1.0.0/16"));
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        if text.is_empty() || !text.bytes().all(plain) {
            return Err(format!("'{text}' is neither a network such as 10.1.0.0/16 nor the name of a host"));
        }
        Ok(Self::Host(normal(text)))
    }
}

/// A target that is not connected to, and the rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The rule, for programs.
    pub rule: &'static str,
    message: String,
}

impl Refused {
    pub(super) fn new(rule: &'static str, message: impl fmt::Display) -> Self {
        Self { rule, message: message.to_string() }
    }
}

/// Decides where the engine may connect to.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    allowed: Vec<Allowed>,
    insecure: bool,
}

impl Guard {
    /// A guard that also lets through what is `allowed`, or everything when it is `insecure`.
    #[must_use]
    pub fn new(allowed: Vec<Allowed>, insecure: bool) -> Self {
        Self { allowed, insecure }
    }

    /// Checks a URL before it is used: its scheme, that it has no password, and its host if that is an address. A host
    /// that is a name is checked when it is resolved.
    ///
    /// # Errors
    /// The rule that the URL breaks.
    pub fn check_url(&self, url: &str) -> Result<(), Refused> {
        let uri: Uri = url.parse().map_err(|_| Refused::new("url", "the URL cannot be read"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(Refused::new("url", "the URL must be absolute: https://example.com/path"));
        };
        if authority.as_str().contains('@') {
            return Err(Refused::new("credentials", "the URL must not hold a name or a password"));
        }
        let host = normal(authority.host());
        if host.is_empty() {
            return Err(Refused::new("url", "the URL has no host"));
        }
        let address = address_of(&host);
        match scheme {
            "https" => {}
            "http" if self.insecure || self.allows(&host, address) => {}
            "http" => return Err(Refused::new("https", "the URL must begin with https://")),
            _ => return Err(Refused::new("scheme", "the URL must begin with https://")),
        }
        address.map_or(Ok(()), |address| self.check_address(&host, address))
    }

    /// Checks an address that a host has resolved to.
    ///
    /// # Errors
    /// The rule that the address breaks.
    pub fn check_address(&self, host: &str, address: IpAddr) -> Result<(), Refused> {
        if self.insecure || is_public(address) || self.allows(&normal(host), Some(address)) {
            return Ok(());
        }
        // Without the address: the owner of the subscription need not learn what names mean inside this network.
        Err(Refused::new("private_address", format!("{host} is not a public address; an operator may allow it")))
    }

    fn allows(&self, host: &str, address: Option<IpAddr>) -> bool {
        let address = address.map(canonical);
        self.allowed.iter().any(|allowed| match allowed {
            Allowed::Host(name) => name == host,
            Allowed::Network(network) => address.is_some_and(|address| network.contains(&address)),
        })
    }
}

/// A host as it is compared: in lower case, without a dot at the end.
fn normal(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

/// The address that a host of a URL is written as. Further spellings (`0x7f.1`, `2130706433`) are rewritten to this one
/// by the client, which then asks the guard again.
fn address_of(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// An address of version 4 that is written as one of version 6 is that address.
fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

fn is_public(address: IpAddr) -> bool {
    match canonical(address) {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|network| network.contains(&address))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if TRANSLATED_V6.contains(&address) {
        let [.., a, b, c, d] = address.octets();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    GLOBAL_V6.contains(&address) && !SPECIAL_V6.iter().any(|network| network.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(guard: &Guard, url: &str) -> Option<&'static str> {
        guard.check_url(url).err().map(|refused| refused.rule)
    }

    #[test]
    fn addresses_that_are_not_public_are_refused() {
        let guard = Guard::default();
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "169.254.169.254",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:10.0.0.1]",
            "[::127.0.0.1]",
            "[64:ff9b::10.0.0.1]",
            "[64:ff9b:1::1]",
            "[2002:7f00:1::]",
            "[2001:0:1::1]",
            "[fc00::1]",
            "[fd00:ec2::254]",
            "[fe80::1]",
            "[fec0::1]",
            "[ff02::1]",
            "[2001:db8::1]",
        ] {
            assert_eq!(refused(&guard, &format!("https://{address}/hook")), Some("private_address"), "{address}");
        }
        for address in ["1.1.1.1", "172.32.0.1", "100.128.0.1", "[2606:4700::1111]", "[64:ff9b::1.1.1.1]", "[::ffff:1.1.1.1]"] {
            assert_eq!(refused(&guard, &format!("https://{address}/hook")), None, "{address}");
        }
    }

    #[test]
    fn a_url_has_https_a_host_and_no_password() {
        let guard = Guard::default();
        assert_eq!(refused(&guard, "https://example.com:8443/hook?a=b"), None);
        let wrong = [
            ("http://example.com/", "https"),
            ("ftp://example.com/", "scheme"),
            ("/hook", "url"),
            ("example.com", "url"),
            ("https:///hook", "url"),
            ("not a url", "url"),
            ("https://ada:secret@example.com/", "credentials"),
        ];
        for (url, rule) in wrong {
            assert_eq!(refused(&guard, url), Some(rule), "{url}");
        }
    }

    #[test]
    fn an_operator_allows_networks_and_hosts() {
        let guard = Guard::new(vec!["10.1.0.0/16".parse().unwrap(), "Hooks.Internal".parse().unwrap()], false);
        assert_eq!(refused(&guard, "https://10.1.2.3/"), None);
        assert_eq!(refused(&guard, "http://10.1.2.3/"), None, "inside, http is usual");
        assert_eq!(refused(&guard, "https://[::ffff:10.1.2.3]/"), None);
        assert_eq!(refused(&guard, "https://10.2.0.1/"), Some("private_address"));
        assert_eq!(refused(&guard, "http://hooks.internal./"), None);
        assert_eq!(refused(&guard, "http://other.internal/"), Some("https"));
        let inside = IpAddr::from([192, 168, 0, 1]);
        assert!(guard.check_address("hooks.internal", inside).is_ok());
        assert!(guard.check_address("other.internal", inside).is_err(), "a name that resolves to a private address");
        assert!(guard.check_address("other.internal", IpAddr::from([10, 1, 0, 1])).is_ok());
        assert_eq!(refused(&Guard::new(Vec::new(), true), "http://127.0.0.1:9/"), None);
    }
}
