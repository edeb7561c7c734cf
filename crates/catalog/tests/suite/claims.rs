//! The numbers of the literature, as equalities under constant latency, for N from 1 to 13.

use crate::laboratory::run;
use doorway_core::Options;
use doorway_simulator::{Latency, Load, Outcome, Settings, Span, elect_tree};

/// The delay of a message.
const T: u64 = 10;
/// The time inside.
const E: u64 = 5;
const ENTRIES: u64 = 60;

fn settings(nodes: usize, load: Load) -> Settings {
    Settings {
        nodes,
        entries: ENTRIES,
        load,
        hold: Span::Constant(E),
        latency: Latency::Span(Span::Constant(T)),
        invariants: true,
        ..Settings::default()
    }
}

fn with(name: &str, options: &Options, settings: &Settings) -> Outcome {
    let outcome = run(name, options, settings);
    assert!(outcome.as_expected, "{name} {settings:?}: {:?} {:?}", outcome.stall, outcome.violations);
    assert_eq!(outcome.measures.entries, settings.entries - settings.warmup);
    outcome
}

fn messages(name: &str, settings: &Settings) -> u64 {
    with(name, &Options::none(), settings).measures.traffic.messages
}

fn all_loads(n: usize) -> [Load; 4] {
    [Load::Saturated, Load::Isolated, Load::Light(100), Load::Active(n.div_ceil(2))]
}

#[test]
fn c2_lamport_needs_three_times_n_minus_one_messages_per_entry_at_every_load() {
    for (n, load) in (1..=13).flat_map(|n| all_loads(n).map(|load| (n, load))) {
        assert_eq!(messages("lamport", &settings(n, load)), ENTRIES * 3 * (n as u64 - 1), "N = {n}");
    }
}

#[test]
fn c8_ricart_agrawala_needs_twice_n_minus_one_messages_per_entry_at_every_load() {
    for (n, load) in (1..=13).flat_map(|n| all_loads(n).map(|load| (n, load))) {
        assert_eq!(messages("ricart-agrawala", &settings(n, load)), ENTRIES * 2 * (n as u64 - 1), "N = {n}");
    }
}

#[test]
fn c10_carvalho_roucairol_costs_a_lone_user_nothing_after_its_first_entry_and_nobody_more_than_twice_n_minus_one()
 {
    for n in 1..=13 {
        assert_eq!(
            messages("carvalho-roucairol", &settings(n, Load::Active(1))),
            2 * (n as u64 - 1),
            "N = {n}"
        );
        let warm = Settings { warmup: 1, ..settings(n, Load::Active(1)) };
        assert_eq!(messages("carvalho-roucairol", &warm), 0, "N = {n}");
        for load in all_loads(n) {
            assert!(
                messages("carvalho-roucairol", &settings(n, load)) <= ENTRIES * 2 * (n as u64 - 1),
                "N = {n}"
            );
        }
    }
}

#[test]
fn c12_central_needs_three_messages_per_entry_of_a_client_and_none_of_the_server_and_has_a_delay_of_2t() {
    for n in 1..=13 {
        for load in [Load::Saturated, Load::Light(100)] {
            let measures = with("central", &Options::none(), &settings(n, load)).measures;
            let by_server = u64::from(measures.entries_by_node[0]);
            assert_eq!(measures.traffic.messages, 3 * (ENTRIES - by_server), "N = {n}");
        }
        assert_eq!(messages("central", &settings(n, Load::Active(1))), 0, "the server is the first node");
    }
    for n in 3..=13 {
        let delay = with("central", &Options::none(), &settings(n, Load::Saturated)).measures.sync_delay;
        let by_parties = [0, T, 2 * T].map(|ticks| delay.occurrences(ticks));
        assert_eq!(
            by_parties.iter().sum::<u64>(),
            delay.count(),
            "N = {n}: T less for each of the two that is the server"
        );
        assert!(by_parties[2] > 0, "N = {n}: from client to client it is 2T");
    }
}

