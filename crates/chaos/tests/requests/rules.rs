//! The rules of a request, one by one.

use doorway_chaos::ClusterEvent;
use doorway_core::{Fence, Ticks};
use doorway_node::node::Standing;
use doorway_node::{Command, LockCommand, Loss, Notice, Reason, RequestId};

use crate::scene::{Fate, Scene, lock, ms, names, node};

fn scene(nodes: usize) -> Scene {
    Scene::new("carvalho-roucairol", nodes, 7, |_| {})
}

/// A request of a client that wants to learn of waiters.
fn curious(lock: LockCommand) -> LockCommand {
    LockCommand { tell_if_wanted: true, ..lock }
}

fn patient(lock: LockCommand, patience: Ticks) -> LockCommand {
    LockCommand { patience: Some(patience), ..lock }
}

/// A client inside, asked for at a node that gets it within a few messages.
fn enter(scene: &mut Scene, place: usize, lock: LockCommand) -> RequestId {
    let request = scene.ask(node(place), lock);
    scene.run_for(ms(10));
    assert!(matches!(scene.fate(request), Fate::Inside(_)));
    request
}

#[test]
fn a_client_cannot_request_a_section_twice() {
    let mut scene = scene(3);
    enter(&mut scene, 0, lock(1, 1, &["east"]));
    let waiting = scene.ask(node(0), lock(2, 2, &["east", "west"]));
    let again = [(3, 1, vec!["east"]), (4, 1, vec!["north", "east"]), (5, 2, vec!["west"])];
    for (request, client, sections) in again {
        let refused = scene.ask(node(0), lock(request, client, &sections));
        assert_eq!(scene.fate(refused), Fate::Refused(Reason::Reentrant));
    }
    let other = scene.ask(node(0), lock(6, 1, &["north"]));
    scene.run_for(ms(10));
    assert!(matches!(scene.fate(other), Fate::Inside(_)), "another section is no second entry");
    scene.leave(RequestId(1));
    assert_eq!(scene.fate(waiting), Fate::Waiting, "one section of two is not enough");
    scene.run_for(ms(10));
    assert!(matches!(scene.fate(waiting), Fate::Inside(_)));
    let after = scene.ask(node(0), lock(7, 1, &["south"]));
    scene.run_for(ms(10));
    assert!(matches!(scene.fate(after), Fate::Inside(_)));
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_request_names_1_to_64_sections_each_of_them_once() {
    let mut scene = scene(3);
    let many: Vec<String> = (0..65).map(|number| format!("section-{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (request, sections) in [(1, &[][..]), (2, &["east", "west", "east"]), (3, &many)] {
        let refused = scene.ask(node(0), lock(request, 1, sections));
        assert_eq!(scene.fate(refused), Fate::Refused(Reason::BadNames));
    }
    assert_eq!(scene.open(), [0, 0, 0], "what is refused opens nothing");
    let all = scene.ask(node(0), lock(4, 1, &many[..64]));
    scene.run_for(ms(1_000));
    assert!(matches!(scene.fate(all), Fate::Inside(_)));
    assert_eq!(scene.asked[&all].fences.len(), 64);
}

#[test]
fn a_request_number_in_use_is_refused() {
    let mut scene = scene(3);
    let first = enter(&mut scene, 0, lock(1, 1, &["east"]));
    scene.cluster.command(node(0), Command::Lock(lock(1, 2, &["west"])));
    let now = scene.cluster.now();
    let ClusterEvent::Notice(_, notice) = scene.cluster.next(now) else { panic!("it is answered at once") };
    assert_eq!(notice, Notice::Refused { request: RequestId(1), why: Reason::BadNumber });
    scene.run_for(ms(100));
    assert!(matches!(scene.fate(first), Fate::Inside(_)));
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_leaving_node_refuses_waiters_and_waits_for_its_holders() {
    let mut scene = scene(3);
    let inside = enter(&mut scene, 0, lock(1, 1, &["east"]));
    let waiting = scene.ask(node(0), lock(2, 2, &["east"]));
    let elsewhere = scene.ask(node(1), lock(3, 3, &["east"]));
    scene.tell(node(0), Command::Leave { patience: ms(300) });
    assert_eq!(scene.fate(waiting), Fate::Refused(Reason::Leaving));
    let late = scene.ask(node(0), lock(4, 4, &["west"]));
    assert_eq!(scene.fate(late), Fate::Refused(Reason::Leaving));
    scene.run_for(ms(290));
    let Fate::Inside(fence) = scene.fate(inside) else { panic!("it is in") };
    scene.run_for(ms(15));
    assert_eq!(scene.fate(inside), Fate::Lost(Loss::Leaving));
    scene.run_for(ms(100));
    assert_eq!(scene.fate(elsewhere), Fate::Waiting, "one that was told has until its deadline to leave");
    scene.cluster.judge_mut().end(inside);
    scene.tell(node(0), Command::Release { request: RequestId(1), fence });
    scene.run_for(ms(100));
    assert!(matches!(scene.fate(elsewhere), Fate::Inside(_)), "a node that leaves in peace costs no lease");
    scene.run_for(ms(1_000));
    let over = scene.ask(node(0), lock(5, 5, &["west"]));
    assert_eq!(scene.fate(over), Fate::Refused(Reason::Leaving));
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_late_release_with_an_old_fence_frees_no_holder() {
    let mut scene = scene(3);
    let first = enter(&mut scene, 0, LockCommand { max_hold: Some(ms(50)), ..lock(1, 1, &["east"]) });
    let Fate::Inside(old) = scene.fate(first) else { panic!("it is in") };
    let second = scene.ask(node(0), lock(2, 2, &["east"]));
    let third = scene.ask(node(1), lock(3, 3, &["east"]));
    scene.run_for(ms(60));
    assert_eq!((scene.fate(first), scene.fate(second)), (Fate::Lost(Loss::MaxHold), Fate::Waiting));
    scene.run_for(ms(100));
    let Fate::Inside(new) = scene.fate(second) else { panic!("the next one here is in") };
    assert!(new > old);
    for (request, fence) in [(first, old), (second, old), (first, new), (second, Fence(0)), (third, new)] {
        scene.tell(node(0), Command::Release { request, fence });
        scene.run_for(ms(20));
        assert_eq!((scene.fate(second), scene.fate(third)), (Fate::Inside(new), Fate::Waiting));
    }
    scene.leave(second);
    scene.run_for(ms(10));
    assert!(matches!(scene.fate(third), Fate::Inside(fence) if fence > new));
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_holder_learns_at_once_of_a_waiter_at_its_own_node() {
    let mut scene = scene(3);
    let first = enter(&mut scene, 0, curious(lock(1, 1, &["east"])));
    let silent = enter(&mut scene, 0, lock(2, 2, &["west"]));
    scene.run_for(ms(500));
    assert_eq!(scene.asked[&first].wanted, []);
    scene.ask(node(0), lock(3, 3, &["west", "east"]));
    let told = scene.cluster.now();
    assert_eq!(scene.asked[&first].wanted, [(told, names(&["east"])[0].clone())]);
    scene.run_for(ms(500));
    scene.ask(node(0), lock(4, 4, &["west"]));
    assert_eq!(scene.asked[&silent].wanted, [], "who does not want to know is not told");
}

#[test]
fn a_holder_learns_on_entry_of_waiters_at_its_node() {
    let mut scene = scene(3);
    enter(&mut scene, 0, lock(1, 1, &["east"]));
    let second = scene.ask(node(0), curious(lock(2, 2, &["east"])));
    scene.ask(node(0), lock(3, 3, &["east"]));
    scene.run_for(ms(1_000));
    scene.leave(RequestId(1));
    let asked = &scene.asked[&second];
    assert_eq!(asked.wanted, [(asked.granted.expect("it is in"), names(&["east"])[0].clone())]);
}

#[test]
fn a_holder_learns_repeatedly_of_a_waiter_at_another_node() {
    let mut scene = scene(3);
    let first = enter(&mut scene, 0, curious(lock(1, 1, &["east"])));
    scene.ask(node(2), lock(2, 2, &["east"]));
    let nudge = scene.cluster.design().timing.nudge;
    scene.run_for(nudge - ms(1));
    assert_eq!(scene.asked[&first].wanted, []);
    scene.run_for(ms(5));
    assert_eq!(scene.asked[&first].wanted.len(), 1);
    scene.run_for(ms(100));
    assert_eq!(scene.asked[&first].wanted.len(), 2, "after twice the time again");
}

#[test]
fn a_try_is_answered_at_once_and_brings_the_section_near() {
    let mut scene = scene(3);
    let far = scene.ask(node(1), patient(lock(1, 1, &["east"]), Ticks(0)));
    assert_eq!(scene.fate(far), Fate::Refused(Reason::TimedOut), "it takes messages to know");
    scene.run_for(ms(10));
    let near = scene.ask(node(1), patient(lock(2, 1, &["east"]), Ticks(0)));
    assert!(matches!(scene.fate(near), Fate::Inside(_)), "those messages were not in vain");
    let taken = scene.ask(node(1), patient(lock(3, 2, &["east"]), Ticks(0)));
    assert_eq!(scene.fate(taken), Fate::Refused(Reason::TimedOut));
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_patience_and_a_stay_beyond_the_end_of_time_are_for_ever() {
    let mut scene = scene(3);
    let for_ever = Some(Ticks(u64::MAX));
    let endless = LockCommand { patience: for_ever, max_hold: for_ever, ..lock(1, 1, &["east"]) };
    let first = enter(&mut scene, 0, endless);
    let second = scene.ask(node(1), patient(lock(2, 2, &["east"]), Ticks(u64::MAX)));
    scene.run_for(ms(20_000));
    assert!(matches!(scene.fate(first), Fate::Inside(_)));
    assert_eq!(scene.fate(second), Fate::Waiting);
}

#[test]
fn giving_up_the_second_section_returns_the_first_at_once() {
    let mut scene = scene(3);
    enter(&mut scene, 0, lock(1, 1, &["west"]));
    let half = scene.ask(node(1), lock(2, 2, &["west", "east"]));
    scene.run_for(ms(10));
    let third = scene.ask(node(2), lock(3, 3, &["east"]));
    scene.run_for(ms(500));
    assert_eq!((scene.fate(half), scene.fate(third)), (Fate::Waiting, Fate::Waiting));
    scene.cancel(half);
    scene.run_for(ms(5));
    assert!(matches!(scene.fate(third), Fate::Inside(_)));
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn who_gives_up_while_the_view_changes_leaves_nothing_open() {
    let mut scene = scene(3);
    scene.crash(node(2));
    scene.stay = Some(ms(1));
    let alone = [0, 1].map(|place| scene.ask(node(place), lock(place as u64, 1, &[["east", "west"][place]])));
    let is_changing =
        |scene: &Scene, place: usize| scene.cluster.nodes()[place].look().standing == Standing::Limbo;
    // A node that learns of the view later may have all reports by then, and install it in one step.
    while !(is_changing(&scene, 0) || is_changing(&scene, 1)) {
        scene.step();
        assert!(scene.cluster.now() < ms(6_000), "the view does not change");
    }
    let first = alone[usize::from(is_changing(&scene, 1))];
    assert_eq!(scene.fate(first), Fate::Waiting, "it needs a word of the one that crashed");
    scene.cancel(first);
    scene.run_for(ms(12_000));
    assert_eq!(scene.open(), [0, 0]);
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_section_kept_for_a_quitter_goes_to_another_node_at_once() {
    let mut scene = scene(3);
    let joiner = node(2);
    scene.tell(joiner, Command::Leave { patience: ms(1) });
    scene.run_for(ms(100));
    scene.crash(joiner);
    scene.cluster.restart(joiner, false);
    while scene.cluster.nodes()[2].look().standing != Standing::Active {
        scene.step();
    }
    let now = scene.cluster.now();
    let local = scene.cluster.engine().local_time(joiner, now);
    assert!(scene.cluster.nodes()[2].look().quiet_until > local + ms(100), "it may let nobody in yet");
    let held = scene.ask(joiner, lock(1, 1, &["east"]));
    scene.run_for(ms(10));
    let other = scene.ask(node(0), lock(2, 2, &["east"]));
    scene.run_for(ms(50));
    assert_eq!((scene.fate(held), scene.fate(other)), (Fate::Waiting, Fate::Waiting));
    scene.cancel(held);
    scene.run_for(ms(2));
    assert!(matches!(scene.fate(other), Fate::Inside(_)), "one message later");
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_node_passes_a_section_on_after_16_clients_of_its_own() {
    for algorithm in ["carvalho-roucairol", "naimi-trehel", "central", "ricart-agrawala", "token-ring"] {
        let mut scene = Scene::new(algorithm, 2, 11, |_| {});
        scene.stay = Some(ms(5));
        for number in 1..=100 {
            scene.ask(node(0), lock(number, number, &["east"]));
        }
        scene.run_for(ms(20));
        let other = scene.ask(node(1), lock(1_000, 1_000, &["east"]));
        scene.run_for(ms(2_000));
        let at = scene.entered.iter().position(|request| *request == other).expect("it was served");
        assert_eq!(at, 16, "{algorithm}");
        assert_eq!((scene.entered.len(), scene.wrong()), (101, vec![]), "{algorithm}");
    }
}
