//! The programs over shared memory: every interleaving of two and three processes, what an entry costs alone, and the
//! runs that show what is wrong with the specimens.

use std::collections::BTreeSet;

use doorway_algorithms::shared::tickets::{SMALLEST_INSIDE, TICKETS_UP_TO_N};
use doorway_algorithms::shared::tournament::NODES_PASSED_ALONE;
use doorway_core::shared::{AboutProgram, Accesses, Fairness, Program, ProgramEntry};
use doorway_core::{Entry, Explain, Hints, Members, NodeId, Options, Refusal, Registrar};

use crate::interleavings::{Flaw, Found, Search, explore};

const LARGE_TICKET: Flaw = Flaw::Invariant(TICKETS_UP_TO_N);

/// What these tests ask of a registered program whose type is forgotten. Each answer is compiled once for each program.
trait Registered {
    fn about(&self) -> &AboutProgram;
    /// How many lines it has.
    fn lines(&self) -> usize;
    /// The names of the registers.
    fn registers(&self, options: &Options, n: usize) -> Result<Vec<String>, Refusal>;
    /// Loads, stores, maxima and barriers of each process alone; one element if all cost the same.
    fn accesses_alone(&self, options: &Options, n: usize) -> Result<BTreeSet<[usize; 4]>, Refusal>;
    /// All interleavings.
    fn explore(&self, options: &Options, n: usize, search: Search) -> Result<Found, Refusal>;
}

impl<P: Program> Registered for ProgramEntry<P> {
    fn about(&self) -> &AboutProgram {
        &self.about
    }

    fn lines(&self) -> usize {
        P::LINES.len()
    }

    fn registers(&self, options: &Options, n: usize) -> Result<Vec<String>, Refusal> {
        let team = self.team(options, &members(n))?;
        Ok(team.registers.into_iter().map(|cell| cell.name).collect())
    }

    fn accesses_alone(&self, options: &Options, n: usize) -> Result<BTreeSet<[usize; 4]>, Refusal> {
        let team = self.team(options, &members(n))?;
        let used = |me| {
            let used: Option<Accesses> = team.accesses_alone(me);
            let used = used.unwrap_or_else(|| panic!("{} does not get in alone", self.about.name));
            [used.loads, used.stores, used.maxima, used.barriers]
        };
        Ok(NodeId::first(n).map(used).collect())
    }

    fn explore(&self, options: &Options, n: usize, search: Search) -> Result<Found, Refusal> {
        Ok(explore(&self.team(options, &members(n))?, search))
    }
}

fn members(n: usize) -> Members {
    Members::new(n).expect("a few processes")
}

/// Every registered program, in the order of the list.
fn programs() -> Vec<Box<dyn Registered>> {
    let mut programs = Programs::default();
    doorway_algorithms::register(&mut programs);
    programs.0
}

fn program(name: &str) -> Box<dyn Registered> {
    let found = programs().into_iter().find(|program| program.about().name == name);
    found.unwrap_or_else(|| panic!("{name} is not registered"))
}

#[derive(Default)]
struct Programs(Vec<Box<dyn Registered>>);

impl Registrar for Programs {
    fn algorithm<A: Explain + Hints>(&mut self, _: Entry<A>) {}

    fn program<P: Program>(&mut self, entry: ProgramEntry<P>) {
        self.0.push(Box::new(entry));
    }
}

fn explored_with(name: &str, options: &Options, n: usize, search: Search) -> Found {
    let found = program(name).explore(options, n, search);
    found.unwrap_or_else(|refusal| panic!("{name}, {n}: {refusal}"))
}

fn explored(name: &str, n: usize, search: Search) -> Found {
    explored_with(name, &Options::none(), n, search)
}

/// The flaws and how many steps lead to each.
fn lengths(found: &Found) -> Vec<(Flaw, usize)> {
    found.flaws.iter().map(|(&flaw, run)| (flaw, run.len())).collect()
}

fn promise(name: &str) -> Fairness {
    program(name).about().promise
}

