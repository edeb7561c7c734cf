//! Status, and commands of an operator.

use std::thread;
use std::time::Duration;

use doorway_client::{Error, NodeIdentity};
use doorway_core::Fence;
use doorway_protocol::{AdminCommand, BreakTarget, ClientMsg, DaemonMsg, Status};

use crate::daemon::{name, pair, strangers};
use crate::runtime::block_on;

#[test]
fn questions_get_their_own_answers() {
    let (client, daemon) = pair();
    let status = Status {
        cluster: "test".to_owned(),
        algorithm: "raymond".to_owned(),
        node: "a".to_owned(),
        nodes: Vec::new(),
        sections: Vec::new(),
        is_cut: false,
    };
    let told = status.clone();
    let server = thread::spawn(move || {
        let ClientMsg::Status { number, section, everywhere } = daemon.next() else {
            panic!("it asks how things stand")
        };
        assert_eq!((section, everywhere), (Some(name("x")), true));
        daemon.tell(&DaemonMsg::Status { number, status: Box::new(told) });
        let ClientMsg::Break { number, target } = daemon.next() else { panic!("it breaks") };
        assert_eq!(target, BreakTarget { section: name("x"), fence: Some(Fence(7)) });
        daemon.tell(&DaemonMsg::Done { number, sentence: "x was not held".to_owned() });
        let ClientMsg::Administer { number, order } = daemon.next() else { panic!("it commands") };
        assert_eq!(order, AdminCommand::Reload);
        daemon.tell(&DaemonMsg::Failed { number, sentence: "the certificate is too old".to_owned() });
        daemon
    });
    assert_eq!(block_on(client.status(Some("x"), true)), Ok(status));
    assert_eq!(client.break_section("x", Some(Fence(7))).answer_blocking(), Ok("x was not held".to_owned()));
    let failed = Error::Failed("the certificate is too old".to_owned());
    assert_eq!(block_on(client.administer(AdminCommand::Reload)), Err(failed));
    drop(server.join().expect("the daemon"));
    assert_eq!(client.status(None, false).answer_blocking(), Err(Error::Gone));
}

#[test]
fn a_question_does_not_wait_for_ever() {
    let (client, _daemon) = pair();
    let answer = client.status(None, false).within(Duration::from_millis(50)).answer_blocking();
    assert_eq!(answer, Err(Error::Silent));
}

#[test]
fn nothing_is_sent_before_the_welcome() {
    let (client, daemon) = strangers();
    client.introduce("early");
    daemon.0.set_nonblocking(true).expect("a socket");
    let read = std::io::Read::read(&mut &daemon.0, &mut [0]);
    assert_eq!(read.expect_err("nothing").kind(), std::io::ErrorKind::WouldBlock);
    daemon.0.set_nonblocking(false).expect("a socket");
    daemon.welcome();
    let welcome = NodeIdentity { cluster: "test".to_owned(), node: "a".to_owned() };
    assert_eq!(block_on(client.welcome()), Ok(welcome));
    assert_eq!(daemon.next(), ClientMsg::Introduce { label: "early".to_owned() });
}
