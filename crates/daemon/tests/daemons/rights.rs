//! Who may do what: users of locks at one socket, administrators at the other.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;

use doorway_daemon::config::UserGroup;
use doorway_node::BreakTarget;
use doorway_protocol::{AdminCommand, ClientMsg, DaemonMsg};

use crate::client::{Client, section};
use crate::cluster::{Cluster, wait_for};
use crate::record::Record;

/// A client of the users' socket of a node.
pub fn user(cluster: &Cluster, node: &str) -> Client {
    Client::new(UnixStream::connect(cluster.config(node).socket()).expect("it listens"))
}

/// A client of the administrators' socket of a node.
fn administrator(cluster: &Cluster, node: &str) -> Client {
    Client::new(UnixStream::connect(cluster.config(node).admin_socket()).expect("it listens"))
}

#[test]
fn lock_users_cannot_administer() {
    let record = Record::kept();
    let cluster = Cluster::running(3);
    let mut holder = user(&cluster, "a");
    let (number, fence) = holder.lock("till");
    let mut user = user(&cluster, "a");
    user.ask(&ClientMsg::Introduce { label: "mallory-of-the-users".to_owned() });
    let socket = cluster.config("a").admin_socket();
    let refused = |sentence: String, order: &str| {
        let begin = format!("only administrators may {order}: ask at {}, which ", socket.display());
        assert!(sentence.starts_with(&begin) && sentence.ends_with(" can open"), "{sentence}");
        let logged = record.lines_with("mallory-of-the-users");
        // The log writes a name in quotes with backslashes before them.
        let is_it =
            |line: &&String| line.contains("refused: not at") && line.contains(&order.replace('"', "\\\""));
        let line = logged.iter().find(is_it).unwrap_or_else(|| panic!("{order} is not in {logged:#?}"));
        for part in [
            "audit=true",
            &format!("uid={}", rustix::process::geteuid().as_raw()),
            &format!("process={}", std::process::id()),
        ] {
            assert!(line.contains(part), "{part} is not in {line}");
        }
    };
    user.ask(&ClientMsg::Break { number: 90, target: BreakTarget { section: section("till"), fence: None } });
    match user.hear_news() {
        DaemonMsg::Failed { number: 90, sentence } => refused(sentence, "break till"),
        told => panic!("not refused but told {told:?}"),
    }
    let b = || "b".to_owned();
    for (order, words) in [
        (AdminCommand::Remove { node: b() }, "remove node \"b\""),
        (AdminCommand::Revoke { node: b() }, "remove node \"b\" and revoke its certificates"),
        (AdminCommand::Lead { node: b() }, "make node \"b\" the leader"),
        (AdminCommand::Appoint { nodes: vec![b()] }, "appoint the voters [\"b\"]"),
        (AdminCommand::Reload, "reload configuration and certificates"),
        (AdminCommand::Stop, "stop this node"),
    ] {
        refused(user.administer(order).expect_err("it is refused"), words);
    }
    // Nothing of it has happened.
    let status = user.status(true);
    assert!(status.nodes.iter().all(|node| node.is_member && node.is_voter && node.own.is_some()));
    let inside = status.sections.iter().find_map(|told| told.inside.as_ref()).expect("it is inside");
    assert_eq!(inside.fence, Some(fence));
    holder.release(number);
    user.pass("till");
}

#[test]
fn administrators_break_remove_and_stop_at_their_own_socket() {
    let mut cluster = Cluster::running(3);
    let mut operator = administrator(&cluster, "a");
    let mut holder = user(&cluster, "b");
    let (number, _) = holder.lock("door");
    operator
        .ask(&ClientMsg::Break { number: 70, target: BreakTarget { section: section("door"), fence: None } });
    // The answer first: a holder that is told nothing is renewed for ever.
    assert!(matches!(operator.hear_news(), DaemonMsg::Done { number: 70, .. }));
    assert!(matches!(holder.hear_news(), DaemonMsg::Lost { number: lost, .. } if lost == number));
    holder.release(number);
    operator.pass("door");
    operator.administer(AdminCommand::Remove { node: "c".to_owned() }).expect("it is removed");
    cluster.kill("c");
    operator.administer(AdminCommand::Stop).expect("it has left");
    cluster.daemons["a"].wait().expect("it ended in peace");
}

#[test]
fn sockets_have_their_modes_and_group_and_go_with_their_daemon() {
    let mut cluster = Cluster::founded(1);
    let mut config = cluster.config("a");
    // Root may give a file to any group; everybody else to a group of its own, which is best another one than it has by itself.
    let own = rustix::process::getegid().as_raw();
    let others = rustix::process::getgroups().unwrap_or_default();
    let other = others.iter().map(|group| group.as_raw()).find(|group| *group != own);
    let group = if rustix::process::geteuid().is_root() { 54_322 } else { other.unwrap_or(own) };
    (config.socket_mode, config.socket_group) = (0o660, Some(UserGroup::Number(group)));
    let paths = [config.socket(), config.admin_socket()];
    let daemon = crate::cluster::start(config.clone()).expect("it starts");
    cluster.daemons.insert("a".to_owned(), daemon);
    let found = paths.each_ref().map(|path| path.metadata().expect("it is there"));
    assert_eq!(found.each_ref().map(|found| found.permissions().mode() & 0o777), [0o660, 0o600]);
    assert_eq!(found[0].gid(), group);
    cluster.kill("a");
    wait_for("both files are gone", || paths.iter().all(|path| !path.exists()));
    config.socket_group = Some(UserGroup::Name("no such group".to_owned()));
    let refused = crate::cluster::start(config).expect_err("there is no such group").to_string();
    assert!(refused.contains("has no group \"no such group\""), "{refused}");
}
