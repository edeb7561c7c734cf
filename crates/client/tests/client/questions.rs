//! Status, and commands of an operator.

use std::thread;
use std::time::Duration;

use doorway_client::{Error, Welcome};
use doorway_core::Fence;
use doorway_protocol::{Ask, Order, Status, Stay, Told};

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
        let Ask::Status { number, section, everywhere } = daemon.next() else {
            panic!("it asks how things stand")
        };
        assert_eq!((section, everywhere), (Some(name("x")), true));
        daemon.tell(&Told::Status { number, status: Box::new(told) });
        let Ask::Break { number, stay } = daemon.next() else { panic!("it breaks") };
        assert_eq!(stay, Stay { section: name("x"), fence: Some(Fence(7)) });
        daemon.tell(&Told::Done { number, sentence: "nobody was inside".to_owned() });
        let Ask::Administer { number, order } = daemon.next() else { panic!("it commands") };
        assert_eq!(order, Order::Reload);
        daemon.tell(&Told::Failed { number, sentence: "the certificate is too old".to_owned() });
        daemon
    });
    assert_eq!(block_on(client.status(Some("x"), true)), Ok(status));
    assert_eq!(
        client.break_section("x", Some(Fence(7))).answer_blocking(),
        Ok("nobody was inside".to_owned())
    );
    let failed = Error::Failed("the certificate is too old".to_owned());
    assert_eq!(block_on(client.order(Order::Reload)), Err(failed));
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
fn a_welcome_says_who_the_daemon_is_and_nothing_is_asked_before() {
    let (client, daemon) = strangers();
    client.introduce("early");
    daemon.0.set_nonblocking(true).expect("a socket");
    let read = std::io::Read::read(&mut &daemon.0, &mut [0]);
    assert_eq!(read.expect_err("nothing").kind(), std::io::ErrorKind::WouldBlock);
    daemon.0.set_nonblocking(false).expect("a socket");
    daemon.welcome();
    let welcome = Welcome { cluster: "test".to_owned(), node: "a".to_owned() };
    assert_eq!(block_on(client.welcome()), Ok(welcome));
    assert_eq!(daemon.next(), Ask::Introduce { label: "early".to_owned() });
}
