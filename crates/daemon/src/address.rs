//! Addresses of nodes as people write them: a host and a port.

use std::net::{IpAddr, SocketAddr};

use doorway_core::Refusal;

/// What an address looks like.
const FORM: &str = "write host:port, as in n1:7700, 10.0.0.1:7700 or [fd00::1]:7700";

/// Refuses an address that other nodes could not dial.
///
/// # Errors
/// What is wrong with it.
pub fn check(address: &str) -> Result<(), Refusal> {
    check_listen(address)?;
    if address.parse::<SocketAddr>().is_ok_and(|place| place.ip().is_unspecified()) {
        return Err(Refusal::new(format!(
            "other nodes cannot dial {address:?}: write the address at which they reach this node, and {address:?} as `listen` in its node.toml"
        )));
    }
    Ok(())
}

/// Refuses an address at which no process could listen. Unlike a dialed address it may mean all addresses of a machine: `0.0.0.0:7700`.
///
/// # Errors
/// What is wrong with it.
pub fn check_listen(address: &str) -> Result<(), Refusal> {
    let refuse = |why: &str| Err(Refusal::new(format!("{address:?} is not a node's address: {why}")));
    let (host, port) = address.rsplit_once(':').unwrap_or_default();
    if host.is_empty() {
        refuse(FORM)
    } else if !is_port(port) {
        refuse("its port must be a number from 1 to 65535")
    } else if address.parse::<SocketAddr>().is_ok() || is_host(host) {
        Ok(())
    } else if host.contains(':') && !host.contains(['[', ']']) {
        refuse("write an IPv6 address in brackets, as in [fd00::1]:7700")
    } else {
        refuse(FORM)
    }
}

/// Whether other nodes could dial this.
#[must_use]
pub fn is_address(address: &str) -> bool {
    check(address).is_ok()
}

/// Whether two addresses are the same, however they are written. Host names are not resolved.
#[must_use]
pub fn is_same(one: &str, other: &str) -> bool {
    let plain = |address: &str| match address.parse::<SocketAddr>() {
        Ok(place) => place.to_string(),
        Err(_) => address.to_lowercase().replace(".:", ":"),
    };
    plain(one) == plain(other)
}

/// Whether a node that listens at one address keeps another from being listened at: the same port, of the same address or of all. Host
/// names are not resolved.
pub(crate) fn is_in_the_way(address: &str, other: SocketAddr) -> bool {
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let is_everywhere = |all: IpAddr, one: IpAddr| all.is_unspecified() && (all.is_ipv6() || one.is_ipv4());
    let is_met = match address.parse::<SocketAddr>().map(|place| place.ip()) {
        Ok(place) => {
            place == other.ip() || is_everywhere(place, other.ip()) || is_everywhere(other.ip(), place)
        }
        Err(_) => other.ip().is_unspecified(),
    };
    port == Some(other.port()) && is_met
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|digit| digit.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Whether this can be the name of a host. One that ends with a number is none: it is an address with a mistake in it.
fn is_host(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.chars().all(is_letter)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    host.len() <= 253 && host.split('.').all(is_label) && !last.bytes().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nodes_address_can_be_dialed() {
        for good in ["n1:7700", "10.0.0.1:1", "[::1]:7700", "a-b.c_d.example.:65535", "n:07", "1a:1"] {
            assert_eq!(check(good).map_err(|refusal| refusal.to_string()), Ok(()), "{good}");
        }
        for (bad, part) in [
            ("here", "write host:port"),
            (":7700", "write host:port"),
            ("ho st:7700", "write host:port"),
            ("h\"x:7700", "write host:port"),
            ("10.0.0.256:7700", "write host:port"),
            ("10.1:7700", "write host:port"),
            ("-n:7700", "write host:port"),
            ("n..m:7700", "write host:port"),
            ("[::1:7700", "write host:port"),
            ("::1:7700", "in brackets"),
            ("n1:0", "1 to 65535"),
            ("[::1]:0", "1 to 65535"),
            ("n1:+7", "1 to 65535"),
            ("n1:65536", "1 to 65535"),
            ("n1:", "1 to 65535"),
            ("0.0.0.0:7700", "as `listen`"),
            ("[::]:7700", "as `listen`"),
        ] {
            let refused = check(bad).expect_err(bad).to_string();
            assert!(refused.contains(part), "{bad}: {refused}");
        }
        assert!(check_listen("0.0.0.0:7700").is_ok() && check_listen("7777").is_err());
    }

    #[test]
    fn equal_addresses_are_recognised_in_any_form() {
        assert!(is_same("N1:7700", "n1.:7700") && is_same("[::1]:7700", "[0:0::1]:7700"));
        assert!(!is_same("n1:7700", "n1:7701") && !is_same("10.0.0.1:1", "10.0.0.2:1"));
    }

    #[test]
    fn an_address_is_in_the_way_of_the_same_port_of_the_same_machine() {
        for (address, other, is_met) in [
            ("10.0.0.1:7700", "10.0.0.1:7700", true),
            ("10.0.0.1:7700", "10.0.0.1:7701", false),
            ("10.0.0.1:7700", "127.0.0.1:7700", false),
            ("10.0.0.1:7700", "0.0.0.0:7700", true),
            ("0.0.0.0:7700", "127.0.0.1:7700", true),
            ("[::]:7700", "127.0.0.1:7700", true),
            ("0.0.0.0:7700", "[::1]:7700", false),
            ("n1:7700", "0.0.0.0:7700", true),
            ("n1:7700", "127.0.0.1:7700", false),
        ] {
            let place = other.parse().expect("an address");
            assert_eq!(is_in_the_way(address, place), is_met, "{address} {other}");
        }
    }
}
