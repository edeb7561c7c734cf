//! Changes of the network during a run: cuts, loss, duplication and latency.

use doorway_core::Channels;
use doorway_simulator::{Engine, Latency, Probability, Span};

use crate::probe::{A, B, C, Do, Probe, probes, run_to, seen};
use crate::typed;

fn certain() -> Probability {
    Probability::new(1.0).expect("from 0 to 1")
}

#[test]
fn a_cut_loses_messages_in_its_direction_while_it_lasts() {
    let mut engine = probes(|_| {});
    let send_at = |engine: &mut Engine<Probe>, times: &[u64]| {
        for &time in times {
            run_to(engine, time);
            engine.command(A, vec![Do::Send(1, time as u32), Do::Send(2, time as u32)]);
            engine.command(B, vec![Do::Send(0, time as u32)]);
        }
    };
    // Each message takes ten ticks, and the cut lasts from 12 to 22.
    send_at(&mut engine, &[0, 5, 10]);
    run_to(&mut engine, 12);
    engine.network_mut().cut(A, B);
    send_at(&mut engine, &[15, 20]);
    run_to(&mut engine, 22);
    engine.network_mut().heal(A, B);
    send_at(&mut engine, &[25, 30]);
    run_to(&mut engine, 100);
    assert_eq!(seen(&engine, B), [(10, "0 from 1"), (35, "25 from 1"), (40, "30 from 1")]);
    assert_eq!((seen(&engine, A).len(), seen(&engine, C).len(), engine.traffic().lost), (7, 7, 4));
}

#[test]
fn all_links_are_healed_at_once() {
    let mut engine = probes(|_| {});
    let network = engine.network_mut();
    network.cut(A, B);
    network.cut(B, A);
    network.slow_down(A, C, Span::Constant(70));
    network.heal_all();
    engine.command(A, vec![Do::SendBoth(1)]);
    run_to(&mut engine, 20);
    assert_eq!((seen(&engine, B), seen(&engine, C)), (vec![(10, "1 from 1")], vec![(10, "1 from 1")]));
}

#[test]
fn loss_and_duplication_can_be_switched_on_and_off() {
    let mut engine = probes(|_| {});
    let none = Probability::default();
    for (time, loss, duplication) in [(0, certain(), none), (20, none, certain()), (40, none, none)] {
        run_to(&mut engine, time);
        engine.network_mut().set_loss(loss);
        engine.network_mut().set_duplication(duplication);
        engine.command(A, vec![Do::Send(1, time as u32)]);
    }
    run_to(&mut engine, 100);
    assert_eq!(seen(&engine, B), [(30, "20 from 1"), (30, "20 from 1"), (50, "40 from 1")]);
    assert_eq!((engine.traffic().lost, engine.traffic().duplicated), (1, 1));
}

#[test]
fn a_faster_network_reorders_only_unordered_channels() {
    let arrivals = |channels| {
        let mut engine = probes(|settings| settings.channels = channels);
        engine.command(A, vec![Do::Send(1, 1), Do::Send(2, 1)]);
        engine.network_mut().slow_down(A, C, Span::Constant(30));
        engine.network_mut().set_latency(Span::Constant(2));
        engine.command(A, vec![Do::Send(1, 2), Do::Send(2, 2)]);
        engine.network_mut().heal_all();
        engine.command(A, vec![Do::Send(2, 3)]);
        run_to(&mut engine, 100);
        [B, C].map(|node| engine.machines()[node.index()].seen.clone())
    };
    let told = |seen: &[(u64, &str)]| seen.iter().map(|(time, what)| (*time, (*what).to_owned())).collect();
    let overtaken: [Vec<(u64, String)>; 2] = [
        told(&[(2, "2 from 1"), (10, "1 from 1")]),
        told(&[(2, "3 from 1"), (10, "1 from 1"), (30, "2 from 1")]),
    ];
    assert_eq!(arrivals(Channels::Any), overtaken);
    let in_order: [Vec<(u64, String)>; 2] = [
        told(&[(10, "1 from 1"), (10, "2 from 1")]),
        told(&[(10, "1 from 1"), (30, "2 from 1"), (30, "3 from 1")]),
    ];
    assert_eq!(arrivals(Channels::Fifo), in_order);
    assert_eq!(arrivals(Channels::Causal), in_order);
}

/// Applies random changes of every kind to a network.
fn stormy(seed: u64) -> Engine<Probe> {
    let mut engine = probes(|settings| {
        settings.seed = seed;
        settings.channels = Channels::Any;
        settings.latency = Latency::Span(typed("uniform:1:9"));
    });
    engine.network_mut().set_loss(typed("0.2"));
    engine.network_mut().set_duplication(typed("0.2"));
    for time in 0..300 {
        run_to(&mut engine, time);
        match time % 60 {
            10 => engine.network_mut().cut(A, B),
            20 => engine.network_mut().set_latency(Span::Exponential(20)),
            30 => engine.network_mut().slow_down(A, C, Span::Uniform(40, 80)),
            40 => engine.network_mut().heal_all(),
            _ => {}
        }
        engine.command(A, vec![Do::SendBoth(time as u32)]);
    }
    run_to(&mut engine, 2_000);
    assert_eq!(engine.next_time(), None, "everything is over");
    engine
}

#[test]
fn a_changing_network_is_deterministic() {
    let [one, again, other] = [1, 1, 2].map(stormy);
    let counts =
        |engine: &Engine<Probe>| (seen(engine, B).len(), seen(engine, C).len(), engine.traffic().lost);
    assert_eq!((seen(&one, B), seen(&one, C)), (seen(&again, B), seen(&again, C)));
    assert_ne!(seen(&one, B), seen(&other, B));
    assert_eq!(
        [counts(&one), counts(&other)],
        [(96, 295, 287), (84, 278, 303)],
        "numbers that must be seen for ever"
    );
}
