//! Several sections at once, from everywhere: all or none, without deadlock.

use std::collections::BTreeSet;

use doorway_core::Ticks;
use doorway_node::RequestId;
use doorway_simulator::Random;

use crate::scene::{Fate, Scene, lock, ms, node};

const SECTIONS: [&str; 5] = ["amber", "birch", "coral", "dusk", "ember"];
const NODES: usize = 3;
const CLIENTS: u64 = 12;
const ENTRIES: usize = 2_000;
/// With twelve clients that stay for a millisecond at most, a client that waits longer than this waits for ever.
const LONGEST_WAIT: Ticks = ms(2_000);

/// Clients that always want something.
struct Crowd {
    scene: Scene,
    random: Random,
    made: u64,
    /// The request of each client, and when it was made.
    present: Vec<(RequestId, Ticks)>,
    longest: Ticks,
}

impl Crowd {
    fn new(algorithm: &str, seed: u64) -> Self {
        let mut scene = Scene::new(algorithm, NODES, seed, |_| {});
        scene.stay = Some(Ticks(700));
        let random = Random::new(seed, 77);
        let mut crowd = Self { scene, random, made: 0, present: Vec::new(), longest: Ticks(0) };
        crowd.present = (0..CLIENTS).map(|client| crowd.ask(client)).collect();
        crowd
    }

    /// One to four sections, in any order.
    fn ask(&mut self, client: u64) -> (RequestId, Ticks) {
        let mut sections = SECTIONS.to_vec();
        let count = 1 + self.random.below(4) as usize;
        let drawn: Vec<&str> =
            (0..count).map(|_| sections.remove(self.random.below(sections.len() as u64) as usize)).collect();
        self.made += 1;
        let place = client as usize % NODES;
        (self.scene.ask(node(place), lock(self.made, client, &drawn)), self.scene.cluster.now())
    }

    /// A client that has left requests again; none waits too long.
    fn go_on(&mut self) {
        self.scene.step();
        let now = self.scene.cluster.now();
        for client in 0..CLIENTS {
            let (request, since) = self.present[client as usize];
            match self.scene.fate(request) {
                Fate::Left => self.present[client as usize] = self.ask(client),
                Fate::Waiting => self.longest = self.longest.max(now - since),
                _ => {}
            }
        }
        assert!(self.longest < LONGEST_WAIT, "somebody waits in a circle: {:?}", self.present);
    }
}

#[test]
fn requests_for_several_sections_are_served_in_any_name_order() {
    for algorithm in ["carvalho-roucairol", "naimi-trehel", "central", "maekawa", "ricart-agrawala"] {
        for seed in 1..=3 {
            println!("{algorithm}, seed {seed}");
            let mut crowd = Crowd::new(algorithm, seed);
            while crowd.scene.entered.len() < ENTRIES {
                crowd.go_on();
            }
            assert_eq!(crowd.scene.wrong(), [""; 0]);
            let served: BTreeSet<u64> =
                crowd.scene.entered.iter().map(|request| crowd.scene.asked[request].lock.client.0).collect();
            assert_eq!(served.len() as u64, CLIENTS);
        }
    }
}

#[test]
fn two_clients_that_name_two_sections_in_opposite_orders_take_turns() {
    for seed in 1..=20 {
        println!("seed {seed}");
        let mut scene = Scene::new("carvalho-roucairol", 2, seed, |_| {});
        scene.stay = Some(Ticks(300));
        for turn in 0..50 {
            scene.ask(node(0), lock(2 * turn + 1, 1, &["east", "west"]));
            scene.ask(node(1), lock(2 * turn + 2, 2, &["west", "east"]));
            scene.run_for(ms(20));
            assert_eq!(scene.entered.len() as u64, 2 * turn + 2);
        }
        assert_eq!(scene.wrong(), [""; 0]);
    }
}
