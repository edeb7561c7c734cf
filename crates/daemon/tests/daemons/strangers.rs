//! Peers with a false identity are refused, while the daemon keeps serving.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use doorway_core::Refusal;
use doorway_daemon::certificates::{Authority, CertifiedKey, Validity};
use doorway_daemon::founding;
use doorway_protocol::AdminCommand;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::client::PATIENCE;
use crate::cluster::{Cluster, wait_for};
use crate::ports::free_address;

/// A claimed identity: cluster, name and number.
pub type Claim<'a> = (&'a str, &'a str, u32);

/// Connects to a node with a certificate, or without one.
pub fn connect(
    cluster: &Cluster,
    node: &str,
    pair: Option<&CertifiedKey>,
) -> StreamOwned<ClientConnection, TcpStream> {
    let stream = TcpStream::connect(&cluster.config(node).me().address).expect("it listens");
    over(stream, cluster, node, pair)
}

/// The same over a connection that is there.
pub fn over(
    stream: TcpStream,
    cluster: &Cluster,
    node: &str,
    pair: Option<&CertifiedKey>,
) -> StreamOwned<ClientConnection, TcpStream> {
    let config = cluster.config(node);
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(&config.tls.authority).expect("it is there") {
        roots.add(certificate.expect("a certificate")).expect("a good one");
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.expect("versions").with_root_certificates(roots);
    let mut tls = match pair {
        None => builder.with_no_client_auth(),
        Some(pair) => {
            let certificate =
                CertificateDer::from_pem_slice(pair.certificate.as_bytes()).expect("a certificate");
            let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).expect("a key");
            builder.with_client_auth_cert(vec![certificate], key).expect("they fit")
        }
    };
    tls.alpn_protocols = vec![b"doorway/1".to_vec()];
    let name = ServerName::try_from(format!("{node}.lab.doorway")).expect("a good name");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    StreamOwned::new(ClientConnection::new(Arc::new(tls), name).expect("a connection"), stream)
}

/// Says who one is, as nodes do.
pub fn greeting((cluster, name, number): Claim<'_>) -> Vec<u8> {
    let body = (1_u8, cluster, name, number, "localhost:1", 0_u32);
    frame(&postcard::to_stdvec(&body).expect("plain data"))
}

pub fn frame(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes(), body].concat()
}

/// Whether a node accepts a peer with this certificate and this claim.
fn is_believed(cluster: &Cluster, pair: Option<&CertifiedKey>, claim: Claim<'_>) -> bool {
    let mut stream = connect(cluster, "a", pair);
    let spoken = stream.write_all(&greeting(claim)).and_then(|()| stream.flush());
    let heard = spoken.and_then(|()| stream.read_exact(&mut [0; 4]));
    let is_timeout =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
    assert!(!heard.as_ref().is_err_and(is_timeout), "it must be told no, not left waiting");
    heard.is_ok()
}

#[test]
fn only_a_nodes_certificate_authenticates_it() {
    let mut cluster = Cluster::founded(2);
    let authority = Authority::read(&cluster.folder).expect("it is there");
    let other = Authority::new("lab").expect("a good name");
    cluster.start("a");
    let sign = |authority: &Authority, name: &str| authority.sign(name).expect("a good name");
    let day = Duration::from_secs(24 * 60 * 60);
    let now = SystemTime::now();
    let expired =
        authority.sign_for("b", Validity { from: now - day * 2, until: now - day }).expect("a good name");
    let early =
        authority.sign_for("b", Validity { from: now + day, until: now + day * 2 }).expect("a good name");
    let (good, strange) = (sign(&authority, "b"), sign(&other, "b"));
    let (its_own, new) = (sign(&authority, "a"), sign(&authority, "c"));
    let believed = |pair, claim| is_believed(&cluster, pair, claim);
    assert!(believed(Some(&good), ("lab", "b", 2)));
    assert!(!believed(None, ("lab", "b", 2)), "no certificate");
    assert!(!believed(Some(&expired), ("lab", "b", 2)), "one that has expired");
    assert!(!believed(Some(&early), ("lab", "b", 2)), "one that is not good yet");
    assert!(!believed(Some(&strange), ("lab", "b", 2)), "one of another authority");
    assert!(!believed(Some(&good), ("other", "b", 2)), "another cluster");
    assert!(!believed(Some(&good), ("lab", "c", 3)), "another node's name");
    assert!(!believed(Some(&good), ("lab", "b", 3)), "another number");
    assert!(!believed(Some(&new), ("lab", "c", 2)), "a number that another node has");
    assert!(!believed(Some(&its_own), ("lab", "a", 1)), "the node itself");
    assert!(!believed(Some(&new), ("lab", "c", 0)), "no number");
    assert!(!believed(Some(&new), ("lab", "c", 129)), "a number that nobody has");
    cluster.start("b");
    cluster.wait_until_ready();
    cluster.client("a").pass("door");
}

