//! Whole clusters under faults.

use doorway_core::{Options, Ticks};
use doorway_lab::chaos::{Design, Run, recipe};

#[test]
fn smoke() {
    let catalog = doorway_algorithms::catalog();
    let name = std::env::var("ALG").unwrap_or("carvalho-roucairol".into());
    let n: usize = std::env::var("N").ok().and_then(|s| s.parse().ok()).unwrap_or(5);
    let from: u64 = std::env::var("FROM").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let count: u64 = std::env::var("COUNT").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let flaw = std::env::var("FLAW").ok().and_then(|s| doorway_node::Flaw::from_name(&s));
    let recipe = recipe(&catalog, &name, &Options::none()).unwrap();
    for seed in from..from + count {
        let mut design = Design::new(n, recipe.clone(), seed);
        design.flaw = flaw;
        let run = Run::new(design, Ticks(30_000_000));
        let t = std::time::Instant::now();
        let outcome = run.make().unwrap();
        println!(
            "seed {seed}: {} entries {} views, {:?} slowest {} refused {} lost {} {:?}",
            outcome.entries,
            outcome.views,
            t.elapsed(),
            outcome.slowest_recovery,
            outcome.refused_writes,
            outcome.lost,
            outcome.faults.values().sum::<u64>()
        );
        for v in &outcome.violations {
            println!("   {v}");
        }
    }
}