#[test]
fn c25_maekawa_needs_three_times_k_minus_one_messages_without_conflict() {
    for n in 1..=13 {
        let options = Options::none().with("quorum", "cyclic");
        let outcome = with("maekawa", &options, &settings(n, Load::Isolated));
        let construction = doorway_quorums::Construction::parse("cyclic", None).expect("it exists");
        let system = doorway_quorums::QuorumSystem::build(&construction, n).expect("for every N");
        let (least, most) = (system.sizes().least, system.sizes().most);
        assert_eq!(least, most, "cyclic quorums are all of one size");
        assert_eq!(
            outcome.measures.traffic.messages,
            ENTRIES * 3 * (least as u64 - 1),
            "N = {n}, K = {least}"
        );
    }
    for (n, quorum, k) in [(7, "plane", 3), (13, "plane", 4), (9, "grid", 5), (5, "all", 5)] {
        let outcome = with("maekawa", &Options::none().with("quorum", quorum), &settings(n, Load::Isolated));
        assert_eq!(outcome.measures.traffic.messages, ENTRIES * 3 * (k - 1), "{quorum} of {n}");
    }
}

#[test]
fn c39_suzuki_kasami_needs_n_messages_unless_the_requester_has_the_idle_token() {
    for n in 1..=13 {
        assert_eq!(
            messages("suzuki-kasami", &settings(n, Load::Active(1))),
            0,
            "the token starts at the first node"
        );
        for load in all_loads(n) {
            let measures = with("suzuki-kasami", &Options::none(), &settings(n, load)).measures;
            let with_the_token = measures.waiting_time.occurrences(0);
            assert_eq!(measures.traffic.messages, (ENTRIES - with_the_token) * n as u64, "N = {n}");
        }
    }
}

#[test]
fn c46_raymond_needs_four_times_n_minus_one_messages_per_saturated_round_after_the_first() {
    let trees = ["star", "chain", "binary", "random", "elected"];
    for (n, tree) in (1..=13_u64).flat_map(|n| trees.map(|tree| (n, tree))) {
        let elected = || elect_tree(n as usize, 1, &Latency::Span(Span::Uniform(1, 50))).expect("few enough");
        let options = match tree {
            "elected" => Options::none().with_file("tree", &elected()),
            _ => Options::none().with("tree", tree),
        };
        let rounds = |rounds: u64| {
            let settings = Settings { entries: rounds * n, ..settings(n as usize, Load::Saturated) };
            with("raymond", &options, &settings).measures.traffic.messages
        };
        // The first round begins and the last one ends differently; the rounds between them are what is claimed.
        assert_eq!(rounds(12) - rounds(2), 10 * 4 * (n - 1), "{tree} of {n}");
    }
}

#[test]
fn c3_response_time_is_2t_plus_e_when_nobody_else_wants_in() {
    for (n, name) in (2..=13).flat_map(|n| ["lamport", "ricart-agrawala", "maekawa"].map(|name| (n, name))) {
        let response = with(name, &Options::none(), &settings(n, Load::Isolated)).measures.response_time;
        assert_eq!(
            (response.quantile(0.0), response.max()),
            (Some(2 * T + E), Some(2 * T + E)),
            "{name}, N = {n}"
        );
    }
    for n in 2..=13 {
        let response =
            with("suzuki-kasami", &Options::none(), &settings(n, Load::Isolated)).measures.response_time;
        assert_eq!(response.max(), Some(2 * T + E), "N = {n}: the token is elsewhere");
        assert_eq!(response.quantile(0.0), Some(E), "N = {n}: the token is here");
    }
    for name in ["lamport", "ricart-agrawala", "maekawa", "suzuki-kasami"] {
        let alone = with(name, &Options::none(), &settings(1, Load::Isolated)).measures.response_time;
        assert_eq!(alone.max(), Some(E), "{name} alone");
    }
}

#[test]
fn c4_synchronisation_delay_is_t_when_the_next_node_already_waits() {
    for (n, name) in
        (2..=13).flat_map(|n| ["lamport", "ricart-agrawala", "suzuki-kasami"].map(|name| (n, name)))
    {
        // Under a hold longer than 2T every request has arrived everywhere when its predecessor leaves.
        let settings = Settings { hold: Span::Constant(3 * T), ..settings(n, Load::Saturated) };
        let delay = with(name, &Options::none(), &settings).measures.sync_delay;
        assert_eq!((delay.quantile(0.0), delay.max()), (Some(T), Some(T)), "{name}, N = {n}");
        assert_eq!(delay.count(), ENTRIES - 1, "{name}, N = {n}: somebody always waits");
    }
}
