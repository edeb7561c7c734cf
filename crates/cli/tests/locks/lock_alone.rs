//! `doorway lock` and a daemon that says what the test wants: exit statuses, deadlines, signals, and the end of processes.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use doorway_client::clock;
use doorway_core::Ticks;
use doorway_protocol::{ClientMsg, DaemonMsg, Loss, NodeStatus, OwnStatus, Reason, Status};
use rustix::process::{Signal, kill_process, test_kill_process};

use crate::scripted;
use crate::scripted::{Daemon, PATIENT, after, end, line, own, pass, process};
use crate::terminal;

#[test]
fn the_status_is_the_commands_and_the_section_is_given_back_by_word() {
    let daemon = Daemon::new("statuses");
    let plain = daemon.socket.with_file_name("plain");
    std::fs::write(&plain, "no program").expect("a file");
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o644)).expect("its owner may");
    let plain = plain.to_string_lossy().into_owned();
    for (command, expected) in [
        (&["true"][..], 0),
        (&["sh", "-c", "exit 7"], 7),
        (&["sh", "-c", "kill -9 $$"], 137),
        (&["sh", "-c", "kill -TERM $$"], 143),
        (&["no-such-command-here"], 127),
        (&[&plain], 126),
    ] {
        let child = daemon.lock(&[&["demo", "--"], command].concat());
        let (mut client, _) = daemon.granted(60_000);
        assert!(client.hears_release(), "{command:?}");
        let (status, _, said) = end(child);
        assert_eq!(status, expected, "{command:?}: {said}");
        assert_eq!(said.lines().count(), usize::from(matches!(expected, 126 | 127)), "{said}");
        assert_eq!(client.hear(), None);
    }
}

#[test]
fn fences_are_passed_on_in_the_order_in_which_the_names_were_typed() {
    let daemon = Daemon::new("fences");
    let child = daemon.lock(&["b,a", "c", "--", "sh", "-c", "echo \"$DOORWAY_FENCE:$DOORWAY_FENCES\""]);
    let (mut client, mut request) = daemon.request();
    request.names.sort();
    client.grant(&request, 60_000);
    assert!(client.hears_release());
    assert_eq!(end(child), (0, "42:b=42\na=41\nc=43\n".to_owned(), String::new()));
}

#[test]
fn what_was_typed_reaches_the_daemon() {
    let daemon = Daemon::new("wishes");
    for (words, patience, max_hold, ttl) in [
        (&["x"][..], None, None, None),
        (&["x", "--wait", "2m"], Some(120_000), None, None),
        (&["x", "--try", "--max-hold", "1h", "--ttl", "10s"], Some(500), Some(3_600_000), Some(10_000)),
    ] {
        let child = daemon.lock(&[words, &["--", "false"]].concat());
        let (mut client, request) = daemon.request();
        let rounded = |ticks: Option<Ticks>| ticks.map(|ticks| ticks.0.div_ceil(100_000) * 100);
        let asked = [request.patience, request.max_hold, request.ttl].map(rounded);
        assert_eq!(asked, [patience, max_hold, ttl], "{words:?}");
        client.say(&DaemonMsg::Refused { number: request.number, why: Reason::TimedOut });
        let (status, out, said) = end(child);
        assert_eq!((status, out.as_str()), (124, ""), "{said}");
        assert!(said.contains("x is not free") || said.contains("x was not free within 2m"), "{said}");
    }
}

#[test]
fn lock_works_when_its_parent_ignores_sigchld() {
    let daemon = Daemon::new("ignored-children");
    let child = daemon.lock_ignoring("CHLD", &["x", "--", "sh", "-c", "exit 7"]);
    let (mut client, _) = daemon.granted(60_000);
    assert!(client.hears_release());
    assert_eq!(end(child), (7, String::new(), String::new()));
}

/// How things stand at a node with a lease that lasts so long.
fn with_lease(lease_left: u64, standing: &str) -> Status {
    let own = OwnStatus {
        standing: standing.to_owned(),
        view: Some(1),
        lease_left: Ticks(lease_left),
        quiet_left: Ticks(0),
        up: Ticks(1),
        clients: 1,
        open: 0,
        waiting: 0,
        entries: 0,
        sent: 0,
        memory: None,
        epoch: None,
        revoked: BTreeMap::new(),
        warnings: Vec::new(),
    };
    let node = NodeStatus {
        name: "a".to_owned(),
        address: String::new(),
        is_member: true,
        is_voter: true,
        is_leader: false,
        own: Some(own),
    };
    Status { nodes: vec![node], ..scripted::nothing() }
}

