//! The slack of a holder that must stop (R31), and the time-to-live of a client (R32).

use doorway_core::{Fence, Ticks};
use doorway_node::{BreakTarget, ClientId, Command, LockCommand, Loss, Reason, RequestId};

use crate::scene::{Asked, Fate, Scene, lock, ms, names, node};

/// The margin of the default times.
const MARGIN: Ticks = ms(100);

fn scene() -> Scene {
    // Heartbeats are frequent, so that a lease returns well within the slack.
    Scene::new("naimi-trehel", 3, 5, |timing| timing.heartbeat = ms(20))
}

/// One inside at the first node, and one who waits there and one at the second.
fn contended(scene: &mut Scene, holder: LockCommand) -> (RequestId, Fence, [RequestId; 2]) {
    let inside = scene.ask(node(0), holder);
    scene.run_for(ms(10));
    let Fate::Inside(fence) = scene.fate(inside) else { panic!("it is in") };
    let waiting = [0, 1].map(|place| scene.ask(node(place), lock(2 + place as u64, 2, &["east"])));
    scene.run_for(ms(10));
    (inside, fence, waiting)
}

/// Goes on until a request is told to stop; tells when, on its node's clock.
fn lost_at(scene: &mut Scene, request: RequestId, why: Loss) -> Ticks {
    step_while(scene, |scene| matches!(scene.fate(request), Fate::Inside(_)));
    assert_eq!(scene.fate(request), Fate::Lost(why));
    let ended = scene.asked[&request].ended.expect("it was told");
    scene.local(node(0), ended)
}

fn step_while(scene: &mut Scene, goes_on: impl Fn(&mut Scene) -> bool) {
    let limit = scene.cluster.now() + ms(10_000);
    while goes_on(scene) {
        scene.step();
        assert!(scene.cluster.now() < limit, "nothing comes of it");
    }
}

/// Runs until a request is freed, exactly a margin after its deadline, which lets the waiter in.
fn is_freed_in_time(scene: &mut Scene, request: RequestId, next: RequestId) {
    step_while(scene, |scene| scene.asked[&request].freed.is_none());
    let Asked { freed, until, .. } = scene.asked[&request].clone();
    let freed = freed.expect("it is freed");
    // A clock that drifts shows the moment, or the tick after it.
    let late = scene.local(node(0), freed) - (until + MARGIN);
    assert!(scene.local(node(0), freed) >= until + MARGIN && late <= Ticks(2), "late by {late}");
    scene.run_for(ms(10));
    let granted = scene.asked[&next].granted.expect("it is in");
    assert!(granted >= freed, "it came in at {granted}, before {freed}");
}

