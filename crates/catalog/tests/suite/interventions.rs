//! What is decided about single messages happens, and nothing else changes before it does.

use crate::faults::causality;
use crate::laboratory::{correct, run_plain, typed};
use doorway_core::{Channels, Ticks};
use doorway_simulator::{Intervention, Latency, Outcome, Settings};
use doorway_trace::{Event, Header, What};

fn settings(channels: Channels, messages: &[&str]) -> Settings {
    let latency = Latency::Span(typed("uniform:1:30"));
    let messages = messages.iter().map(|word| typed(word)).collect();
    Settings { nodes: 4, entries: 20, latency, channels, messages, trace: true, ..Settings::default() }
}

fn run(channels: Channels, messages: &[&str]) -> Outcome {
    run_plain("ricart-agrawala", &settings(channels, messages))
}

/// The events that send, in order: message K is the K-th.
fn sendings(events: &[Event]) -> Vec<&Event> {
    events.iter().filter(|event| matches!(event.what, What::Send { .. })).collect()
}

/// When the message of this number arrives, each time that it does.
fn arrivals(events: &[Event], message: usize) -> Vec<u64> {
    let sent = sendings(events)[message - 1].id;
    let is_delivery =
        |event: &&Event| event.cause == Some(sent) && matches!(event.what, What::Deliver { .. });
    events.iter().filter(is_delivery).map(|event| event.time.0).collect()
}

fn lines(events: &[Event]) -> String {
    let mut text = Vec::new();
    doorway_trace::write(&mut text, &Header::new("x", 5, 1), events).expect("memory does not fail");
    String::from_utf8(text).expect("JSON is UTF-8")
}

#[test]
fn a_retimed_delivery_changes_only_what_comes_after() {
    let plain = run(Channels::Any, &[]).events();
    let [usual] = arrivals(&plain, 30)[..] else { panic!("it arrives once") };
    for retimed in [usual + 50, usual - 1] {
        let changed = run(Channels::Any, &[&format!("30@{retimed}")]).events();
        assert_eq!(arrivals(&changed, 30), [retimed]);
        let first = usual.min(retimed);
        let before = |events: &[Event]| {
            events.iter().take_while(|event| event.time < Ticks(first)).cloned().collect::<Vec<_>>()
        };
        assert!(before(&plain).len() > 50);
        assert_eq!(before(&plain), before(&changed));
        assert_ne!(lines(&plain), lines(&changed));
    }
}

#[test]
fn a_message_that_is_told_to_arrive_when_it_does_leaves_the_run_as_it_was() {
    for name in correct() {
        let plain = run_plain(name, &settings(Channels::Causal, &[]));
        let message = |number| arrivals(&plain.events(), number).first().map(|at| format!("{number}@{at}"));
        let all: Vec<String> = (1..=sendings(&plain.events()).len()).filter_map(message).collect();
        assert!(all.len() >= 20, "{name}");
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let again = run_plain(name, &settings(Channels::Causal, &all));
        assert_eq!(lines(&plain.events()), lines(&again.events()), "{name}");
        let (report, same) = (plain.report(name, 4, 1), again.report(name, 4, 1));
        assert_eq!(format!("{report:?}"), format!("{same:?}"), "{name}");
    }
}

#[test]
fn a_run_with_a_message_that_is_never_sent_is_the_one_without_it_and_says_so() {
    for name in correct() {
        for channels in [Channels::Fifo, Channels::Causal] {
            let plain = Settings { nodes: 4, entries: 50, channels, ..Settings::default() };
            let messages: Vec<Intervention> =
                ["1000000@5", "999999:lost", "1000000:twice@7"].map(typed).to_vec();
            let decided = run_plain(name, &Settings { messages, ..plain.clone() });
            assert_eq!(decided.never_sent, [999_999, 1_000_000], "{name}");
            assert_eq!(decided.report(name, 4, 1).never_sent, [999_999, 1_000_000], "{name}");
            let plain = run_plain(name, &plain);
            assert_eq!((&plain.never_sent[..], plain.as_expected), (&[][..], decided.as_expected), "{name}");
            assert_eq!(format!("{:?}", plain.measures), format!("{:?}", decided.measures), "{name}");
        }
    }
}