#[test]
fn a_client_learns_that_its_node_has_no_lease() {
    let daemon = Daemon::new("no-lease");
    let majority = "node a has no lease, as it does not reach a majority of the voters";
    for (words, status, sentence) in [
        (&["x", "--try"][..], with_lease(0, "active"), format!("x cannot be acquired: {majority}")),
        (
            &["x", "--wait", "2m"],
            with_lease(0, "active"),
            format!("x could not be acquired within 2m: {majority}"),
        ),
        (
            &["x", "--try"],
            with_lease(0, "joining"),
            "x cannot be acquired: node a has no lease (joining)".to_owned(),
        ),
        (&["x", "--try"], with_lease(1, "active"), "x is not free".to_owned()),
    ] {
        let child = daemon.lock(&[words, &["--", "true"]].concat());
        let (mut client, request) = daemon.request();
        client.say(&DaemonMsg::Refused { number: request.number, why: Reason::TimedOut });
        let Some(ClientMsg::Status { number, everywhere: false, .. }) = client.hear() else {
            panic!("it asks how things stand")
        };
        client.say(&DaemonMsg::Status { number, status: Box::new(status) });
        assert_eq!(end(child), (124, String::new(), format!("doorway: {sentence}\n")));
    }
}

#[test]
fn a_daemon_with_another_clock_is_an_own_failure() {
    let daemon = Daemon::new("another-clock");
    let child = daemon.lock(&["x", "--", "true"]);
    daemon.stranger().welcome(after(1_000_000));
    let (status, out, said) = end(child);
    assert_eq!((status, out.as_str(), said.lines().count()), (125, "", 1), "{said}");
    assert!(said.contains("cannot be used: its clock is ") && said.contains("time namespace"), "{said}");
}

#[test]
fn other_refusals_and_missing_daemons_are_own_failures() {
    let daemon = Daemon::new("failures");
    let child = daemon.lock(&["x", "--", "true"]);
    let (mut client, request) = daemon.request();
    client.say(&DaemonMsg::Refused { number: request.number, why: Reason::TooMany });
    let (status, _, said) = end(child);
    assert!(status == 125 && said.contains("has reached its limit of requests"), "{status} {said}");
    let child = daemon.lock(&["x", "--socket", "no-such-socket", "--", "true"]);
    let (status, _, said) = end(child);
    assert!(status == 125 && said.contains("no daemon listens at no-such-socket"), "{status} {said}");
}

/// A command that says when it is asked to stop, and does not stop.
const STUBBORN: &[&str] = &["sh", "-c", "trap 'echo asked' TERM; echo $$; while :; do sleep 0.01; done"];

#[test]
fn a_hung_daemon_does_not_keep_a_command_inside_beyond_the_deadline() {
    let daemon = Daemon::new("hung");
    let mut child = daemon.lock(&[&["x", "--margin", "300ms", "--"], STUBBORN].concat());
    let (mut client, _) = daemon.granted(600);
    let deadline = after(600);
    let command = process(&line(&mut child));
    assert_eq!(line(&mut child), "asked", "before it is stopped");
    assert!(clock::now() < deadline && test_kill_process(command).is_ok());
    let (status, _, said) = end(child);
    assert!(clock::now() + Ticks(50_000) >= deadline);
    assert_eq!(status, 122, "{said}");
    let sentence =
        "doorway: the lock on x is lost, as the daemon does not renew it: the command is told to stop\n";
    assert!(said.contains(sentence), "{said}");
    // It may send a release if no process is left at that moment; in any case nothing holds the connection any more.
    while let Some(ask) = client.hear() {
        assert!(matches!(ask, ClientMsg::Release { .. } | ClientMsg::Status { .. }), "{ask:?}");
    }
}

#[test]
fn a_disobedient_child_is_killed_at_the_deadline() {
    // One is of the command's own group, one is not; the command itself obeys at once.
    let stubborn = "trap \"\" TERM; echo $$; while :; do sleep 0.01; done";
    let script = format!("sh -c '{stubborn}' & setsid sh -c '{stubborn}' & wait");
    let daemon = Daemon::new("group");
    let mut child = daemon.lock(&["x", "--margin", "300ms", "--", "sh", "-c", &script]);
    let _granted = daemon.granted(900);
    let left = [process(&line(&mut child)), process(&line(&mut child))];
    let (status, _, said) = end(child);
    assert_eq!(status, 122, "{said}");
    assert!(left.iter().all(|process| test_kill_process(*process).is_err()), "nothing of it is left");
}

