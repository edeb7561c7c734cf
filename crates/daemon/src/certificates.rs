//! Certificates: the authority of a cluster, and what it signs for each node.
//!
//! The authority is one key in one file, which only the operator who founds or enlarges the cluster needs. A node's certificate says which
//! node of which cluster it is, and nothing about where it runs.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use doorway_core::Refusal;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};

use crate::identity::{certified_name, new_disk};
use crate::revocation;

/// The authority that signs the certificates of a cluster.
#[derive(Debug)]
pub struct Authority {
    cluster: String,
    issuer: Issuer<'static, KeyPair>,
    /// The certificates that nodes trust: its own first, then that of its predecessor, if there is one.
    trusted: String,
}

/// A certificate with its key, both as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertifiedKey {
    /// The certificate.
    pub certificate: String,
    /// The key, which only its node may read.
    pub key: String,
}

/// From when until when a certificate is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Not before.
    pub from: SystemTime,
    /// Not after.
    pub until: SystemTime,
}

impl Validity {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// From yesterday, because clocks differ, for this many days.
    #[must_use]
    pub fn days(days: u32) -> Self {
        let now = SystemTime::now();
        Self { from: now - Self::DAY, until: now + Self::DAY * days }
    }
}

impl Default for Validity {
    /// Ten years.
    fn default() -> Self {
        Self::days(3_652)
    }
}

/// The line before the certificate of an authority that names its cluster.
const CAPTION: &str = "Authority of the Doorway cluster ";

impl Authority {
    /// A new authority for a cluster.
    ///
    /// # Errors
    /// If the cluster's name cannot be in a certificate.
    pub fn new(cluster: &str) -> Result<Self, Refusal> {
        certified_name("a", cluster)?;
        let key = KeyPair::generate().map_err(refuse)?;
        let params = Self::params(cluster, Validity::days(2 * 3_652));
        let certificate = params.self_signed(&key).map_err(refuse)?.pem();
        let trusted = format!("{CAPTION}{cluster}\n{certificate}");
        Ok(Self { cluster: cluster.to_owned(), issuer: Issuer::new(params, key), trusted })
    }

    /// A new authority that takes over from this one: nodes trust both for a while.
    ///
    /// # Errors
    /// If no key can be made.
    pub fn successor(&self) -> Result<Self, Refusal> {
        let mut successor = Self::new(&self.cluster)?;
        successor.trusted.push_str(self.newest());
        Ok(successor)
    }

    /// The authority that was written into a folder.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn read(folder: &Path) -> Result<Self, Refusal> {
        let trusted = read_text(&folder.join("authority.pem"))?;
        let key = KeyPair::from_pem(&read_text(&folder.join("authority.key"))?).map_err(refuse)?;
        let caption = trusted.lines().find_map(|line| line.strip_prefix(CAPTION));
        let Some(cluster) = caption.map(|cluster| cluster.trim().to_owned()) else {
            return Err(Refusal::new(format!(
                "{} does not name its cluster: its first line should be {CAPTION:?} and the name",
                folder.join("authority.pem").display()
            )));
        };
        // What is signed depends on the issuer's name and key alone, so its certificate need not be taken apart.
        let issuer = Issuer::new(Self::params(&cluster, Validity::default()), key);
        Ok(Self { cluster, issuer, trusted })
    }

    /// Writes it into a folder, as `authority.pem` and `authority.key`.
    ///
    /// # Errors
    /// If that cannot be.
    pub fn write(&self, folder: &Path) -> Result<(), Refusal> {
        write_file(&folder.join("authority.key"), &self.issuer.key().serialize_pem(), SECRET)?;
        write_file(&folder.join("authority.pem"), &self.trusted, PUBLIC)
    }

    /// The name of its cluster.
    #[must_use]
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// The certificates that the nodes of its cluster trust, as PEM.
    #[must_use]
    pub fn trusted(&self) -> &str {
        &self.trusted
    }

    /// From now on only this authority is trusted, and not the one before it.
    pub fn forget_predecessor(&mut self) {
        self.trusted = self.newest().to_owned();
    }

    /// Its own certificate, without that of its predecessor.
    fn newest(&self) -> &str {
        const END: &str = "-----END CERTIFICATE-----\n";
        let end = self.trusted.find(END).map_or(self.trusted.len(), |at| at + END.len());
        &self.trusted[..end]
    }

    /// Signs a certificate for a node, for ten years.
    ///
    /// # Errors
    /// If the node's name cannot be in a certificate.
    pub fn sign(&self, node: &str) -> Result<CertifiedKey, Refusal> {
        self.sign_for(node, Validity::default())
    }

    /// Signs a certificate for a node that is good for as long as it is said.
    ///
    /// # Errors
    /// If the node's name cannot be in a certificate.
    pub fn sign_for(&self, node: &str, validity: Validity) -> Result<CertifiedKey, Refusal> {
        let name = certified_name(node, &self.cluster)?;
        let mut params = CertificateParams::new([name]).map_err(refuse)?;
        params.distinguished_name = called(&format!("node {node} of the Doorway cluster {}", self.cluster));
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        (params.not_before, params.not_after) = (validity.from.into(), validity.until.into());
        // It tells a certificate that was issued after a revocation from the revoked ones.
        let serial = revocation::serial(revocation::now(), new_disk().0);
        params.serial_number = Some(serial.into());
        let key = KeyPair::generate().map_err(refuse)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(refuse)?;
        Ok(CertifiedKey { certificate: certificate.pem(), key: key.serialize_pem() })
    }

    fn params(cluster: &str, validity: Validity) -> CertificateParams {
        let mut params = CertificateParams::default();
        params.distinguished_name = called(&format!("authority of the Doorway cluster {cluster}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        (params.not_before, params.not_after) = (validity.from.into(), validity.until.into());
        params
    }
}

impl CertifiedKey {
    /// Writes it into the folder of its node, as `node.pem` and `node.key`.
    ///
    /// # Errors
    /// If that cannot be.
    pub fn write(&self, folder: &Path) -> Result<(), Refusal> {
        write_file(&folder.join("node.key"), &self.key, SECRET)?;
        write_file(&folder.join("node.pem"), &self.certificate, PUBLIC)
    }
}

/// Who may read a file: its owner, or all users.
pub(crate) const SECRET: u32 = 0o600;
pub(crate) const PUBLIC: u32 = 0o644;

/// Writes a file aside and renames it into place, so that no process ever reads half of it.
pub(crate) fn write_file(path: &Path, text: &str, mode: u32) -> Result<(), Refusal> {
    let aside = path.with_extension("new");
    let write = || {
        let _ = std::fs::remove_file(&aside);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&aside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&aside, path)
    };
    write().map_err(|error| Refusal::new(format!("{} cannot be written: {error}", path.display())))
}

pub(crate) fn read_text(path: &Path) -> Result<String, Refusal> {
    std::fs::read_to_string(path)
        .map_err(|error| Refusal::new(format!("{} cannot be read: {error}", path.display())))
}

fn called(name: &str) -> DistinguishedName {
    let mut full = DistinguishedName::new();
    full.push(DnType::CommonName, name);
    full
}

#[allow(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn refuse(error: rcgen::Error) -> Refusal {
    Refusal::new(format!("cannot make a certificate: {error}"))
}
