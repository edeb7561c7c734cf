//! The accesses of every protocol, one by one, and its exclusion under random scripts.

use doorway_locks::protocol::{Bakery, BlackWhiteBakery, LamportFast, Peterson, Protocol, Tournament};
use doorway_locks::recorded::{RecordedAct, record};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// The events of one process that goes once through the section alone, in short words.
fn alone<P: Protocol<N> + Sync, const N: usize>(process: usize) -> Vec<String> {
    let events = record::<P, N>(1, std::iter::repeat_n(process, 1000));
    assert!(events.iter().all(|&(who, _)| who == process));
    events.into_iter().map(|(_, event)| short(event)).collect()
}

fn short(event: RecordedAct) -> String {
    match event {
        RecordedAct::Load { register, value } => format!("r{register}={value}"),
        RecordedAct::Store { register, value } => format!("w{register}={value}"),
        RecordedAct::Barrier => "barrier".to_owned(),
        RecordedAct::Entered => "in".to_owned(),
        RecordedAct::Left => "out".to_owned(),
    }
}

/// How many loads, stores and barriers it takes to go through the section alone.
fn costs<P: Protocol<N> + Sync, const N: usize>(process: usize) -> [usize; 3] {
    let words = alone::<P, N>(process);
    ["r", "w", "barrier"].map(|start| {
        words.iter().filter(|word| word.starts_with(start) && *word != "in" && *word != "out").count()
    })
}

#[test]
fn alone_peterson_stores_passes_a_barrier_looks_and_is_in() {
    assert_eq!(alone::<Peterson, 2>(0), ["w0=1", "barrier", "r1=0", "in", "w0=0", "out"]);
    assert_eq!(alone::<Peterson, 2>(1), ["w1=1", "barrier", "r0=0", "in", "w1=0", "out"]);
}

#[test]
fn alone_a_tournament_goes_from_leaf_to_root_and_leaves_from_root_to_leaf() {
    // Process 2 of 4 is on side 0 of node 3, and on side 1 of the root.
    let expected = ["w6=1", "barrier", "r7=0", "w1=1", "barrier", "r0=0", "in", "w1=0", "w6=0", "out"];
    assert_eq!(alone::<Tournament<4>, 4>(2), expected);
}

#[test]
fn alone_lamports_fast_lock_makes_seven_accesses() {
    let expected =
        ["w4=1", "w0=3", "barrier", "r1=0", "w1=3", "barrier", "r0=3", "in", "w1=0", "w4=0", "out"];
    assert_eq!(alone::<LamportFast<3>, 3>(2), expected);
}

#[test]
fn alone_a_bakery_reads_every_other_word_twice() {
    let expected =
        ["w1=1", "barrier", "r0=0", "r2=0", "w1=2", "barrier", "r0=0", "r2=0", "in", "w1=0", "out"];
    assert_eq!(alone::<Bakery<3>, 3>(1), expected);
}

#[test]
fn alone_a_black_white_bakery_also_reads_and_writes_the_colour() {
    let expected = [
        "w2=1", "barrier", "r0=0", "r1=0", "r3=0", "w2=2", "barrier", "r1=0", "r3=0", "in", "w0=1", "w2=0",
        "out",
    ];
    assert_eq!(alone::<BlackWhiteBakery<3>, 3>(1), expected);
}

#[test]
fn the_cost_of_a_round_alone_is_as_documented() {
    assert_eq!(costs::<Peterson, 2>(0), [1, 2, 1]);
    assert_eq!(costs::<Tournament<1>, 1>(0), [0, 0, 0]);
    assert_eq!(costs::<Tournament<8>, 8>(5), [3, 6, 3]);
    assert_eq!(costs::<Tournament<5>, 5>(4), [3, 6, 3]);
    assert_eq!(costs::<LamportFast<1>, 1>(0), [2, 5, 2]);
    assert_eq!(costs::<LamportFast<64>, 64>(63), [2, 5, 2]);
    assert_eq!(costs::<Bakery<1>, 1>(0), [0, 3, 2]);
    assert_eq!(costs::<Bakery<8>, 8>(0), [14, 3, 2]);
    assert_eq!(costs::<BlackWhiteBakery<8>, 8>(0), [15, 4, 2]);
}

#[test]
fn a_process_that_finds_the_other_yields_and_waits() {
    let script = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1];
    let events: Vec<_> =
        record::<Peterson, 2>(1, script).into_iter().map(|(_, event)| short(event)).collect();
    let first = ["w0=1", "barrier", "r1=0", "in"];
    let second = ["w1=1", "barrier", "r0=1", "w2=1", "barrier", "r0=1", "r2=1"];
    let then = ["w0=0", "out", "r0=0", "in"];
    assert_eq!(events, [&first[..], &second, &then].concat());
}

#[test]
fn the_slow_path_of_lamports_fast_lock_lets_in_the_last_that_wrote_y() {
    // Both have seen y free before either writes it; the first finds x overwritten.
    let script = [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1];
    let events = record::<LamportFast<2>, 2>(1, script);
    let of = |who: usize| {
        events.iter().filter(move |event| event.0 == who).map(|&(_, event)| short(event)).collect::<Vec<_>>()
    };
    assert_eq!(of(0), ["w2=1", "w0=1", "barrier", "r1=0", "w1=1", "barrier", "r0=2", "w2=0"]);
    assert_eq!(of(1), ["w3=1", "w0=2", "barrier", "r1=0", "w1=2", "barrier", "r0=2", "in"]);
}

#[test]
fn the_same_script_gives_the_same_events() {
    let script: Vec<usize> = (0..400).map(|step| step * step % 3).collect();
    let first = record::<Bakery<3>, 3>(3, script.clone());
    assert_eq!(record::<Bakery<3>, 3>(3, script), first);
    let accesses =
        first.iter().filter(|(_, event)| !matches!(event, RecordedAct::Entered | RecordedAct::Left)).count();
    assert!(accesses <= 400, "each step of the script is at most one access");
}

#[test]
#[should_panic(expected = "the script names process 2, and there are 2, from 0")]
fn a_script_cannot_name_a_process_that_is_not_there() {
    record::<Peterson, 2>(1, [0, 2]);
}

/// Random scripts in which some processes are much slower than others: one at a time is inside.
fn excludes<P: Protocol<N> + Sync, const N: usize>() {
    for seed in 0..40 {
        let mut random = Pcg64::seed_from_u64(seed);
        let script = (0..600).map(move |_| {
            let (one, other) = (random.next_u32() as usize % N, random.next_u32() as usize % N);
            one.min(other)
        });
        let mut inside = None;
        for (process, event) in record::<P, N>(10, script) {
            match event {
                RecordedAct::Entered => {
                    assert_eq!(inside, None, "{process} entered; seed {seed}");
                    inside = Some(process);
                }
                // It leaves with one of its stores of the exit, so before that no other may enter.
                RecordedAct::Store { .. } if inside == Some(process) => inside = None,
                _ => {}
            }
        }
    }
}

#[test]
fn one_process_at_a_time_is_inside_under_random_scripts() {
    excludes::<Peterson, 2>();
    excludes::<Tournament<3>, 3>();
    excludes::<LamportFast<3>, 3>();
    excludes::<Bakery<3>, 3>();
    excludes::<BlackWhiteBakery<3>, 3>();
    excludes::<BlackWhiteBakery<4>, 4>();
}