#[test]
fn a_dead_daemon_leaves_the_command_its_time_and_no_more() {
    let daemon = Daemon::new("dead");
    let child = daemon.lock(&["x", "--", "sh", "-c", "read line; exit 3"]);
    let (client, _) = daemon.granted(60_000);
    drop(client);
    let mut child = child;
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("it reads");
    assert_eq!(end(child), (3, String::new(), String::new()), "it was quick enough");
    let child = daemon.lock(&["x", "--", "sleep", "1000"]);
    drop(daemon.granted(500));
    let (status, _, said) = end(child);
    assert!(status == 122 && said.contains("as the daemon has ended"), "{status} {said}");
}

#[test]
fn a_lost_connection_does_not_move_the_deadline() {
    let daemon = Daemon::new("hangs-up");
    let mut child = daemon.lock(&[&["x", "--on-lost", "kill", "--margin", "300ms", "--"], STUBBORN].concat());
    // The deadline, or a moment before it.
    let deadline = after(900);
    let (client, _) = daemon.granted(900);
    let command = process(&line(&mut child));
    drop(client);
    assert_eq!(line(&mut child), "asked", "a margin before the deadline");
    assert!(clock::now() + Ticks(300_000) >= deadline, "and not as soon as nobody is there");
    let (status, _, said) = end(child);
    assert!(clock::now() >= deadline && test_kill_process(command).is_err());
    let sentence = "doorway: the lock on x is lost, as the daemon has ended: the command is told to stop\n";
    assert!(status == 122 && said.contains(sentence), "{status} {said}");
}

#[test]
fn a_lock_resumed_past_its_deadline_kills_its_command_at_once() {
    let daemon = Daemon::new("stopped");
    let mut child = daemon.lock(&[&["x", "--margin", "100ms", "--"], STUBBORN].concat());
    let (_client, _) = daemon.granted(2_000);
    // The deadline, or a moment after it.
    let deadline = after(2_000);
    let command = process(&line(&mut child));
    kill_process(own(&child), Signal::STOP).expect("it lives");
    pass(deadline);
    assert!(test_kill_process(command).is_ok(), "nobody is there to stop it: the fence protects");
    kill_process(own(&child), Signal::CONT).expect("it lives");
    let (status, out, said) = end(child);
    assert!(test_kill_process(command).is_err());
    assert_eq!(
        (status, out.as_str(), said.as_str()),
        (
            122,
            "",
            "doorway: the lock on x is lost, as the daemon does not renew it: the command was stopped\n"
        ),
        "it is not even asked"
    );
}

#[test]
fn what_was_said_in_time_counts_for_who_was_stopped_while_waiting() {
    let daemon = Daemon::new("stopped-waiting");
    let child = daemon.lock(&["x", "--wait", "100ms", "--", "sh", "-c", "exit 3"]);
    let (mut client, request) = daemon.request();
    kill_process(own(&child), Signal::STOP).expect("it lives");
    client.grant(&request, 200);
    client.say(&DaemonMsg::Renewed { number: request.number, until: after(60_000) });
    // Its patience, half a second more, and the first deadline are over by then.
    pass(after(700));
    kill_process(own(&child), Signal::CONT).expect("it lives");
    assert!(client.hears_release());
    assert_eq!(end(child), (3, String::new(), String::new()));
}

#[test]
fn renewals_move_the_deadline() {
    let daemon = Daemon::new("renewals");
    let mut child = daemon.lock(&["x", "--", "sh", "-c", "echo in; read line; exit 3"]);
    let (mut client, request) = daemon.granted(800);
    let first = after(800);
    assert_eq!(line(&mut child), "in");
    client.say(&DaemonMsg::Renewed { number: request.number, until: after(60_000) });
    pass(first + Ticks(50_000));
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("it still runs");
    assert!(client.hears_release());
    assert_eq!(end(child).0, 3);
}