/// Name, processes, limit of tickets, and states without and with the order in which processes began.
const FULL_SEARCHES: [(&str, usize, u64, [usize; 2]); 15] = [
    ("peterson", 2, 0, [32, 44]),
    ("peterson/unless-alone", 2, 0, [54, 70]),
    ("tournament", 3, 0, [960, 4_100]),
    ("lamport-fast", 2, 0, [354, 482]),
    ("lamport-fast", 3, 0, [12_821, 61_301]),
    ("simple-bakery", 2, 4, [29, 29]),
    ("simple-bakery", 3, 4, [172, 172]),
    ("bakery", 2, 4, [268, 314]),
    ("bakery", 3, 4, [12_342, 23_337]),
    ("bakery/one-word", 2, 5, [117, 139]),
    ("bakery/one-word", 3, 5, [3_733, 6_722]),
    ("black-white", 2, 0, [1_191, 1_423]),
    ("black-white", 3, 0, [122_583, 287_185]),
    ("black-white/one-word", 2, 0, [334, 406]),
    ("black-white/one-word", 3, 0, [15_882, 34_578]),
];

#[test]
fn every_program_is_correct_in_every_interleaving() {
    for (name, n, tickets, [states, _]) in FULL_SEARCHES {
        let found = explored(name, n, Search::up_to(tickets));
        assert_eq!((lengths(&found), found.states), (vec![], states), "{name}, {n}");
        assert_eq!(found.reached_limit, tickets > 0, "{name}, {n}: tickets without limit reach any");
    }
}

#[test]
fn only_programs_that_promise_it_are_first_come_first_served() {
    for (name, n, tickets, [_, states]) in FULL_SEARCHES {
        let found = explored(name, n, Search::up_to(tickets).with_order());
        let is_in_order = found.flaws.is_empty();
        assert_eq!((is_in_order, found.states), (promise(name) == Fairness::Fifo, states), "{name}, {n}");
        assert!(found.flaws.keys().all(|&flaw| flaw == Flaw::Order), "{name}, {n}");
    }
}

#[test]
fn every_program_in_the_catalog_is_searched_or_a_specimen() {
    let programs = programs();
    let abouts = programs.iter().map(|program| program.about());
    let searched: BTreeSet<&str> = FULL_SEARCHES.iter().map(|search| search.0).collect();
    let correct = abouts.clone().filter(|about| about.specimen.is_none());
    assert_eq!(correct.map(|about| about.name).collect::<BTreeSet<_>>(), searched);
    let specimens = abouts.filter_map(|about| about.specimen);
    assert_eq!(
        specimens.map(|specimen| specimen.id).collect::<Vec<_>>(),
        ["C56", "E26", "T1", "E24", "E24b", "E25", "E25b", "E29", "E29"]
    );
}

#[test]
fn every_line_is_carried_out_by_somebody() {
    for (name, n, tickets, _) in FULL_SEARCHES {
        let found = explored(name, n, Search::up_to(tickets));
        let lines = program(name).lines();
        match name {
            "tournament" => {
                assert_eq!((found.lines.len(), lines), (6, 29), "those of Peterson among all three")
            }
            _ => assert_eq!(found.lines.len(), lines, "{name}, {n}"),
        }
    }
}

#[test]
fn every_invariant_fails_when_states_are_mixed_up() {
    let tampered = |name, tickets| explored(name, 3, Search::up_to(tickets)).broken_by_tampering;
    let smallest = BTreeSet::from([SMALLEST_INSIDE]);
    assert_eq!(tampered("simple-bakery", 4), smallest);
    assert_eq!(tampered("bakery", 4), smallest);
    assert_eq!(tampered("bakery/one-word", 5), smallest);
    let apart = BTreeSet::from([NODES_PASSED_ALONE]);
    assert_eq!(tampered("tournament", 0), apart);
}

#[test]
fn a_tournament_excludes_whatever_its_lock_is() {
    let games = [("peterson", 4, 7_680), ("unless-alone", 4, 36_936), ("lamport-fast", 3, 45_586)];
    for (lock, n, states) in games {
        let found = explored_with("tournament", &Options::none().with("lock", lock), n, Search::up_to(0));
        assert_eq!((lengths(&found), found.states), (vec![], states), "{lock}");
    }
}

