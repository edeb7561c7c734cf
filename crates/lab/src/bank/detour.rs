//! Messages of a node to itself that take the way over the network.
//!
//! A daemon hands its node's messages to itself over at once, before anything else can happen. A lock whose fault is what
//! happens in between would look right there, by luck: in most programs such a message waits in a queue with those of the
//! others, and in virtual time it is under way like all of them. Here a neighbour sends it back, so that it takes a while on a
//! real network too.

use doorway_core::*;
use serde::{Deserialize, Serialize};

/// A message, and what it is to its receiver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Routed<M> {
    /// It is for the receiver.
    Direct(M),
    /// The receiver is to send it back.
    There(M),
    /// The receiver has sent it to itself.
    Back(M),
}

/// One node of an algorithm that hears itself over the network.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Detour<A> {
    me: NodeId,
    neighbour: NodeId,
    of: A,
}

impl<A: Algorithm> Detour<A> {
    /// A factory of such nodes.
    #[must_use]
    pub fn factory(of: Factory<A>) -> Factory<Self> {
        Factory::new(move |&members| {
            let plan = of.plan(&members)?;
            Ok(Plan::new(move |me, start| {
                let neighbour = NodeId::new((me.index() + 1) % members.n());
                Self { me, neighbour, of: plan.make(me, start) }
            }))
        })
    }

    fn step(&mut self, out: &mut Out<Routed<A::Msg>>, act: impl FnOnce(&mut A, &mut Out<A::Msg>)) {
        let mut inner = Out::default();
        act(&mut self.of, &mut inner);
        while let Some(msg) = inner.take_own(self.me) {
            out.rule(inner.last_rule());
            out.send(self.neighbour, Routed::There(msg));
        }
        for Sent { to, msg, rule } in inner.drain() {
            out.rule(rule);
            out.send_to(to, Routed::Direct(msg));
        }
        (0..inner.entries()).for_each(|_| out.enter());
        inner.breach().into_iter().for_each(|what| out.broken(what));
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

    fn on_message(&mut self, from: NodeId, msg: Self::Msg, out: &mut Out<Self::Msg>) {
        let me = self.me;
        match msg {
            Routed::Direct(msg) => self.step(out, |of, out| of.on_message(from, msg, out)),
            Routed::There(msg) => out.send(from, Routed::Back(msg)),
            Routed::Back(msg) => self.step(out, |of, out| of.on_message(me, msg, out)),
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
    fn what_a_node_tells_itself_comes_back_from_its_neighbour_and_the_rest_goes_straight() {
        let factory = Detour::factory(Factory::simple(|me, _, _| Echo(me)));
        let plan = factory.plan(&Members::new(2).expect("two nodes")).expect("any number will do");
        let [first, second] = [0, 1].map(NodeId::new);
        let [mut asks, mut sends_back] = [first, second].map(|me| plan.make(me, Start::Empty));
        let mut out = Out::default();
        asks.on_request(&mut out);
        assert_eq!((out.sends()[0].to.clone(), &out.sends()[0].msg), (To::One(second), &Routed::There(7)));
        out.clear();
        sends_back.on_message(first, Routed::There(7), &mut out);
        assert_eq!((out.sends()[0].to.clone(), &out.sends()[0].msg), (To::One(first), &Routed::Back(7)));
        out.clear();
        asks.on_message(second, Routed::Back(7), &mut out);
        assert_eq!((out.entries(), out.sends().len()), (1, 0));
        asks.on_release(&mut out);
        assert!(out.sends().iter().all(|sent| sent.to.includes(second) && !sent.to.includes(first)));
        let told: Vec<_> = out.sends().iter().map(|sent| sent.msg.clone()).collect();
        assert_eq!(told, [Routed::There(8), Routed::Direct(8)]);
    }
}
