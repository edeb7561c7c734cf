//! Hostile input: the daemon goes on serving, within a limit of memory.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use doorway_client::clock;
use doorway_core::Ticks;
use doorway_daemon::Daemon;
use doorway_daemon::certificates::Authority;
use doorway_protocol::{AdminCommand, ClientMsg, DaemonMsg};
use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use crate::client::{Client, PATIENCE, section};
use crate::cluster::{Cluster, wait_for};
use crate::strangers::{connect, frame, greeting};

/// Whether the other side has closed a connection, once it has said what it wanted to say.
fn is_closed(stream: &mut impl Read) -> bool {
    let mut bytes = [0; 4_096];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => {
                return !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
            }
        }
    }
}

fn unix(cluster: &Cluster, node: &str) -> UnixStream {
    let stream = UnixStream::connect(cluster.config(node).socket()).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream
}

fn tcp(cluster: &Cluster, node: &str) -> TcpStream {
    let stream = TcpStream::connect(&cluster.config(node).me().address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream
}

#[test]
fn random_bytes_and_long_frames_end_only_their_connection() {
    let cluster = Cluster::running(3);
    let mut chance = Pcg64Mcg::seed_from_u64(7);
    let mut bytes = [0; 3_000];
    for _ in 0..20 {
        chance.fill_bytes(&mut bytes);
        // The first words announce more than there may be, or something that is no message.
        for head in [u32::MAX, 65_537, 17] {
            bytes[..4].copy_from_slice(&head.to_le_bytes());
            let mut stream = unix(&cluster, "a");
            let _ = stream.write_all(&bytes);
            assert!(is_closed(&mut stream), "a client that announces {head} bytes");
        }
        let mut stream = tcp(&cluster, "a");
        let _ = stream.write_all(&bytes);
        assert!(is_closed(&mut stream));
    }
    let authority = Authority::read(&cluster.folder).expect("it is there");
    let pair = authority.sign("d").expect("a good name");
    for body in [&b"\x00\x09nonsense"[..], b"\x01\x07", b"\x02", b"", &[0; 2_000]] {
        let mut stream = connect(&cluster, "a", Some(&pair));
        stream.write_all(&greeting(("lab", "d", 4))).expect("it is believed");
        stream.write_all(&frame(body)).expect("it is believed");
        assert!(is_closed(&mut stream), "a node that says {:?}", &body[..body.len().min(10)]);
    }
    for head in [5_000_000_u32, u32::MAX] {
        let mut stream = connect(&cluster, "a", Some(&pair));
        stream.write_all(&greeting(("lab", "d", 4))).expect("it is believed");
        stream.write_all(&head.to_le_bytes()).expect("it is believed");
        assert!(is_closed(&mut stream), "a node that announces {head} bytes");
    }
    cluster.client("a").pass("door");
    assert!(cluster.daemons.values().all(Daemon::is_ready));
}

#[test]
fn a_long_name_ends_only_its_connection() {
    let cluster = Cluster::running(1);
    // A request as a client of another making might write it: the second word of the protocol, and its fields.
    let asked = |length: usize| {
        let times = [None::<u64>; 3];
        let request = (1_u32, 7_u32, vec!["x".repeat(length)], times, false);
        frame(&postcard::to_stdvec(&request).expect("it is data"))
    };
    let mut stream = unix(&cluster, "a");
    stream.write_all(&asked(256)).expect("it listens");
    assert!(is_closed(&mut stream));
    let mut stream = unix(&cluster, "a");
    stream.set_read_timeout(Some(Duration::from_millis(300))).expect("a socket");
    stream.write_all(&asked(255)).expect("it listens");
    assert!(!is_closed(&mut stream), "the longest name is one letter shorter");
    cluster.client("a").pass("door");
}

#[test]
fn an_unfinished_handshake_times_out() {
    let cluster = Cluster::running(1);
    let half = |mut stream: TcpStream, bytes: &[u8]| {
        stream.write_all(bytes).expect("it listens");
        stream
    };
    // The beginning of a handshake, and of a client's word; then nothing.
    let mut peer = half(tcp(&cluster, "a"), b"\x16\x03\x01\x02\x00\x01");
    let mut client = unix(&cluster, "a");
    client.write_all(&[9, 0]).expect("it listens");
    cluster.client("a").pass("door");
    assert!(is_closed(&mut peer), "nobody waits for ever for a handshake");
    client.shutdown(std::net::Shutdown::Write).expect("a socket");
    assert!(is_closed(&mut client));
    cluster.client("a").pass("door");
}

#[test]
fn thousands_of_idle_connections_block_no_peer() {
    const IDLE: usize = 4_000;
    const LIMIT: u64 = 192 << 20;
    Daemon::raise_file_limit();
    let mut cluster = Cluster::running(3);
    let memory = |cluster: &Cluster| {
        let own = cluster.client("a").status(false).nodes.into_iter().find_map(|node| node.own);
        own.and_then(|own| own.memory).unwrap_or_default()
    };
    let before = memory(&cluster);
    let clients: Vec<UnixStream> = (0..IDLE).map(|_| unix(&cluster, "a")).collect();
    // Half of them begin a frame and never end it.
    for mut client in clients.iter().step_by(2) {
        client.write_all(&60_000_u32.to_le_bytes()).expect("it reads");
    }
    let strangers: Vec<TcpStream> = (0..IDLE).map(|_| tcp(&cluster, "a")).collect();
    let mut client = cluster.client("a");
    client.pass("door");
    let own = client.status(false).nodes.into_iter().find_map(|node| node.own).expect("it answers itself");
    assert!(own.clients >= IDLE as u64, "{} clients", own.clients);
    // Idle strangers keep no node out, not even a new one.
    cluster.kill("b");
    cluster.start("b");
    cluster.wait_until_ready();
    cluster.client("b").pass("door");
    let after = memory(&cluster);
    assert!(after < before + LIMIT, "{before} bytes before, {after} after");
    drop((clients, strangers));
    wait_for("the clients are gone", || {
        client.status(false).nodes.into_iter().find_map(|node| node.own).is_some_and(|own| own.clients < 10)
    });
}

#[test]
fn beyond_the_limit_the_oldest_stranger_is_closed() {
    let mut cluster = Cluster::founded(1);
    let mut config = cluster.config("a");
    config.limits.connections = 2;
    let daemon = crate::cluster::start(config).expect("it starts");
    cluster.daemons.insert("a".to_owned(), daemon);
    let mut strangers = [(); 3].map(|()| tcp(&cluster, "a"));
    let began = Instant::now();
    assert!(is_closed(&mut strangers[0]));
    assert!(began.elapsed() < Duration::from_secs(4), "before it had its time to prove who it is");
    strangers[2].set_nonblocking(true).expect("a socket");
    let heard = strangers[2].read(&mut [0]).expect_err("nothing was said to the last one, nor was it closed");
    assert_eq!(heard.kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn a_client_that_reads_late_keeps_its_lock() {
    let cluster = Cluster::running(3);
    let (mut silent, mut other) = (cluster.client("a"), cluster.client("b"));
    let (number, _) = silent.lock("door");
    wait_for("it has been inside for long", || {
        let status = other.status(true);
        let inside = status.sections.first().and_then(|section| section.inside.clone());
        inside.is_some_and(|inside| inside.since > Ticks(2_500_000))
    });
    let tried = other.want("door", Some(Ticks(0)));
    assert!(matches!(other.hear_news(), DaemonMsg::Refused { number, .. } if number == tried));
    let mut until = Ticks(0);
    while until < clock::now() {
        match silent.hear().expect("deadlines") {
            DaemonMsg::Renewed { number: renewed, until: next } if renewed == number => until = next,
            told => panic!("not renewed but told {told:?}"),
        }
    }
}

#[test]
fn a_client_that_never_reads_is_disconnected() {
    let cluster = Cluster::running(1);
    let mut greedy = cluster.client("a");
    let (number, before) = greedy.lock("door");
    let mut next = cluster.client("a");
    let wanted = next.want("door", None);
    // The number is in use: each request is refused at once, and the client reads no refusal.
    let requests = 1_000_000;
    let names = vec![section("door")];
    let request =
        ClientMsg::Lock { number, names, patience: None, max_hold: None, ttl: None, tell_if_wanted: false };
    let asked = (0..requests).take_while(|_| greedy.try_ask(&request).is_ok()).count();
    assert!(asked < requests, "it was never put out");
    match next.hear_news() {
        DaemonMsg::Granted { number, fences, .. } => assert!(number == wanted && before < fences[0].1),
        told => panic!("not let in but told {told:?}"),
    }
}

#[test]
fn there_is_a_limit_to_the_number_of_clients() {
    let mut cluster = Cluster::founded(1);
    let mut config = cluster.config("a");
    config.limits.clients = 3;
    let daemon = crate::cluster::start(config).expect("it starts");
    cluster.daemons.insert("a".to_owned(), daemon);
    let clients: Vec<Client> = (0..3).map(|_| cluster.client("a")).collect();
    let mut refused = Client::stranger(unix(&cluster, "a"));
    let sentence =
        "3 clients are connected, as many as limits.clients and the daemon's file descriptors allow";
    assert_eq!(refused.hear().expect("it is told why"), DaemonMsg::Goodbye { sentence: sentence.to_owned() });
    assert_eq!(refused.hear().map_err(|error| error.kind()), Err(io::ErrorKind::UnexpectedEof));
    let refused = doorway_client::Client::connect(cluster.config("a").socket()).expect_err("it is full");
    assert_eq!(refused.to_string(), format!("the Doorway daemon turned this client away: {sentence}"));
    // An administrator connects nevertheless.
    Client::new(UnixStream::connect(cluster.config("a").admin_socket()).expect("it listens")).pass("door");
    drop(clients);
    wait_for("there is room again", || {
        matches!(Client::stranger(unix(&cluster, "a")).hear(), Ok(DaemonMsg::Welcome { .. }))
    });
    cluster.client("a").pass("door");
}

#[test]
fn health_and_ready_are_answered() {
    let mut cluster = Cluster::founded(2);
    let mut config = cluster.config("a");
    let address = crate::ports::free_address();
    config.health = Some(address.parse().expect("an address"));
    let daemon = crate::cluster::start(config).expect("it starts");
    cluster.daemons.insert("a".to_owned(), daemon);
    let whole = |method: &str, path: &str| {
        let mut stream = TcpStream::connect(&address).expect("it listens");
        let request = format!("{method} {path} HTTP/1.1\r\nhost: a\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        answer
    };
    let ask = |path: &str| whole("GET", path).split(' ').nth(1).map(str::to_owned).unwrap_or_default();
    assert_eq!([ask("/health"), ask("/ready"), ask("/else")], ["200", "503", "404"]);
    cluster.start("b");
    // Members and voters still change when both have just found each other, and then no client enters for a moment.
    wait_for("it says that it is ready", || whole("GET", "/ready").ends_with("ready\n"));
    let (asked, looked) = (whole("GET", "/health"), whole("HEAD", "/health"));
    assert_eq!(asked, format!("{looked}ok\n"), "the same head and nothing else");
    wait_for("it is ready for whoever only looks", || whole("HEAD", "/ready").starts_with("HTTP/1.1 200 "));
    let mut holder = cluster.client("a");
    let (number, _) = holder.lock("door");
    cluster.client("a").ask(&ClientMsg::Administer { number: 1, order: AdminCommand::Stop });
    wait_for("it says that it leaves", || {
        whole("GET", "/ready").ends_with("the node is leaving its cluster\n")
    });
    assert_eq!([ask("/health"), ask("/ready")], ["200", "503"]);
    holder.release(number);
}
