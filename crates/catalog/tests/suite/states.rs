//! The states that are found in a trace are those that the nodes had.

use std::any::Any;
use std::cell::RefCell;

use doorway_catalog::Trial;
use doorway_catalog::states::{Recorded, States};
use doorway_core::shared::{Program, ProgramEntry};
use doorway_core::{
    Algorithm, Entry, Explain, Factory, Field, Hints, LamportClock, NodeId, NodeSet, Options, Out,
    Permission, Phase, Plan, Registrar, Rule,
};
use doorway_simulator::simulate;
use doorway_trace::{Event, What};
use serde::Serialize;

use crate::compared::trials;
use crate::laboratory::textbook;

thread_local! {
    /// What each step of a simulation left its node's algorithm as, in order.
    static SEEN: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// An algorithm that is watched while the simulator runs it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Watched<A> {
    inner: A,
}

impl<A: Algorithm> Watched<A> {
    fn look(&self) {
        SEEN.with_borrow_mut(|seen| seen.push(Box::new(self.inner.clone())));
    }
}

impl<A: Algorithm> Algorithm for Watched<A> {
    type Msg = A::Msg;
    const PERPETUAL: bool = A::PERPETUAL;

    fn on_start(&mut self, out: &mut Out<A::Msg>) {
        self.inner.on_start(out);
        self.look();
    }

    fn on_request(&mut self, out: &mut Out<A::Msg>) {
        self.inner.on_request(out);
        self.look();
    }

    fn on_message(&mut self, from: NodeId, msg: A::Msg, out: &mut Out<A::Msg>) {
        self.inner.on_message(from, msg, out);
        self.look();
    }

    fn on_release(&mut self, out: &mut Out<A::Msg>) {
        self.inner.on_release(out);
        self.look();
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        self.inner.clock()
    }
}

impl<A: Explain> Explain for Watched<A> {
    const WAITS_FOR_ALL: bool = A::WAITS_FOR_ALL;

    fn fields(&self) -> Vec<Field> {
        self.inner.fields()
    }

    fn waits_for(&self) -> NodeSet {
        self.inner.waits_for()
    }

    fn permission(&self) -> Permission {
        self.inner.permission()
    }

    const RULES: &'static [Rule] = A::RULES;
}

/// Compares every state of some runs of each algorithm with what was seen.
#[derive(Default)]
struct Compare {
    algorithms: usize,
}

impl Registrar for Compare {
    fn algorithm<A: Explain + Hints>(&mut self, entry: Entry<A>) {
        let factory = entry.factory(&Options::none()).expect("the defaults are right");
        for trial in trials(entry.about.name) {
            let outcome = simulate(&watched(factory.clone()), &trial.settings).expect("it runs");
            let seen = SEEN.take().into_iter();
            let seen = seen.map(|state| *state.downcast::<A>().expect("a state of this algorithm"));
            let seen: Vec<Shown> = seen.map(|state| Shown::of(&state)).collect();
            let steps = compare(&trial, &outcome.events(), &seen);
            assert!(steps >= 5 + 2, "{}: {steps}", entry.about.name);
        }
        self.algorithms += 1;
    }

    fn program<P: Program>(&mut self, _: ProgramEntry<P>) {}
}

fn watched<A: Explain>(factory: Factory<A>) -> Factory<Watched<A>> {
    Factory::new(move |members| {
        let plan = factory.plan(members)?;
        Ok(Plan::new(move |me, start| Watched { inner: plan.make(me, start) }))
    })
}

/// What people see of a state.
struct Shown {
    fields: Vec<Field>,
    permission: Permission,
    waits_for: Vec<NodeId>,
}

impl Shown {
    fn of(state: &impl Explain) -> Self {
        let waits_for = state.waits_for().iter().collect();
        Self { fields: state.fields(), permission: state.permission(), waits_for }
    }
}

/// Compares the states that are found in a trace with those that were seen, one a step; answers how many steps there were.
fn compare(trial: &Trial, events: &[Event], seen: &[Shown]) -> usize {
    let name = &trial.algorithm;
    let states = States::of(&Recorded::new(&trial.header(), events), textbook());
    assert_eq!((states.trouble(), states.known()), (None, events.len()), "{name}");
    let mut seen = seen.iter();
    let mut steps = 0;
    for (count, event) in (1..).zip(events).filter(|(_, event)| is_step(event)) {
        let was = seen.next().expect("one for each step");
        let is = states.node(event.node, count).expect("it is known");
        let place = format!("{name} seed {} event {}", trial.settings.seed, event.id);
        assert_eq!((&is.fields, is.permission), (&was.fields, was.permission), "{place}");
        // A node that the last step let in waits for nobody; its phase changes with the enter event that follows.
        if is.phase == Phase::Waiting && !is.waits_for.is_empty() {
            assert_eq!(is.waits_for, was.waits_for, "{place}");
        }
        steps += 1;
    }
    assert!(seen.next().is_none(), "every step is in the trace");
    steps
}

fn is_step(event: &Event) -> bool {
    matches!(event.what, What::Start | What::Request | What::Release | What::Deliver { .. })
}

#[test]
fn after_every_event_of_every_algorithm_each_node_is_found_as_it_was() {
    let mut compare = Compare::default();
    doorway_algorithms::register(&mut compare);
    assert_eq!(compare.algorithms, textbook().list().len());
}
