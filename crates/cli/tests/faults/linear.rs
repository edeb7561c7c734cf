//! The second judge: the linearizability tester of the crate `stateright`, which knows nothing of Doorway.
//!
//! A lock is an object that one enters and leaves; its resource is one that takes writes whose fence is not older than one that it
//! has taken. A history is right if its operations can be put into one order that respects real time and that such objects
//! allow.

use std::collections::BTreeMap;

use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use super::history::{Event, Line, sections};

/// A lock with its resource, as it should be.
#[derive(Clone, Debug, Default)]
struct Lock {
    inside: Option<usize>,
    highest: u64,
    taken: u64,
}

/// What a client does.
#[derive(Clone, Debug)]
enum Op {
    Enter(usize),
    Leave(usize),
    Write(u64),
}

/// What it gets.
#[derive(Clone, Debug, PartialEq)]
enum Ret {
    In(u64),
    Out,
    Taken(bool),
}

impl SequentialSpec for Lock {
    type Op = Op;
    type Ret = Ret;

    fn invoke(&mut self, op: &Op) -> Ret {
        match *op {
            Op::Enter(client) => {
                self.inside = self.inside.or(Some(client));
                Ret::In(self.highest)
            }
            Op::Leave(client) => {
                self.inside = self.inside.filter(|inside| *inside != client);
                Ret::Out
            }
            Op::Write(fence) => {
                let taken = fence >= self.taken;
                self.taken = self.taken.max(fence);
                Ret::Taken(taken)
            }
        }
    }

    fn is_valid_step(&mut self, op: &Op, ret: &Ret) -> bool {
        let is_valid = match (op, ret) {
            (Op::Enter(_), Ret::In(fence)) => {
                let is_free = self.inside.is_none() && *fence > self.highest;
                self.highest = self.highest.max(*fence);
                is_free
            }
            (Op::Leave(client), Ret::Out) => self.inside == Some(*client),
            (Op::Write(fence), Ret::Taken(taken)) => *taken == (*fence >= self.taken),
            _ => false,
        };
        self.invoke(op);
        is_valid
    }
}

/// An operation begins or ends.
enum Edge {
    Begin(Op),
    End(Ret),
}

/// Whether the history of every section is linearizable.
pub fn is_linearizable(lines: &[Line]) -> bool {
    sections(lines).iter().all(|section| {
        let lines: Vec<&Line> =
            lines.iter().filter(|line| line.section == *section || line.event == Event::Killed).collect();
        is_one_lock(&lines)
    })
}

fn is_one_lock(lines: &[&Line]) -> bool {
    let mut tester = LinearizabilityTester::new(Lock::default());
    for (thread, edge) in edges(lines) {
        let told = match edge {
            Edge::Begin(op) => tester.on_invoke(thread, op).map(drop),
            Edge::End(ret) => tester.on_return(thread, ret).map(drop),
        };
        told.expect("a client does one thing after the other");
    }
    // It goes one call deeper for each operation.
    std::thread::scope(|scope| {
        let judge = std::thread::Builder::new().stack_size(1 << 30);
        let judge = judge.spawn_scoped(scope, || tester.is_consistent()).expect("a thread");
        judge.join().expect("it does not panic")
    })
}

/// The begins and ends of operations, in the order of time. A client has two hands: one enters and leaves, one writes, because who
/// has lost without knowing may write.
fn edges(lines: &[&Line]) -> Vec<(usize, Edge)> {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines {
        let next = names.len();
        names.entry(&line.client).or_insert(next);
    }
    let mut edges: Vec<(u64, u8, usize, Edge)> = Vec::new();
    let mut asked: BTreeMap<usize, u64> = BTreeMap::new();
    let mut inside: BTreeMap<usize, ()> = BTreeMap::new();
    for line in lines {
        let client = names[line.client.as_str()];
        let (door, pen) = (2 * client, 2 * client + 1);
        match line.event {
            Event::Asked => {
                asked.insert(client, line.at);
            }
            Event::Refused => {
                asked.remove(&client);
            }
            Event::Entered { fence } => {
                let began = asked.remove(&client).unwrap_or(line.at);
                edges.push((began, 1, door, Edge::Begin(Op::Enter(client))));
                edges.push((line.at, 0, door, Edge::End(Ret::In(fence))));
                inside.insert(client, ());
            }
            Event::Left { until, .. } | Event::Lost { until, .. } => {
                let began = line.at.min(until);
                // The release takes effect after it was said; when, only the next entry shows.
                edges.push((began, 1, door, Edge::Begin(Op::Leave(client))));
                edges.push((next_of(lines, line), 0, door, Edge::End(Ret::Out)));
                inside.remove(&client);
            }
            Event::Killed if inside.remove(&client).is_some() => {
                edges.push((line.at, 1, door, Edge::Begin(Op::Leave(client))));
            }
            Event::Wrote { fence, began, taken } => {
                edges.push((began, 1, pen, Edge::Begin(Op::Write(fence))));
                edges.push((line.at, 0, pen, Edge::End(Ret::Taken(taken))));
            }
            Event::Killed => {}
        }
    }
    // At one moment, ends come before begins.
    edges.sort_by_key(|(at, order, _, _)| (*at, *order));
    edges.into_iter().map(|(_, _, thread, edge)| (thread, edge)).collect()
}

/// When a client next asks for the section, or is killed: by then its release is over.
fn next_of(lines: &[&Line], line: &Line) -> u64 {
    let of_client = lines.iter().filter(|other| other.client == line.client && other.at >= line.at);
    let mut next = of_client.filter(|other| matches!(other.event, Event::Asked | Event::Killed));
    next.next().map_or(u64::MAX, |next| next.at)
}
