//! Breaking a section, and looking at it.

use doorway_core::{Fence, Ticks};
use doorway_node::node::Standing;
use doorway_node::{BreakTarget, ClientId, Command, HolderSummary, Loss, RequestId, WaiterSummary};

use crate::scene::{Fate, Scene, lock, ms, names, node};

const SEED: u64 = 7;

fn scene() -> Scene {
    scene_of(SEED)
}

fn scene_of(seed: u64) -> Scene {
    Scene::new("carvalho-roucairol", 3, seed, |_| {})
}

fn break_section(scene: &mut Scene, place: usize, name: &str) {
    break_stay(scene, place, name, None);
}

fn break_stay(scene: &mut Scene, place: usize, name: &str, fence: Option<Fence>) {
    scene.tell(node(place), Command::Break(BreakTarget { section: names(&[name])[0].clone(), fence }));
}

/// A holder at the first node, and a waiter at the second.
fn contended() -> (Scene, RequestId, Fence, RequestId) {
    contended_of(SEED)
}

fn contended_of(seed: u64) -> (Scene, RequestId, Fence, RequestId) {
    let mut scene = scene_of(seed);
    let inside = scene.ask(node(0), lock(1, 1, &["east"]));
    scene.run_for(ms(10));
    let Fate::Inside(fence) = scene.fate(inside) else { panic!("it is in") };
    let waiting = scene.ask(node(1), lock(2, 2, &["east"]));
    scene.run_for(ms(10));
    (scene, inside, fence, waiting)
}

/// The client that was put out has stopped.
fn answer(scene: &mut Scene, place: usize, request: RequestId, fence: Fence) {
    scene.cluster.judge_mut().end(request);
    scene.tell(node(place), Command::Release { request, fence });
}

