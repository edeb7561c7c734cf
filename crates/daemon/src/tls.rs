//! How nodes prove to each other who they are: TLS 1.3, certificates on both sides, all signed by the cluster's authority.
//!
//! Sessions are never resumed: whoever connects shows its certificate, every time.

use std::path::Path;
use std::sync::Arc;

use doorway_core::Refusal;
use rustls::client::{Resumption, verify_server_name};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{NoServerSessionStorage, ParsedCertificate, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{ClientConfig, CommonState, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::Config;
use crate::identity::certified_name;

/// What is spoken inside, by the name that both sides offer.
const PROTOCOL: &[u8] = b"doorway/1";

/// What a node needs to be believed and to tell whom to believe.
pub(crate) struct Credentials {
    /// Whoever's signature is believed.
    authorities: Vec<CertificateDer<'static>>,
    pub(crate) acceptor: TlsAcceptor,
    pub(crate) connector: TlsConnector,
}

impl Credentials {
    /// Reads the files that a configuration names.
    ///
    /// # Errors
    /// If one of them cannot be read, or they do not fit together.
    pub(crate) fn load(config: &Config) -> Result<Self, Refusal> {
        let certificates = read_certificates(&config.tls.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&config.tls.key)
            .map_err(|error| cannot_read(&config.tls.key, &error))?;
        let me = server_name(config.node.get_ref(), &config.cluster)?;
        if !is_of(certificates.first(), &me) {
            return Err(Refusal::new(format!(
                "{} is not the certificate of node {:?} of cluster {:?}",
                config.tls.certificate.display(),
                config.node.get_ref(),
                config.cluster
            )));
        }
        let authorities = read_certificates(&config.tls.authority)?;
        let roots = roots(&config.tls.authority, &authorities)?;
        Self::new(authorities, Arc::new(roots), certificates, key).map_err(|error| {
            Refusal::new(format!("certificate, key and authority of this node do not fit together: {error}"))
        })
    }

    /// Whether everybody is believed whom others believed.
    pub(crate) fn believes_all_of(&self, others: &Self) -> bool {
        others.authorities.iter().all(|authority| self.authorities.contains(authority))
    }

    fn new(
        authorities: Vec<CertificateDer<'static>>,
        roots: Arc<RootCertStore>,
        certificates: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone()).build()?;
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
    let certificate = connection.peer_certificates().and_then(<[_]>::first);
    let name = server_name(node, cluster);
    connection.alpn_protocol() == Some(PROTOCOL) && name.is_ok_and(|name| is_of(certificate, &name))
}

fn is_of(certificate: Option<&CertificateDer<'_>>, name: &ServerName<'_>) -> bool {
    let parsed = certificate.and_then(|certificate| ParsedCertificate::try_from(certificate).ok());
    parsed.is_some_and(|certificate| verify_server_name(&certificate, name).is_ok())
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Refusal> {
    let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = certificates.map_err(|error| cannot_read(path, &error))?;
    if certificates.is_empty() {
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