#[test]
fn fifo_channels_stay_fifo_around_a_retimed_message() {
    let came_at_500 = |word| {
        let events = run_plain("lamport", &settings(Channels::Fifo, &[word])).events();
        let sendings = sendings(&events);
        for (place, sent) in sendings.iter().enumerate() {
            let later = (place + 1..sendings.len()).find(|other| is_same_channel(sendings[*other], sent));
            let times = [Some(place), later].map(|place| place.map(|place| arrivals(&events, place + 1)));
            let [first, later] = times.map(|times| times.unwrap_or(vec![u64::MAX]));
            assert!(first.last() <= later.first(), "{word}: {first:?} before {later:?}");
        }
        let at_500 = |message: &usize| arrivals(&events, *message).contains(&500);
        let (late, sent) = ((1..=sendings.len()).filter(at_500), sendings[8]);
        let behind = late.filter(|message| is_same_channel(sendings[*message - 1], sent));
        behind.collect::<Vec<_>>()
    };
    assert_eq!(came_at_500("9@1"), [0_usize; 0]);
    assert_eq!(came_at_500("9@500"), [9, 18, 41, 44]);
    assert_eq!(came_at_500("9:twice@500"), [9, 19, 43, 46]);
}

fn is_same_channel(a: &Event, b: &Event) -> bool {
    let to = |event: &Event| match event.what {
        What::Send { to, .. } => Some(to),
        _ => None,
    };
    (a.node, to(a)) == (b.node, to(b))
}

#[test]
fn causal_channels_stay_causal_around_a_retimed_message() {
    for (name, message) in correct().into_iter().flat_map(|name| (1..=10).map(move |message| (name, message)))
    {
        for word in [format!("{message}@1"), format!("{message}@200")] {
            causality::check(&run_plain(name, &settings(Channels::Causal, &[&word])).events(), 4);
        }
    }
}

#[test]
fn a_message_lost_by_intervention_is_lost_and_the_stall_says_why() {
    let outcome = run(Channels::Fifo, &["2:lost"]);
    assert_eq!((outcome.measures.traffic.lost, arrivals(&outcome.events(), 2).len()), (1, 0));
    let sent = sendings(&outcome.events())[1].id;
    let lost = outcome.log.iter().find(|event| matches!(event.what, What::Lost { .. })).expect("a loss");
    assert_eq!(lost.cause, Some(sent));
    let stall = outcome.stall.expect("a REQUEST is gone for good");
    assert_eq!(stall.lost, ["REQUEST 1->3 (lost by intervention)"]);
}

#[test]
fn a_message_comes_twice_at_the_times_that_were_decided() {
    let outcome = run(Channels::Any, &["2@40", "2:twice@60"]);
    assert_eq!(arrivals(&outcome.events(), 2), [40, 60]);
    assert_eq!(outcome.measures.traffic.duplicated, 1);
}

#[test]
fn an_intervention_is_the_last_word_on_cuts_loss_by_lot_and_retransmission() {
    let mut cut = settings(Channels::Any, &["2@40", "3:twice@50"]);
    cut.faults.partitions = vec![typed("1|2,3,4@0..")];
    let events = run_plain("ricart-agrawala", &cut).events();
    assert_eq!([1, 2, 3].map(|message| arrivals(&events, message)), [vec![], vec![40], vec![50]]);
    let mut lossy = settings(Channels::Any, &["2@40"]);
    lossy.faults.loss = typed("1");
    assert_eq!(arrivals(&run_plain("ricart-agrawala", &lossy).events(), 2), [40]);
    let mut persistent = settings(Channels::Any, &["2:lost", "3:twice@700"]);
    persistent.faults.retransmit = true;
    let events = run_plain("ricart-agrawala", &persistent).events();
    assert_eq!((arrivals(&events, 2).len(), arrivals(&events, 3).len()), (0, 2));
    assert_eq!(arrivals(&events, 3)[1], 700);
}

#[test]
fn nothing_arrives_before_it_is_sent() {
    let events = run(Channels::Any, &["30@0"]).events();
    assert_eq!(arrivals(&events, 30), [sendings(&events)[29].time.0]);
}