#[test]
fn one_process_enters_and_leaves_for_ever() {
    let alone = [
        ("tournament", 4),
        ("lamport-fast", 9),
        ("simple-bakery", 2),
        ("bakery", 4),
        ("bakery/one-word", 3),
        ("black-white", 17),
        ("black-white/one-word", 10),
    ];
    for (name, states) in alone {
        let found = explored(name, 1, Search::up_to(2).with_order());
        assert_eq!((lengths(&found), found.states, found.reached_limit), (vec![], states, false), "{name}");
    }
}

#[test]
fn a_simple_bakery_in_two_steps_lets_two_in_after_eight() {
    let found = explored("simple-bakery/two-steps", 2, Search::up_to(4).until(Flaw::Exclusion));
    assert_eq!(found.flaws[&Flaw::Exclusion], [1, 1, 2, 2, 2, 2, 1, 1]);
}

#[test]
fn a_maximum_by_position_fails_with_three_after_31_steps() {
    let search = Search::up_to(5);
    assert_eq!(lengths(&explored("bakery/maximum-by-position", 2, search.with_order())), []);
    let found = explored("bakery/maximum-by-position", 3, search.until(Flaw::Exclusion));
    assert_eq!(lengths(&found), [(Flaw::Exclusion, 31)]);
    let found = explored("bakery/maximum-by-position", 3, search.with_order().until(Flaw::Order));
    assert_eq!(lengths(&found), [(Flaw::Order, 27)]);
}

#[test]
fn an_atomic_maximum_before_the_ticket_lets_two_in_after_six() {
    let found = explored("simple-bakery/maximum-first", 2, Search::up_to(4).until(Flaw::Exclusion));
    assert_eq!(found.flaws[&Flaw::Exclusion], [1, 2, 2, 2, 1, 1]);
}

#[test]
fn the_printed_maxpos_loop_is_safe_for_two_and_fails_with_three() {
    let search = Search::up_to(5);
    assert_eq!(lengths(&explored("bakery/maxpos-loop", 2, search)), []);
    let found = explored("bakery/maxpos-loop", 3, search.until(Flaw::Exclusion));
    assert_eq!(lengths(&found), [(Flaw::Exclusion, 43)]);
    let found = explored("bakery/maxpos-loop", 3, search.with_order().until(Flaw::Order));
    assert_eq!(lengths(&found), [(Flaw::Order, 39)]);
}

#[test]
fn a_tournament_left_leaf_first_fails_with_three_after_20_steps() {
    assert_eq!(lengths(&explored("tournament/leaf-first", 2, Search::up_to(0))), []);
    for n in [3, 4] {
        let found = explored("tournament/leaf-first", n, Search::up_to(0).until(Flaw::Exclusion));
        assert_eq!(lengths(&found), [(Flaw::Exclusion, 20)], "{n}");
    }
}

#[test]
fn colour_before_number_gives_two_processes_a_3_after_56_and_never_more() {
    let found = explored("black-white/two-registers", 2, Search::up_to(3).with_order());
    assert_eq!((lengths(&found), found.reached_limit), (vec![(LARGE_TICKET, 56)], false));
    let found = explored("black-white/two-registers", 3, Search::up_to(4).until(LARGE_TICKET));
    assert_eq!(lengths(&found), [(LARGE_TICKET, 66)]);
}

#[test]
fn number_before_colour_gives_two_processes_a_3_after_26_and_then_any_number() {
    for limit in 3..10 {
        let found = explored("black-white/number-first", 2, Search::up_to(limit).with_order());
        assert_eq!((lengths(&found), found.reached_limit), (vec![(LARGE_TICKET, 26)], true), "{limit}");
    }
}

/// Loads, stores, maxima and barriers of one process alone.
fn alone(name: &str, options: &Options, n: usize) -> [usize; 4] {
    let ways = program(name).accesses_alone(options, n).expect("the program runs with `n` processes");
    assert_eq!(ways.len(), 1, "{name}, {n}: all processes cost the same");
    ways.into_iter().next().expect("there is one")
}

