//! How nodes prove to each other who they are: TLS 1.3, certificates on both sides, all signed by the cluster's authority.
//!
//! Sessions are never resumed: every connection shows its certificate. A node looks at its own certificate as the others
//! will, before it shows it to them.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use doorway_core::Refusal;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{NoServerSessionStorage, ParsedCertificate, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{CertificateError, ClientConfig, CommonState, Error, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::Config;
use crate::identity::certified_name;

/// The protocol inside TLS, by the name that both sides offer.
const PROTOCOL: &[u8] = b"doorway/1";

/// What a node needs to authenticate itself and others.
pub(crate) struct Credentials {
    /// The trusted authorities.
    authorities: Vec<CertificateDer<'static>>,
    pub(crate) acceptor: TlsAcceptor,
    pub(crate) connector: TlsConnector,
}

impl Credentials {
    /// Reads the files that a configuration names, and checks whether other nodes would accept them. Start, reload and
    /// `--check` all use this function.
    ///
    /// # Errors
    /// If one of them cannot be read, or they do not fit together, or no other node would accept them.
    pub(crate) fn load(config: &Config) -> Result<Self, Refusal> {
        let tls = &config.tls;
        let at = |key: &'static str| move |refusal: Refusal| config.refuse(key, &refusal);
        let certificates = read_certificates(&tls.certificate).map_err(at("tls.certificate"))?;
        let key = read_key(&tls.key).map_err(at("tls.key"))?;
        let me = server_name(config.node.get_ref(), &config.cluster)?;
        if !is_of(certificates.first(), &me) {
            let (path, node, cluster) = (tls.certificate.display(), config.node.get_ref(), &config.cluster);
            let sentence = format!("{path} is not the certificate of node {node:?} of cluster {cluster:?}");
            return Err(config.refuse("tls.certificate", &sentence));
        }
        let authorities = read_certificates(&tls.authority).map_err(at("tls.authority"))?;
        let roots = roots(&tls.authority, &authorities).map_err(at("tls.authority"))?;
        let roots = Arc::new(roots);
        let loaded = Self::new(authorities, roots, certificates, key, &me);
        loaded.map_err(|error| not_believed(config, error.as_ref()))
    }

    /// Whether these trust every authority that the others trusted.
    pub(crate) fn believes_all_of(&self, others: &Self) -> bool {
        others.authorities.iter().all(|authority| self.authorities.contains(authority))
    }

    fn new(
        authorities: Vec<CertificateDer<'static>>,
        roots: Arc<RootCertStore>,
        certificates: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        me: &ServerName<'_>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone()).build()?;
        if let [own, between @ ..] = &certificates[..] {
            // As seen by the nodes that this one dials, and by those that dial it.
            verifier.verify_client_cert(own, between, UnixTime::now())?;
            let verifier =
                WebPkiServerVerifier::builder_with_provider(roots.clone(), provider.clone()).build()?;
            verifier.verify_server_cert(own, between, me, &[], UnixTime::now())?;
        }
        let mut server = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(verifier)
            .with_single_cert(certificates.clone(), key.clone_key())?;
        server.alpn_protocols = vec![PROTOCOL.to_vec()];
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        let mut client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .with_root_certificates(roots)
            .with_client_auth_cert(certificates, key)?;
        client.alpn_protocols = vec![PROTOCOL.to_vec()];
        client.resumption = Resumption::disabled();
        Ok(Self { authorities, acceptor: Arc::new(server).into(), connector: Arc::new(client).into() })
    }
}

/// Why other nodes would reject this one, and the remedy.
fn not_believed(config: &Config, error: &(dyn std::error::Error + 'static)) -> Refusal {
    let [authority, certificate, key] =
        [&config.tls.authority, &config.tls.certificate, &config.tls.key].map(|path| path.display());
    let sentence = match error.downcast_ref() {
        Some(Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => {
            format!("{certificate} has expired: `doorway cluster rotate-certificates` makes new ones")
        }
        Some(Error::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        )) => format!("{certificate} is not valid yet: check the clock of this machine"),
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature)) => {
            format!(
                "{certificate} is not signed by the authority in {authority}: they must be of one cluster"
            )
        }
        Some(Error::InconsistentKeys(_)) => {
            format!(
                "{key} is not the key of {certificate}: copy both from one folder of `doorway cluster init`"
            )
        }
        _ => format!("other nodes would reject {certificate}: {error}"),
    };
    let is_of_key = matches!(error.downcast_ref(), Some(Error::InconsistentKeys(_)));
    config.refuse(if is_of_key { "tls.key" } else { "tls.certificate" }, &sentence)
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, Refusal> {
    check_secret(path)?;
    PrivateKeyDer::from_pem_file(path).map_err(|error| cannot_read(path, &error))
}

/// Refuses a key that other users can read: with it they could impersonate this node. A key of root may be readable by the daemon's group,
/// whichever user checks: root may check what another user will run.
fn check_secret(path: &Path) -> Result<(), Refusal> {
    let found = path.metadata().map_err(|error| cannot_read(path, &error))?;
    let allowed = if found.uid() == 0 { 0o740 } else { 0o700 };
    if found.mode() & 0o777 & !allowed == 0 {
        return Ok(());
    }
    let path = path.display();
    Err(Refusal::new(format!("{path} must be secret, but other users can access it: chmod 600 {path}")))
}

/// The name in the certificate of a node, as TLS wants it.
///
/// # Errors
/// If there is no such name.
pub(crate) fn server_name(node: &str, cluster: &str) -> Result<ServerName<'static>, Refusal> {
    let name = certified_name(node, cluster)?;
    ServerName::try_from(name).map_err(|_| Refusal::new(format!("{node:?} cannot be in a certificate")))
}

/// Whether the other side of a connection has shown the certificate of this node and speaks our protocol.
pub(crate) fn is_peer(connection: &CommonState, node: &str, cluster: &str) -> bool {
    connection.alpn_protocol() == Some(PROTOCOL) && is_certified(connection, node, cluster)
}

/// Whether the other side of a connection has shown the certificate of this node.
pub(crate) fn is_certified(connection: &CommonState, node: &str, cluster: &str) -> bool {
    server_name(node, cluster).is_ok_and(|name| is_of(shown(connection), &name))
}

/// The certificate that the other side of a connection has shown.
pub(crate) fn shown(connection: &CommonState) -> Option<&CertificateDer<'static>> {
    connection.peer_certificates().and_then(<[_]>::first)
}

fn is_of(certificate: Option<&CertificateDer<'_>>, name: &ServerName<'_>) -> bool {
    let parsed = certificate.and_then(|certificate| ParsedCertificate::try_from(certificate).ok());
    parsed.is_some_and(|certificate| verify_server_name(&certificate, name).is_ok())
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Refusal> {
    let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = certificates.map_err(|error| cannot_read(path, &error))?;
    let is_readable = |certificate| ParsedCertificate::try_from(certificate).is_ok();
    if certificates.is_empty() || !certificates.iter().all(is_readable) {
        return Err(Refusal::new(format!("{} holds no certificate", path.display())));
    }
    Ok(certificates)
}

fn roots(path: &Path, authorities: &[CertificateDer<'static>]) -> Result<RootCertStore, Refusal> {
    let mut roots = RootCertStore::empty();
    for certificate in authorities {
        roots.add(certificate.clone()).map_err(|error| cannot_read(path, &error))?;
    }
    Ok(roots)
}

fn cannot_read(path: &Path, error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(format!("{} cannot be read: {error}", path.display()))
}
