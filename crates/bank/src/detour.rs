//! A network with roads of different lengths, for locks that are to show their faults.
//!
//! Between daemons on one machine messages arrive at once and in the order in which they were sent, and what a node tells itself
//! it hears before anything else can happen. There many a wrong lock works by luck. In virtual time all messages take
//! their time and may overtake each other. Here they do as well: half of them go straight, and the others wander from node to
//! node before they reach their receiver, as often as chance has it. What a node tells itself goes at least to its neighbour
//! and back. An algorithm that needs channels in order of sending would be wronged by this; the others must bear it.

use doorway_core::{Algorithm, Factory, LamportClock, NodeId, Out, Plan, Sent, To};
use doorway_simulator::Random;
use serde::{Deserialize, Serialize};

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Routed<M> {
    /// The sender.
    from: NodeId,
    /// The receiver.
    to: NodeId,
    /// How many more nodes it visits before.
    detours: u32,
    msg: M,
}

/// One node of an algorithm whose messages take detours.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Detour<A> {
    me: NodeId,
    neighbour: NodeId,
    /// How many messages were sent: what chance is drawn from.
    sent: u64,
    of: A,
}

impl<A: Algorithm> Detour<A> {
    /// The most nodes that a message visits on its way, as a power of two.
    const MOST_DOUBLINGS: u32 = 5;
    const LONGEST: u32 = 1 << Self::MOST_DOUBLINGS;

    /// A factory of such nodes.
    #[must_use]
    pub fn factory(of: Factory<A>) -> Factory<Self> {
        Factory::new(move |&members| {
            let plan = of.plan(&members)?;
            Ok(Plan::new(move |me, start| {
                let neighbour = NodeId::new((me.index() + 1) % members.n());
                Self { me, neighbour, sent: 0, of: plan.make(me, start) }
            }))
        })
    }

    fn step(&mut self, out: &mut Out<Routed<A::Msg>>, act: impl FnOnce(&mut A, &mut Out<A::Msg>)) {
        let mut inner = Out::default();
        act(&mut self.of, &mut inner);
        for Sent { to, msg, rule } in inner.drain() {
            out.rule(rule);
            match to {
                To::One(to) => self.send(to, msg, out),
                To::Set(nodes) => nodes.iter().for_each(|to| self.send(to, msg.clone(), out)),
            }
        }
        (0..inner.entries()).for_each(|_| out.enter());
        inner.breach().into_iter().for_each(|what| out.broken(what));
    }

    /// None in half of all cases, 2 in a quarter, 4 in an eighth, and so on.
    fn send(&mut self, to: NodeId, msg: A::Msg, out: &mut Out<Routed<A::Msg>>) {
        self.sent += 1;
        let mut random = Random::new(self.me.index() as u64, self.sent);
        let doublings = (0..Self::MOST_DOUBLINGS).take_while(|_| random.below(2) == 0).count();
        let detours = match doublings {
            0 => u32::from(to == self.me),
            _ => 1 << doublings,
        };
        self.pass_on(Routed { from: self.me, to, detours, msg }, out);
    }

    fn pass_on(&self, routed: Routed<A::Msg>, out: &mut Out<Routed<A::Msg>>) {
        match routed.detours {
            0 => out.send(routed.to, routed),
            detours => out.send(self.neighbour, Routed { detours: detours - 1, ..routed }),
        }
    }
}

impl<A: Algorithm> Algorithm for Detour<A> {
    type Msg = Routed<A::Msg>;
    const PERPETUAL: bool = A::PERPETUAL;

    fn on_start(&mut self, out: &mut Out<Self::Msg>) {
        self.step(out, A::on_start);
    }

    fn on_request(&mut self, out: &mut Out<Self::Msg>) {
        self.step(out, A::on_request);
    }

    fn on_message(&mut self, _: NodeId, msg: Self::Msg, out: &mut Out<Self::Msg>) {
        if msg.detours > Self::LONGEST {
            return out.broken("a message that would wander for ever");
        }
        match msg.to == self.me && msg.detours == 0 {
            true => self.step(out, |of, out| of.on_message(msg.from, msg.msg, out)),
            false => self.pass_on(msg, out),
        }
    }

    fn on_release(&mut self, out: &mut Out<Self::Msg>) {
        self.step(out, A::on_release);
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        self.of.clock()
    }
}

#[cfg(test)]
mod tests {
    use doorway_core::{Members, NodeSet, Start};

    use super::*;

    /// Asks itself, and enters when it hears itself.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
    struct Echo(NodeId);

    impl Algorithm for Echo {
        type Msg = u8;

        fn on_request(&mut self, out: &mut Out<u8>) {
            out.send(self.0, 7);
        }

        fn on_message(&mut self, from: NodeId, msg: u8, out: &mut Out<u8>) {
            if (from, msg) == (self.0, 7) {
                out.enter();
            }
        }

        fn on_release(&mut self, out: &mut Out<u8>) {
            out.multicast(&NodeSet::first(2), 8);
        }
    }

    #[test]
    fn messages_wander_as_far_as_their_detours_and_a_node_hears_itself_only_from_others() {
        let factory = Detour::factory(Factory::simple(|me, _, _| Echo(me)));
        let plan = factory.plan(&Members::new(2).expect("two nodes")).expect("any number will do");
        let [first, second] = [0, 1].map(NodeId::new);
        let mut nodes = [first, second].map(|me| plan.make(me, Start::Empty));
        let mut lengths = Vec::new();
        for _ in 0..64 {
            let mut out = Out::default();
            nodes[0].on_request(&mut out);
            let (mut at, mut steps) = (first, 0);
            while out.entries() == 0 {
                let sent: Vec<_> = out.drain().collect();
                let [Sent { to: To::One(to), msg, .. }] = &sent[..] else { panic!("{sent:?}") };
                at = *to;
                steps += 1;
                out.clear();
                nodes[at.index()].on_message(first, msg.clone(), &mut out);
            }
            assert_eq!(at, first);
            lengths.push(steps);
        }
        // To the other and back, at the least; of the longer ways each is half as frequent as the one before.
        let count = |length| lengths.iter().filter(|other| **other == length).count();
        assert_eq!([2, 4, 8, 16, 32].map(count), [50, 8, 3, 2, 1]);
    }
}
