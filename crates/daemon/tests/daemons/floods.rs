//! Floods: what one client asks for without end costs no other its lock.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use doorway_client::clock;
use doorway_core::{SectionName, Ticks};
use doorway_daemon::certificates::{Authority, CertifiedKey};
use doorway_node::Reason;
use doorway_protocol::{ClientMsg, DaemonMsg};

use crate::addresses::from_elsewhere;
use crate::client::{Client, PATIENCE, section};
use crate::cluster::{Cluster, NAMES, wait_for};
use crate::rights::user;
use crate::strangers::{connect, greeting, over};

/// A cluster whose lease bears a busy machine, all of it running.
fn patient_cluster(n: usize) -> Cluster {
    let mut cluster = Cluster::founded(n);
    NAMES[..n].iter().for_each(|name| start(&mut cluster, name, 1_024));
    cluster.wait_until_ready();
    cluster
}

/// Starts a node of it with room for this many strangers.
fn start(cluster: &mut Cluster, name: &str, strangers: usize) {
    let mut config = cluster.config(name);
    config.timing.lease = "3s".parse().ok();
    config.timing.detection = "3500ms".parse().ok();
    config.limits.connections = strangers;
    let daemon = crate::cluster::start(config).expect("it starts");
    cluster.daemons.insert(name.to_owned(), daemon);
}

/// Enters this many sections, with as many names per request as allowed.
fn hold_many(client: &mut Client, count: usize) {
    let names: Vec<SectionName> = (0..count).map(|number| section(&format!("many-{number:05}"))).collect();
    for part in names.chunks(64) {
        let wanted = client.want_all(part.to_vec(), None);
        assert!(matches!(client.hear_news(), DaemonMsg::Granted { number, .. } if number == wanted));
    }
}

#[test]
fn a_flood_of_questions_about_thousands_of_names_costs_no_lease() {
    const ASKERS: usize = 4;
    const ROUNDS: usize = 3;
    const QUESTIONS: u32 = 100;
    let cluster = patient_cluster(3);
    let mut many = user(&cluster, "a");
    hold_many(&mut many, 2_000);
    let mut precious = user(&cluster, "a");
    let (number, _) = precious.lock("precious");
    // All are asked before the first answer is read.
    let flood = |mut asker: Client| {
        let ask = |number| ClientMsg::Status { number, section: None, everywhere: false };
        let asked = (0..QUESTIONS).take_while(|number| asker.try_ask(&ask(*number)).is_ok()).count();
        assert_eq!(asked, QUESTIONS as usize, "it is not put out");
        for _ in 0..QUESTIONS {
            match asker.hear().expect("an answer") {
                DaemonMsg::Status { status, .. } => assert_eq!(status.sections.len(), 1_000),
                DaemonMsg::Failed { .. } => {}
                told => panic!("no answer but {told:?}"),
            }
        }
    };
    thread::scope(|scope| {
        (0..ASKERS).for_each(|_| {
            scope.spawn(|| (0..ROUNDS).for_each(|_| flood(user(&cluster, "a"))));
        });
    });
    // Everything that it was told meanwhile is a later deadline: the lease was never lost.
    let over = clock::now();
    let mut until = Ticks(0);
    while until < over {
        match precious.hear().expect("deadlines") {
            DaemonMsg::Renewed { number: renewed, until: next } if renewed == number => until = next,
            told => panic!("not renewed but told {told:?}"),
        }
    }
    precious.release(number);
    precious.pass("precious");
}