#[test]
fn a_lock_lost_with_the_lease_is_free_at_deadline_plus_margin() {
    let mut scene = scene();
    let (inside, _, [next, _]) = contended(&mut scene, lock(1, 1, &["east"]));
    for peer in [1, 2].map(node) {
        scene.cluster.engine().network_mut().cut(node(0), peer);
    }
    let lost = lost_at(&mut scene, inside, Loss::Lease);
    let until = scene.asked[&inside].until;
    assert!(lost >= until && lost <= until + Ticks(2), "told at {lost}, with a deadline at {until}");
    scene.cluster.heal_network();
    scene.run_for(ms(60));
    let (now, lease) = (scene.cluster.now(), scene.cluster.nodes()[0].look().lease_until);
    assert!(lease > scene.local(node(0), now) + ms(500), "the lease is back");
    assert_eq!((scene.fate(inside), scene.fate(next)), (Fate::Lost(Loss::Lease), Fate::Waiting));
    is_freed_in_time(&mut scene, inside, next);
    assert_eq!(scene.asked[&next].granted, scene.asked[&inside].freed);
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_stopped_or_vanished_client_is_freed_at_once() {
    for is_gone in [false, true] {
        let mut scene = scene();
        let max_hold = Some(ms(50));
        let (inside, fence, [next, _]) =
            contended(&mut scene, LockCommand { max_hold, ..lock(1, 1, &["east"]) });
        lost_at(&mut scene, inside, Loss::MaxHold);
        scene.run_for(ms(50));
        assert_eq!(scene.fate(next), Fate::Waiting);
        let again = scene.ask(node(0), lock(8, 1, &["east"]));
        assert_eq!(scene.fate(again), Fate::Refused(Reason::Reentrant), "it has not left yet");
        scene.cluster.judge_mut().end(inside);
        let release = Command::Release { request: inside, fence };
        scene.tell(node(0), if is_gone { Command::Gone(ClientId(1)) } else { release });
        assert!(matches!(scene.fate(next), Fate::Inside(_)));
        assert_eq!((scene.asked[&inside].freed, scene.wrong()), (None, vec![]));
    }
}

#[test]
fn a_section_in_slack_is_reported_when_the_members_change() {
    let mut scene = scene();
    let (inside, _, _) = contended(&mut scene, lock(1, 1, &["east"]));
    let view = |scene: &Scene| scene.cluster.nodes()[1].look().view.map(|view| view.number);
    let before = view(&scene);
    scene.crash(node(2));
    scene.run_for(ms(1_100));
    let other = scene.ask(node(1), lock(9, 9, &["east"]));
    scene.tell(node(0), Command::Break(BreakTarget { section: names(&["east"])[0].clone(), fence: None }));
    assert_eq!(scene.fate(inside), Fate::Lost(Loss::Broken));
    scene.run_for(ms(500));
    assert_eq!(view(&scene), before.map(|number| number + 1), "the view has changed");
    assert!(scene.cluster.nodes()[1].knows_holder(&names(&["east"])[0]));
    assert_eq!((scene.asked[&inside].freed, scene.fate(other)), (None, Fate::Waiting));
    is_freed_in_time(&mut scene, inside, RequestId(2));
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn an_unreachable_client_keeps_its_section_to_deadline_and_margin() {
    let mut scene = scene();
    let (inside, _, [next, _]) = contended(&mut scene, lock(1, 1, &["east"]));
    scene.run_for(ms(2_000));
    scene.tell(node(0), Command::Unreachable(ClientId(1)));
    let told = scene.asked[&inside].until;
    is_freed_in_time(&mut scene, inside, next);
    assert_eq!(scene.asked[&inside].until, told, "it is told no more");
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn the_other_nodes_wait_for_the_slack_of_a_left_out_node() {
    let mut scene = scene();
    let (inside, _, [_, elsewhere]) = contended(&mut scene, lock(1, 1, &["east"]));
    let leader = scene.cluster.leader().expect("somebody leads");
    assert_ne!(leader, node(0));
    scene.tell(leader, Command::Remove(node(0)));
    let told = lost_at(&mut scene, inside, Loss::LeftOut);
    let Asked { freed, ended, until, .. } = scene.asked[&inside].clone();
    assert_eq!((freed.is_some(), freed), (true, ended), "it is forgotten at once");
    assert!(told + ms(500) < until, "long before its deadline");
    step_while(&mut scene, |scene| scene.fate(elsewhere) == Fate::Waiting);
    let granted = scene.asked[&elsewhere].granted.expect("it is in");
    assert!(scene.local(node(0), granted) >= until + MARGIN);
    assert_eq!(scene.wrong(), ["Removed(1)", "Expelled"], "as was asked for, and nothing is wrong");
}

#[test]
fn a_silent_client_is_freed_a_margin_after_its_time_to_live() {
    let mut scene = scene();
    let ttl = Some(ms(400));
    let (inside, _, [next, _]) = contended(&mut scene, LockCommand { ttl, ..lock(1, 1, &["east"]) });
    let granted = scene.asked[&inside].granted.expect("it is in");
    let deadline = scene.local(node(0), granted) + ms(400);
    let lost = lost_at(&mut scene, inside, Loss::Silent);
    assert_eq!(scene.asked[&inside].until, deadline, "the lease would have let it stay");
    assert!(lost >= deadline && lost <= deadline + Ticks(2), "at {lost}, not at {deadline}");
    // What comes now comes too late.
    scene.tell(node(0), Command::Alive(ClientId(1)));
    is_freed_in_time(&mut scene, inside, next);
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_client_that_gives_signs_of_life_stays_until_it_falls_silent() {
    let mut scene = scene();
    let ttl = Some(ms(400));
    let (inside, _, [next, _]) = contended(&mut scene, LockCommand { ttl, ..lock(1, 1, &["east"]) });
    let mut sign = Ticks(0);
    for _ in 0..30 {
        scene.run_for(ms(133));
        scene.tell(node(0), Command::Alive(ClientId(1)));
        let now = scene.cluster.now();
        sign = scene.local(node(0), now);
        assert_eq!(scene.asked[&inside].until, sign + ms(400), "the earlier one of two deadlines");
    }
    // Signs of life of other clients do not count, nor does a renewal of the lease.
    scene.tell(node(0), Command::Alive(ClientId(2)));
    lost_at(&mut scene, inside, Loss::Silent);
    assert_eq!(scene.asked[&inside].until, sign + ms(400));
    is_freed_in_time(&mut scene, inside, next);
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_long_time_to_live_does_not_move_the_deadline_of_the_lease() {
    let mut scene = scene();
    let ttl = Some(ms(60_000));
    let (inside, _, [next, _]) = contended(&mut scene, LockCommand { ttl, ..lock(1, 1, &["east"]) });
    for peer in [1, 2].map(node) {
        scene.cluster.engine().network_mut().cut(node(0), peer);
    }
    let cut = scene.cluster.now();
    let limit = scene.local(node(0), cut) + ms(900);
    scene.run_for(ms(300));
    scene.tell(node(0), Command::Alive(ClientId(1)));
    let lost = lost_at(&mut scene, inside, Loss::Lease);
    assert!(lost <= limit && scene.asked[&inside].until <= limit, "{lost} {limit}");
    scene.cluster.heal_network();
    is_freed_in_time(&mut scene, inside, next);
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_time_to_live_of_less_than_three_margins_is_refused() {
    let mut scene = scene();
    let asks = [(1, Ticks(0)), (2, ms(300) - Ticks(1)), (3, ms(300))];
    let [zero, short, long] = asks.map(|(number, ttl)| {
        scene.ask(node(0), LockCommand { ttl: Some(ttl), ..lock(number, number, &["east"]) })
    });
    scene.run_for(ms(10));
    let refused = Reason::ShortTtl { shortest: ms(300) };
    assert_eq!([zero, short].map(|request| scene.fate(request)), [Fate::Refused(refused); 2]);
    assert!(matches!(scene.fate(long), Fate::Inside(_)));
    assert_eq!(
        refused.sentence(),
        "its time-to-live must be at least 300 ms: a sign of life is due every third of it, and it and its answer may each be late by the cluster's margin"
    );
    assert_eq!(scene.wrong(), [""; 0]);
}