#[test]
fn a_node_with_an_expired_certificate_waits_for_a_new_one() {
    let mut cluster = Cluster::founded(3);
    let authority = Authority::read(&cluster.folder).expect("it is there");
    let now = SystemTime::now();
    let (long_ago, lately) = (now - Duration::from_secs(1_000_000), now - Duration::from_secs(1_000));
    let folder = cluster.folder.join("c");
    let expired = authority.sign_for("c", Validity { from: long_ago, until: lately }).expect("a good name");
    expired.write(&folder).expect("room");
    ["a", "b"].iter().for_each(|name| cluster.start(name));
    let refused = crate::cluster::start(cluster.config("c")).expect_err("nobody would believe it");
    assert!(refused.to_string().contains("has expired"), "{refused}");
    founding::rotate(&cluster.folder, false).expect("room");
    cluster.start("c");
    cluster.wait_until_ready();
    cluster.client("c").pass("door");
}

#[test]
fn certificates_and_authority_change_while_the_cluster_runs() {
    let mut cluster = Cluster::running(3);
    let mut client = cluster.client("a");
    let reload =
        |cluster: &Cluster| cluster.daemons.values().for_each(|daemon| daemon.reload().expect("good files"));
    let refused = |outcome: Result<(), Refusal>| outcome.expect_err("it would lock nodes out").to_string();
    assert!(refused(founding::forget_old_authority(&cluster.folder)).contains("no old authority"));
    founding::rotate(&cluster.folder, true).expect("room");
    assert!(refused(founding::forget_old_authority(&cluster.folder)).contains("rotate them first"));
    assert!(refused(founding::rotate(&cluster.folder, true)).contains("already"));
    reload(&cluster);
    founding::rotate(&cluster.folder, false).expect("room");
    reload(&cluster);
    founding::forget_old_authority(&cluster.folder).expect("room");
    reload(&cluster);
    client.administer(AdminCommand::Reload).expect("good files");
    let before = client.pass("door");
    for name in ["b", "c"] {
        cluster.kill(name);
        cluster.start(name);
    }
    cluster.wait_until_ready();
    assert!(before < cluster.client("b").pass("door"), "with new connections");
}

#[test]
fn a_reload_that_drops_an_authority_closes_its_connections() {
    let mut cluster = Cluster::founded(2);
    cluster.start("a");
    let pair = Authority::read(&cluster.folder).expect("it is there").sign("b").expect("a good name");
    let mut stranger = connect(&cluster, "a", Some(&pair));
    stranger.write_all(&greeting(("lab", "b", 2))).and_then(|()| stranger.flush()).expect("it listens");
    stranger.read_exact(&mut [0; 4]).expect("it is believed");
    stranger.sock.set_read_timeout(Some(Duration::from_millis(20))).expect("a socket");
    let still_here = || frame(&[1, 0]);
    let mut is_there = || {
        let spoken = stranger.write_all(&still_here()).and_then(|()| stranger.flush());
        let heard = spoken.and_then(|()| stranger.read(&mut [0; 4_096]));
        let is_quiet =
            |error: io::Error| matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
        heard.map_or_else(is_quiet, |count| count > 0)
    };
    for is_new in [true, false] {
        founding::rotate(&cluster.folder, is_new).expect("room");
        cluster.daemons["a"].reload().expect("good files");
        assert!(is_there() && is_there(), "its authority is still believed");
    }
    founding::forget_old_authority(&cluster.folder).expect("room");
    cluster.daemons["a"].reload().expect("good files");
    wait_for("it is put out", || !is_there());
    cluster.start("b");
    cluster.wait_until_ready();
    cluster.client("a").pass("door");
}

#[test]
fn a_node_does_not_start_with_the_certificate_of_another() {
    let cluster = Cluster::founded(2);
    let authority = Authority::read(&cluster.folder).expect("it is there");
    authority.sign("b").expect("a good name").write(&cluster.folder.join("a")).expect("room");
    let refused = crate::cluster::start(cluster.config("a")).expect_err("it is not its own");
    assert!(refused.to_string().contains("is not the certificate of node \"a\""), "{refused}");
    founding::add(&cluster.folder, "z", &free_address()).expect("a good node");
    std::fs::write(cluster.folder.join("b").join("node.key"), "no key").expect("room");
    let refused = crate::cluster::start(cluster.config("b")).expect_err("no key");
    assert!(refused.to_string().contains("node.key cannot be read"), "{refused}");
}