#[test]
fn a_process_that_is_alone_makes_as_many_accesses_as_the_pages_say() {
    let default = Options::none();
    assert_eq!(alone("peterson", &default, 2), [1, 3, 0, 1]);
    assert_eq!(alone("peterson/unless-alone", &default, 2), [1, 2, 0, 1]);
    for n in (1..=8).chain([64]) {
        let others = n - 1;
        let barriers = if n == 1 { 1 } else { 2 };
        assert_eq!(alone("lamport-fast", &default, n), [2, 5, 0, 2], "{n}");
        assert_eq!(alone("simple-bakery", &default, n), [others, 1, 1, 0], "{n}");
        assert_eq!(alone("bakery", &default, n), [3 * others, 4, 0, 2], "{n}");
        assert_eq!(alone("bakery/one-word", &default, n), [2 * others, 3, 0, barriers], "{n}");
        assert_eq!(alone("black-white", &default, n), [1 + 4 * others, 6, 0, 2], "{n}");
        assert_eq!(alone("black-white/one-word", &default, n), [1 + 2 * others, 4, 0, barriers], "{n}");
    }
}

#[test]
fn a_tournament_costs_its_lock_at_every_level() {
    let levels = [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 3), (8, 3), (64, 6)];
    for (n, d) in levels {
        let with = |lock| alone("tournament", &Options::none().with("lock", lock), n);
        assert_eq!(with("peterson"), [d, 3 * d, 0, d], "{n}");
        assert_eq!(with("unless-alone"), [d, 2 * d, 0, d], "{n}");
        assert_eq!(with("lamport-fast"), [2 * d, 5 * d, 0, 2 * d], "{n}");
    }
}

#[test]
fn registers_have_the_names_and_the_order_of_the_textbook() {
    let names_with = |name, n, options: &Options| {
        program(name).registers(options, n).expect("the program runs with `n` processes").join(" ")
    };
    let names = |name, n| names_with(name, n, &Options::none());
    assert_eq!(names("peterson", 2), "flag[0] flag[1] turn");
    assert_eq!(names("peterson/unless-alone", 2), "flag[0] flag[1] turn");
    let tree = "want[1][0] want[1][1] turn[1] want[2][0] want[2][1] turn[2] want[3][0] want[3][1] turn[3]";
    assert_eq!(names("tournament", 3), tree);
    assert_eq!(names("lamport-fast", 2), "x y want[1] want[2]");
    assert_eq!(names("simple-bakery", 2), "number[1] number[2]");
    assert_eq!(names("bakery", 2), "choosing[1] choosing[2] number[1] number[2]");
    assert_eq!(names("bakery/one-word", 2), "word[1] word[2]");
    assert_eq!(names("black-white", 2), "colour choosing[1] choosing[2] ticket[1] ticket[2]");
    assert_eq!(names("black-white/one-word", 2), "colour word[1] word[2]");
    let fast = Options::none().with("lock", "lamport-fast");
    assert_eq!(names_with("tournament", 2, &fast), "x[1] y[1] want[1][1] want[1][2]");
}

#[test]
fn wrong_numbers_and_words_are_refused_in_a_sentence() {
    let refused = |name, options: &Options, n| match program(name).registers(options, n) {
        Ok(_) => "accepted".to_owned(),
        Err(refusal) => refusal.to_string(),
    };
    for name in ["peterson", "peterson/unless-alone"] {
        let sentence =
            |n: usize| format!("{name} is for two processes, not for {n}: a tournament is for any number");
        assert_eq!(refused(name, &Options::none(), 1), sentence(1));
        assert_eq!(refused(name, &Options::none(), 3), sentence(3));
    }
    let lock = |word| Options::none().with("lock", word);
    let sentence = "\"ticket\" is not a lock for a tournament: peterson, unless-alone or lamport-fast";
    assert_eq!(refused("tournament", &lock("ticket"), 4), sentence);
    assert_eq!(refused("tournament/leaf-first", &lock("ticket"), 4), sentence);
    assert_eq!(refused("bakery", &lock("peterson"), 4), "bakery has no lock to choose");
}

#[test]
fn every_page_tells_source_registers_cost_and_barriers() {
    for program in programs() {
        let about = program.about();
        let page = about.page().replace('\n', " ");
        let has = |part| page.contains(part);
        match about.specimen {
            Some(specimen) => assert!(has(specimen.id) && has("suffice"), "{}", about.name),
            None => {
                assert!(has(", \"") && has("Registers: ") && has("Alone: "), "{}", about.name);
                assert_eq!(has("Total store order: "), about.name != "simple-bakery", "{}", about.name);
            }
        }
    }
}