#[test]
fn a_client_that_reads_late_gets_every_answer_and_is_not_put_out() {
    const QUESTIONS: u32 = 60;
    let cluster = patient_cluster(1);
    let (mut many, mut late, mut other) = (user(&cluster, "a"), user(&cluster, "a"), user(&cluster, "a"));
    hold_many(&mut many, 2_000);
    // Together these answers are far longer than what may wait for one client.
    for number in 0..QUESTIONS {
        late.ask(&ClientMsg::Status { number, section: None, everywhere: false });
    }
    // Meanwhile another client is answered as often: the node takes turns among those who ask.
    (0..QUESTIONS).for_each(|_| assert_eq!(other.status(false).sections.len(), 1_000));
    let mut answered = BTreeSet::new();
    for _ in 0..QUESTIONS {
        match late.hear().expect("it is still there") {
            DaemonMsg::Status { number, status } => {
                assert_eq!(status.sections.len(), 1_000);
                answered.insert(number);
            }
            told => panic!("no answer but {told:?}"),
        }
    }
    assert_eq!(answered, (0..QUESTIONS).collect());
    late.pass("door");
}

#[test]
fn one_user_has_half_of_the_names_and_others_get_in() {
    let mut cluster = Cluster::founded(1);
    let mut config = cluster.config("a");
    (config.limits.names_per_uid, config.limits.requests_per_uid) = (100, 50);
    let daemon = crate::cluster::start(config).expect("it starts");
    cluster.daemons.insert("a".to_owned(), daemon);
    cluster.wait_until_ready();
    let (mut greedy, mut twin) = (user(&cluster, "a"), user(&cluster, "a"));
    hold_many(&mut greedy, 100);
    for client in [&mut greedy, &mut twin] {
        let wanted = client.want("one-more", Some(Ticks(0)));
        assert_eq!(client.hear_news(), DaemonMsg::Refused { number: wanted, why: Reason::Quota });
    }
    // The quota does not count administrators, the daemon's own process, or a name that its user already has.
    cluster.client("a").pass("one-more");
    let wanted = twin.want("many-00007", Some(Ticks(0)));
    assert_eq!(twin.hear_news(), DaemonMsg::Refused { number: wanted, why: Reason::TimedOut });
    drop(greedy);
    wait_for("the names of one who is gone are not counted any more", || {
        twin.want("one-more", None);
        matches!(twin.hear_news(), DaemonMsg::Granted { .. })
    });
    // And of requests: each of these waits for the same name.
    let mut holder = cluster.client("a");
    let (number, _) = holder.lock("busy");
    // One request is the one that was just granted.
    let mut crowd: Vec<Client> = (0..49).map(|_| user(&cluster, "a")).collect();
    crowd.iter_mut().for_each(|client| {
        client.want("busy", None);
    });
    crowd.iter_mut().for_each(|client| {
        // It has been looked at once this question is answered.
        client.status(false);
    });
    let wanted = twin.want("quiet", Some(Ticks(0)));
    assert_eq!(twin.hear_news(), DaemonMsg::Refused { number: wanted, why: Reason::Quota });
    holder.release(number);
    drop(crowd);
    drop(twin);
}

#[test]
fn names_that_one_user_took_and_gave_back_keep_no_other_out() {
    let mut cluster = Cluster::founded(1);
    let mut config = cluster.config("a");
    // Its clients may have 1,024 of them open, and those of one user 512.
    config.limits.open = Some(2_048);
    let daemon = crate::cluster::start(config).expect("it starts");
    cluster.daemons.insert("a".to_owned(), daemon);
    cluster.wait_until_ready();
    let mut greedy = user(&cluster, "a");
    let mut fresh = (0..).map(|number| section(&format!("fresh-{number:06}")));
    let mut next = |greedy: &mut Client| {
        let wanted = greedy.want_all(fresh.by_ref().take(64).collect(), None);
        match greedy.hear_news() {
            DaemonMsg::Granted { number, .. } if number == wanted => {
                greedy.release(wanted);
                None
            }
            DaemonMsg::Refused { number, why } if number == wanted => Some(why),
            told => panic!("neither granted nor refused but told {told:?}"),
        }
    };
    let mut refused = None;
    wait_for("it is refused", || {
        refused = next(&mut greedy);
        refused.is_some()
    });
    assert_eq!(refused, Some(Reason::Quota));
    let mut other = cluster.client("a");
    for number in 0..20 {
        other.pass(&format!("of-another-{number}"));
    }
    // It has its share again when they are forgotten.
    wait_for("its names are forgotten", || next(&mut greedy).is_none());
}