#[test]
fn a_grant_at_the_end_of_a_lease_is_renewed_before_the_start() {
    let daemon = Daemon::new("late");
    let child = daemon.lock(&["x", "--margin", "5s", "--", "true"]);
    let (mut client, request) = daemon.granted(4_000);
    client.say(&DaemonMsg::Renewed { number: request.number, until: after(60_000) });
    assert!(client.hears_release());
    assert_eq!(end(child).0, 0);
    let child = daemon.lock(&["x", "--margin", "5s", "--", "true"]);
    let (_client, _) = daemon.granted(100);
    let (status, _, said) = end(child);
    assert_eq!(
        (status, said.as_str()),
        (125, "doorway: --margin 5s is longer than a grant is valid: give less\n")
    );
}

#[test]
fn a_lost_lock_stops_the_command_at_once() {
    let daemon = Daemon::new("lost");
    let mut child = daemon.lock(&[&["x", "--"], STUBBORN].concat());
    let (mut client, request) = daemon.granted(60_000);
    line(&mut child);
    client.say(&DaemonMsg::Lost { number: request.number, why: Loss::LeftOut });
    let (status, _, said) = end(child);
    assert!(status == 122 && said.contains("the other nodes left this one out of their view"), "{said}");
}

#[test]
fn a_broken_lock_leaves_the_command_time_until_the_deadline() {
    let daemon = Daemon::new("broken");
    let script = "trap 'echo asked; read line; exit 3' TERM; echo in; while :; do sleep 0.01; done";
    let mut child = daemon.lock(&["x", "--", "sh", "-c", script]);
    let (mut client, request) = daemon.granted(60_000);
    assert_eq!(line(&mut child), "in");
    client.say(&DaemonMsg::Lost { number: request.number, why: Loss::Broken });
    assert_eq!(line(&mut child), "asked");
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("it still runs");
    assert!(client.hears_release(), "it says that it has left");
    let (status, _, said) = end(child);
    assert!(status == 122 && said.contains("an operator broke the lock"), "{status} {said}");
}

#[test]
fn on_lost_signal_asks_and_waits_and_ignore_only_says_it() {
    let daemon = Daemon::new("on-lost");
    let mut child = daemon.lock(&[&["x", "--on-lost", "signal", "--"][..], PATIENT].concat());
    let (mut client, request) = daemon.granted(60_000);
    assert_eq!(line(&mut child), "in");
    client.say(&DaemonMsg::Lost { number: request.number, why: Loss::Lease });
    assert_eq!(line(&mut child), "asked");
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("it still runs");
    assert_eq!(end(child).0, 122, "it ended in its own time, without the lock");

    let mut child = daemon.lock(&[&["x", "--on-lost", "ignore", "--"][..], PATIENT].concat());
    let (client, _) = daemon.granted(400);
    let deadline = after(400);
    assert_eq!(line(&mut child), "in");
    pass(deadline);
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("it still runs");
    let (status, out, said) = end(child);
    assert_eq!((status, out.as_str()), (3, ""), "{said}");
    assert!(said.ends_with("the command continues without the lock\n"), "{said}");
    drop(client);
}

#[test]
fn the_section_is_not_free_while_anything_of_the_command_lives() {
    let daemon = Daemon::new("grandchild");
    let mut child = daemon.lock(&["x", "--", "sh", "-c", "sleep 1000 >&- 2>&- & echo $!"]);
    let (mut client, request) = daemon.granted(60_000);
    let grandchild = process(&line(&mut child));
    let (status, _, _) = end(child);
    assert_eq!(status, 0);
    assert!(test_kill_process(grandchild).is_ok(), "it lives on");
    client.say(&DaemonMsg::Renewed { number: request.number, until: after(60_000) });
    let killed = clock::now();
    kill_process(grandchild, Signal::KILL).expect("it lives");
    assert_eq!(client.hear(), None, "no word, and then the end of the connection");
    assert!(clock::now() < killed + Ticks(1_000_000));
}

#[test]
fn a_command_dies_with_its_watcher_even_if_it_ignores_signals() {
    let daemon = Daemon::new("watcher");
    let mut child =
        daemon.lock(&["x", "--", "sh", "-c", "trap '' TERM INT HUP; echo $$; while :; do sleep 0.01; done"]);
    let (mut client, _) = daemon.granted(60_000);
    let command = process(&line(&mut child));
    kill_process(own(&child), Signal::KILL).expect("it lives");
    assert_eq!(client.hear(), None);
    let late = after(30_000);
    while test_kill_process(command).is_ok() {
        assert!(clock::now() < late, "it lives on");
        std::thread::yield_now();
    }
    child.wait().expect("it has ended");
}