#[test]
fn a_broken_remote_section_is_free_when_its_client_releases() {
    let (mut scene, inside, fence, waiting) = contended();
    break_section(&mut scene, 2, "east");
    scene.run_for(ms(10));
    assert_eq!(scene.fate(inside), Fate::Lost(Loss::Broken));
    assert_eq!(scene.broken, [(names(&["east"])[0].clone(), true)]);
    scene.run_for(ms(300));
    assert_eq!(scene.fate(waiting), Fate::Waiting, "whoever was told may not have heard of it");
    answer(&mut scene, 0, inside, fence);
    scene.run_for(ms(5));
    assert!(matches!(scene.fate(waiting), Fate::Inside(next) if next > fence));
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_silent_client_stays_inside_until_deadline_plus_margin() {
    let (mut scene, inside, fence, waiting) = contended();
    let granted = scene.asked[&inside].granted.expect("it is in");
    // Left alone, it would be renewed for ever.
    scene.run_for(ms(3_000));
    let broken = scene.cluster.now();
    break_section(&mut scene, 0, "east");
    assert_eq!(scene.fate(inside), Fate::Lost(Loss::Broken), "at once at its own node");
    assert_eq!(scene.broken.len(), 1);
    scene.run_for(ms(1_100));
    assert!(matches!(scene.fate(waiting), Fate::Inside(next) if next > fence));
    let taken = scene.asked[&waiting].granted.expect("it is in");
    // The lease less the margin, counted from a heartbeat that was sent at most 0.2 s and an answer ago; and the margin.
    assert!(
        taken > granted + ms(3_000) && taken >= broken + ms(780) && taken <= broken + ms(1_020),
        "{taken}"
    );
    answer(&mut scene, 0, inside, fence);
    scene.run_for(ms(1_000));
    assert!(matches!(scene.fate(waiting), Fate::Inside(_)), "a late answer frees nobody else's entry");
    assert_eq!(scene.wrong(), [""; 0], "nobody else came in before the deadline");
}

#[test]
fn a_break_does_not_touch_a_later_holder() {
    let (mut scene, inside, fence, waiting) = contended();
    scene.leave(inside);
    scene.run_for(ms(10));
    let Fate::Inside(next) = scene.fate(waiting) else { panic!("it is in") };
    for place in 0..3 {
        break_stay(&mut scene, place, "east", Some(fence));
    }
    scene.run_for(ms(10));
    assert_eq!(scene.fate(waiting), Fate::Inside(next), "it is not the one that was looked at");
    assert_eq!(scene.broken, [(); 3].map(|()| (names(&["east"])[0].clone(), false)));
    break_stay(&mut scene, 2, "east", Some(next));
    scene.run_for(ms(10));
    assert_eq!(scene.fate(waiting), Fate::Lost(Loss::Broken));
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn breaking_a_free_section_changes_nothing() {
    let mut scene = scene();
    break_section(&mut scene, 1, "east");
    assert_eq!(scene.broken, [], "the others have to be asked");
    scene.run_for(ms(10));
    assert_eq!(scene.broken, [(names(&["east"])[0].clone(), false)]);
    let request = scene.ask(node(1), lock(1, 1, &["east"]));
    scene.run_for(ms(10));
    assert!(matches!(scene.fate(request), Fate::Inside(_)));
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_request_returns_a_broken_section_and_waits_for_both_again() {
    let (mut scene, inside, fence, _) = contended();
    let half = scene.ask(node(2), lock(3, 3, &["east", "alley"]));
    scene.run_for(ms(10));
    let other = scene.ask(node(1), lock(4, 4, &["alley"]));
    scene.run_for(ms(500));
    assert_eq!((scene.fate(half), scene.fate(other)), (Fate::Waiting, Fate::Waiting));
    break_section(&mut scene, 0, "alley");
    scene.run_for(ms(10));
    assert_eq!(scene.broken, [(names(&["alley"])[0].clone(), true)]);
    assert_eq!((scene.fate(half), scene.fate(inside)), (Fate::Waiting, Fate::Inside(fence)));
    assert!(matches!(scene.fate(other), Fate::Inside(_)));
    assert_eq!(scene.wrong(), [""; 0]);
}

/// A third node has crashed, and the second waits for the report of the first, unless it got that together with the view.
fn caught_in_limbo(seed: u64) -> Option<(Scene, RequestId, Fence, RequestId)> {
    let (mut scene, inside, fence, waiting) = contended_of(seed);
    scene.crash(node(2));
    scene.run_for(ms(500));
    // The node that crashed does not answer, so this waits for the view without it.
    break_section(&mut scene, 1, "north");
    scene.run_for(ms(100));
    assert_eq!(scene.broken, []);
    while scene.cluster.nodes()[1].look().standing != Standing::Limbo {
        scene.step();
        if scene.cluster.now() >= ms(6_000) {
            return None;
        }
    }
    Some((scene, inside, fence, waiting))
}

#[test]
fn a_section_is_broken_although_the_members_change_meanwhile() {
    let caught = (SEED..SEED + 20).find_map(caught_in_limbo);
    let (mut scene, inside, fence, waiting) = caught.expect("one of twenty clusters shows it");
    break_section(&mut scene, 1, "east");
    assert_eq!(scene.fate(inside), Fate::Inside(fence), "there is nobody to ask yet");
    scene.run_for(ms(100));
    assert_eq!(scene.fate(inside), Fate::Lost(Loss::Broken));
    let mut broken = scene.broken.clone();
    broken.sort();
    assert_eq!(broken, [(names(&["east"])[0].clone(), true), (names(&["north"])[0].clone(), false)]);
    answer(&mut scene, 0, inside, fence);
    scene.run_for(ms(10));
    assert!(matches!(scene.fate(waiting), Fate::Inside(next) if next > fence));
    assert_eq!(scene.wrong(), [""; 0]);
}

#[test]
fn a_node_shows_who_is_inside_and_who_waits_at_it() {
    let (mut scene, inside, fence, waiting) = contended();
    let asked: Ticks = scene.cluster.now();
    let third = scene.ask(node(0), lock(3, 3, &["east"]));
    scene.ask(node(0), lock(4, 4, &["west", "north"]));
    scene.run_for(ms(10));
    let here = scene.cluster.engine().local_time(node(0), asked);
    let looks = scene.cluster.nodes()[0].sections(10);
    let shown: Vec<&str> = looks.iter().map(|look| look.name.as_str()).collect();
    assert_eq!(shown, ["east", "north", "west"]);
    let Some(HolderSummary { request, client, fence: shown, since, is_in }) = looks[0].inside else {
        panic!("somebody is inside")
    };
    assert_eq!((request, client, shown, is_in), (inside, ClientId(1), fence, true));
    assert!(since < here && since + ms(25) > here, "{since} {here}");
    assert_eq!(looks[0].waiting, [WaiterSummary { request: third, client: ClientId(3), since: here }]);
    assert_eq!(looks[0].known_holder_node, Some(node(0)));
    assert_eq!(scene.cluster.nodes()[0].sections(2), looks[..2]);
    let there = scene.cluster.nodes()[1].section(&names(&["east"])[0]).expect("it is open there");
    assert_eq!((there.inside, there.waiting.len(), there.waiting[0].request), (None, 1, waiting));
    assert_eq!(scene.cluster.nodes()[1].section(&names(&["south"])[0]), None);
    assert_eq!(scene.cluster.nodes()[2].sections(10), []);
}