#[test]
fn one_user_has_half_of_the_places_and_others_get_in() {
    let mut cluster = Cluster::founded(1);
    let mut config = cluster.config("a");
    config.limits.clients = 6;
    let daemon = crate::cluster::start(config).expect("it starts");
    cluster.daemons.insert("a".to_owned(), daemon);
    let clients: Vec<Client> = (0..3).map(|_| user(&cluster, "a")).collect();
    let stream = std::os::unix::net::UnixStream::connect(cluster.config("a").socket()).expect("it listens");
    let uid = rustix::process::geteuid().as_raw();
    let sentence = format!("3 clients of uid {uid} are connected, as many as limits.clients_per_uid allows");
    assert_eq!(Client::stranger(stream).hear().expect("it is told why"), DaemonMsg::Goodbye { sentence });
    let others: Vec<Client> = (0..3).map(|_| cluster.client("a")).collect();
    drop((clients, others));
}

/// Whether a node answers a peer with a certificate, from the address of its peers, at the first attempt.
fn is_answered(cluster: &Cluster, pair: &CertifiedKey) -> io::Result<()> {
    let mut peer = connect(cluster, "a", Some(pair));
    peer.write_all(&greeting(("lab", "d", 4)))?;
    peer.flush()?;
    peer.read_exact(&mut [0; 4])
}

#[test]
fn handshakes_of_strangers_of_one_address_keep_no_peer_out() {
    const PLACES: usize = 8;
    const STRANGERS: usize = 2 * PLACES;
    const PEERS: usize = 20;
    let mut cluster = patient_cluster(3);
    cluster.kill("a");
    start(&mut cluster, "a", PLACES);
    cluster.wait_until_ready();
    let config = cluster.config("a");
    let address = config.me().address.clone();
    if from_elsewhere(&address, 2).is_err() {
        eprintln!("skipped: this machine has no second address");
        return;
    }
    let pair = Authority::read(&cluster.folder).expect("it is there").sign("d").expect("a good name");
    let mut precious = user(&cluster, "a");
    let (number, _) = precious.lock("precious");
    let (is_over, strangers) = (AtomicBool::new(false), AtomicUsize::new(0));
    let refused: Vec<io::Error> = thread::scope(|scope| {
        let _flood = Flood(&is_over);
        // Some come, say who they are without a certificate, and come again; the others say nothing and come again when they are put out.
        for place in 0..STRANGERS {
            let (cluster, address, is_over, strangers) = (&cluster, &address, &is_over, &strangers);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let Ok(stream) = from_elsewhere(address, 2) else { continue };
                    strangers.fetch_add(1, Ordering::Relaxed);
                    if place % 4 > 0 {
                        let _ = stream.set_read_timeout(Some(PATIENCE));
                        let _ = (&stream).read(&mut [0]);
                        continue;
                    }
                    let mut stranger = over(stream, cluster, "a", None);
                    let spoken = stranger.write_all(&greeting(("lab", "b", 2)));
                    let _ = spoken.and_then(|()| stranger.flush()).map(|()| stranger.read(&mut [0]));
                }
            });
        }
        let many = || strangers.load(Ordering::Relaxed);
        wait_for("strangers come, more than there is room for", || many() > 4 * PLACES);
        let before = many();
        let peers = (0..PEERS).map(|_| is_answered(&cluster, &pair));
        let refused = peers.filter_map(Result::err).collect();
        wait_for("strangers have come all the while", || many() > before + PLACES);
        refused
    });
    assert!(refused.is_empty(), "{} of {PEERS} were kept out: {refused:?}", refused.len());
    precious.release(number);
    precious.pass("precious");
}

/// Ends a flood, also when the test fails.
struct Flood<'a>(&'a AtomicBool);

impl Drop for Flood<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