#[test]
fn signals_are_passed_on_to_the_whole_group() {
    let daemon = Daemon::new("signals");
    let script =
        "trap : TERM; sh -c 'trap \"exit 4\" TERM; echo in; while :; do sleep 0.01; done' & wait $!; wait $!";
    let mut child = daemon.lock(&["x", "--", "sh", "-c", script]);
    let (mut client, _) = daemon.granted(60_000);
    assert_eq!(line(&mut child), "in");
    kill_process(own(&child), Signal::TERM).expect("it lives");
    let is_released = client.hears_release();
    assert_eq!((end(child).0, is_released), (4, true));
}

#[test]
fn a_signal_while_waiting_withdraws_the_wish() {
    let daemon = Daemon::new("withdrawn");
    let child = daemon.lock(&["x", "--", "true"]);
    let (mut client, _) = daemon.request();
    kill_process(own(&child), Signal::INT).expect("it lives");
    assert_eq!(client.hear(), None);
    assert_eq!(end(child), (130, String::new(), String::new()));
}

#[test]
fn a_wish_survives_the_restart_of_its_daemon() {
    let daemon = Daemon::new("restart");
    let child = daemon.lock(&["x", "--wait", "20s", "--", "true"]);
    drop(daemon.request());
    let (mut client, request) = daemon.request();
    client.say(&DaemonMsg::Refused { number: request.number, why: Reason::Leaving });
    let (mut client, request) = daemon.granted(60_000);
    assert!(request.patience < Some(Ticks(20_000_000)));
    assert!(client.hears_release());
    assert_eq!(end(child), (0, String::new(), String::new()));
}

#[test]
fn the_daemon_learns_the_command_without_its_arguments() {
    let daemon = Daemon::new("label");
    for (words, label) in [(&["x"][..], "env"), (&["x", "--label", "the nightly job"], "the nightly job")] {
        let child = daemon.lock(&[words, &["--", "/usr/bin/env", "PASSWORD=x", "true"]].concat());
        assert_eq!(daemon.client().hear(), Some(ClientMsg::Introduce { label: label.to_owned() }));
        kill_process(own(&child), Signal::KILL).expect("it lives");
        end(child);
    }
}

#[test]
fn bad_usage_is_refused_in_one_sentence() {
    for (words, part) in [
        ("lock", "NAME"),
        ("lock x", "COMMAND"),
        ("lock x true", "COMMAND"),
        ("lock x,x -- true", "x is named twice"),
        ("lock x --try --wait 1s -- true", "cannot be used with"),
        ("lock x --wait soon -- true", "--wait: \"soon\" is not a duration"),
        ("lock x --wait 0s -- true", "--try does not wait"),
        ("lock x --max-hold 0ms -- true", "--max-hold must be longer than 0s"),
        ("lock x --ttl 0s -- true", "--ttl must be longer than 0s"),
        ("lock x --ttl 599ms --margin 200ms -- true", "--ttl 599ms is too short for --margin 200ms"),
        ("lock x --ttl 599ms --margin 200ms -- true", "give at least 600ms"),
        (
            "lock x --ttl 10s --max-hold 10s -- true",
            "--ttl 10s has no effect, because --max-hold 10s ends earlier",
        ),
        ("lock x --on-lost dance -- true", "kill, signal, ignore"),
        ("lock x --socket s --node a -- true", "cannot be used with"),
        ("status a b", "unexpected argument"),
        ("status --ready x", "cannot be used with"),
        ("break x --socket no-such-socket", "pass --yes"),
    ] {
        let sentence = terminal::refused(words);
        assert!(sentence.contains(part), "{words}: {sentence}");
    }
    let long = terminal::refused(&format!("lock x --label {} -- true", "y".repeat(100_000)));
    assert!(long.contains("--label takes a few words, at most 200 bytes, not 100000"), "{long}");
}

#[test]
fn a_verb_that_finds_no_daemon_says_so_and_exits_1() {
    for words in ["status", "status x --json", "break x --yes", "cluster remove d"] {
        let words: Vec<&str> = words.split(' ').chain(["--socket", "no-such-socket"]).collect();
        let output = terminal::doorway_with(&words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        assert!(said.contains("no daemon listens at no-such-socket"), "{words:?}: {said}");
        assert!(output.stdout.is_empty());
    }
}
