//! Certificates that an operator has revoked, and how they are told from those that were issued later.
//!
//! A certificate is good from the day before it was issued, because clocks differ: so its dates do not tell when that was. Its serial
//! number does:
//!
//! ```text
//! d w y  | microseconds since 1970 | chance
//! 3 bytes| 8 bytes                 | 8 bytes
//! ```
//!
//! A certificate with another serial number, made by an earlier version or by other tools, counts as older than every revocation.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use doorway_core::Refusal;
use rustls::CommonState;
use rustls::pki_types::CertificateDer;
use webpki::EndEntityCert;

use crate::shared::lock;
use crate::tls;

/// The prefix of the serial numbers of our certificates. A serial number is positive, so its first bit is not set.
const MARK: &[u8; 3] = b"dwy";

/// The revoked certificates: for each node, by its name, the last revoked time of issue.
#[derive(Default)]
pub(crate) struct Revoked {
    void: Mutex<BTreeMap<String, u64>>,
}

impl Revoked {
    /// Revokes these, too; returns the names with newly revoked certificates. A revocation is never undone.
    pub(crate) fn extend(&self, void: &BTreeMap<String, u64>) -> Vec<String> {
        let mut known = lock(&self.void);
        let mut more = Vec::new();
        for (name, until) in void {
            if known.get(name).is_none_or(|known| known < until) {
                known.insert(name.clone(), *until);
                more.push(name.clone());
            }
        }
        more
    }

    /// Refuses the other side of a connection if the certificate that it has shown is void.
    ///
    /// # Errors
    /// Whose certificate it is, and how to renew it.
    pub(crate) fn check(&self, connection: &CommonState, cluster: &str) -> Result<(), Refusal> {
        let void = lock(&self.void);
        let its_own = void.iter().find(|(name, _)| tls::is_certified(connection, name, cluster));
        let Some((name, until)) = its_own else { return Ok(()) };
        let when = match tls::shown(connection).and_then(issued) {
            Some(issued) if issued > *until => return Ok(()),
            Some(issued) => format!("it was issued {} s before that", (until - issued) / 1_000_000),
            None => "it does not say when it was issued".to_owned(),
        };
        Err(Refusal::new(format!(
            "the certificate of node {name:?} was revoked, and {when}: `doorway cluster rotate-certificates` makes a new one"
        )))
    }
}

/// The present, in microseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// When a certificate was issued, in microseconds since 1970, if it says so.
pub(crate) fn issued(certificate: &CertificateDer<'_>) -> Option<u64> {
    let certificate = EndEntityCert::try_from(certificate).ok()?;
    let (time, chance) = certificate.serial().strip_prefix(MARK)?.split_first_chunk::<8>()?;
    (chance.len() == 8).then_some(u64::from_be_bytes(*time))
}

/// The serial number of a certificate that is issued at this time.
#[cfg(feature = "found")]
pub(crate) fn serial(issued: u64, chance: u64) -> Vec<u8> {
    [&MARK[..], &issued.to_be_bytes(), &chance.to_be_bytes()].concat()
}

#[cfg(all(test, feature = "found"))]
mod tests {
    use rustls::pki_types::pem::PemObject as _;

    use super::*;
    use crate::certificates::{Authority, Validity};

    #[test]
    fn a_certificate_has_its_time_of_issue() {
        let authority = Authority::new("lab").expect("a good name");
        let begun = now();
        let validity = Validity { from: UNIX_EPOCH, ..Validity::default() };
        for pair in [authority.sign("a"), authority.sign_for("a", validity)] {
            let pair = pair.expect("a good name");
            let der = CertificateDer::from_pem_slice(pair.certificate.as_bytes()).expect("a certificate");
            let issued = issued(&der).expect("it says so");
            assert!((begun..=now()).contains(&issued), "{begun} {issued}");
        }
        let other = CertificateDer::from_pem_slice(authority.trusted().as_bytes()).expect("a certificate");
        assert_eq!(issued(&other), None, "a serial number of another form");
    }

    #[test]
    fn an_old_revocation_is_not_news() {
        let revoked = Revoked::default();
        let void = |until| BTreeMap::from([("a".to_owned(), 5), ("b".to_owned(), until)]);
        assert_eq!(revoked.extend(&void(7)), ["a", "b"]);
        assert_eq!(revoked.extend(&void(7)), [""; 0]);
        assert_eq!(revoked.extend(&void(8)), ["b"]);
    }
}
