//! The central coordinator, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{
    Ahead, Explain, Field, Group, Hints, Invariant, NodeId, NodeSet, Permission, Phase, Rule,
};

use super::{Central, Msg};

/// Why the server never grants twice, and never waits for nothing.
pub const BUSY_IS_ACCOUNTED_FOR: &str =
    "the server is busy exactly while a GRANT, a client inside or a RELEASE accounts for it";

impl Explain for Central {
    fn fields(&self) -> Vec<Field> {
        if self.me != self.server {
            return vec![Field::new("requests made", self.number)];
        }
        let queue = self.queue.iter().map(|ticket| ticket.client);
        vec![Field::optional("busy with", self.busy.map(|t| t.client)), Field::list("queue", queue)]
    }

    fn waits_for(&self) -> NodeSet {
        let blocker = if self.me == self.server { self.busy.map(|t| t.client) } else { Some(self.server) };
        blocker.into_iter().collect()
    }

    fn permission(&self) -> Permission {
        match self.busy {
            _ if self.me != self.server => Permission::None,
            Some(ticket) => Permission::GivenTo(ticket.client),
            None => Permission::Free,
        }
    }

    const RULES: &'static [Rule] = &[
        Rule::new("ask", "A client that wants in sends its REQUEST to the server."),
        Rule::new("grant", "When no client is inside, the server lets the first of its queue in."),
        Rule::new("leave", "A client that leaves tells the server."),
    ];

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: BUSY_IS_ACCOUNTED_FOR,
            holds: |cut| {
                let flying = cut.flying(|letter| !matches!(letter.msg, Msg::Request(_)));
                let inside = cut.nodes.iter().filter(|node| node.phase() == Phase::Inside).count();
                flying + inside == usize::from(cut.state(NodeId::new(0)).busy.is_some())
            },
        }]
    }
}

impl Hints for Central {
    /// A RELEASE lets the first of the queue in, or the next requester if the queue is empty: the same client, whether
    /// other requests arrive before the RELEASE or after it. If the first is the server itself, the step is an entry.
    fn commutes(&self, _: NodeId, msg: &Msg, _: Ahead) -> bool {
        let first = self.queue.front();
        matches!(msg, Msg::Release(_)) && first.is_none_or(|first| first.client != self.me)
    }

    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        show(Group::Requests(self.me), &mut self.number);
        let tickets = self.busy.iter_mut().chain(&mut self.queue);
        tickets.for_each(|ticket| show(Group::Requests(ticket.client), &mut ticket.number));
        true
    }

    fn counters_in(from: NodeId, to: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        match msg {
            Msg::Request(number) | Msg::Release(number) => show(Group::Requests(from), number),
            Msg::Grant(number) => show(Group::Requests(to), number),
        }
    }
}
