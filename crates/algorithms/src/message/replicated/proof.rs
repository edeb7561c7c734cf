//! The replicated coordinator, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{Cut, Explain, Field, Group, Hints, Invariant, NodeId, NodeSet, Permission, Phase, Rule};

use super::{Book, Msg, Replicated, Ticket};

/// Why the primary grants no second client.
pub const INSIDE_HAS_A_TICKET: &str =
    "a primary has the ticket of every client inside that follows it, or knows of its crash";
/// Why each GRANT has a larger fence than the one before.
pub const BOOK_IS_IN_ORDER: &str = "the fences in a book rise up to its last, and each client has one ticket";

impl Replicated {
    /// The ticket of a client's current request, as far as this node knows.
    fn ticket_of(&self, client: NodeId, number: u64) -> Option<&Ticket> {
        self.book.tickets.iter().find(|ticket| (ticket.client, ticket.number) == (client, number))
    }

    /// The backups that have not acknowledged the ticket with this fence.
    fn missing(&self, fence: u64) -> NodeSet {
        self.backups().iter().filter(|backup| self.acknowledged[*backup] < Some(fence)).collect()
    }

    /// The client that may be inside: the first of the book, once it was granted.
    fn served(&self) -> Option<NodeId> {
        let first = self.book.tickets.front().filter(|first| self.granted == Some(first.fence));
        first.map(|first| first.client)
    }
}

impl Explain for Replicated {
    fn fields(&self) -> Vec<Field> {
        let role =
            if self.is_primary() { "primary".to_owned() } else { format!("backup of {}", self.primary) };
        let mut fields = vec![
            Field::new("role", role),
            Field::list("book", self.book.tickets.iter().map(|ticket| ticket.client)),
        ];
        if self.is_primary() {
            fields.push(Field::optional("granted to", self.served()));
            let unknown = self.book.tickets.back().map(|last| self.missing(last.fence));
            fields.push(Field::list("not acknowledged by", unknown.iter().flat_map(NodeSet::iter)));
        }
        fields
    }

    fn waits_for(&self) -> NodeSet {
        if !self.is_primary() {
            return [self.primary].into_iter().collect();
        }
        let missing = self.ticket_of(self.me, self.number).map(|mine| self.missing(mine.fence));
        let ahead = self.book.tickets.front().map(|first| first.client).filter(|first| *first != self.me);
        missing.unwrap_or_default().iter().chain(ahead).collect()
    }

    fn permission(&self) -> Permission {
        match self.served() {
            _ if !self.is_primary() => Permission::None,
            Some(client) => Permission::GivenTo(client),
            None => Permission::Free,
        }
    }

    const RULES: &'static [Rule] = &[
        Rule::new("ask", "A client that wants in sends its REQUEST to the primary."),
        Rule::new(
            "replicate",
            "The primary writes a ticket into its book and sends the book to its backups.",
        ),
        Rule::new("acknowledge", "A backup keeps the book and acknowledges it."),
        Rule::new(
            "grant",
            "The primary lets the first client of its book in when every backup knows the ticket.",
        ),
        Rule::new("leave", "A client that leaves tells the primary."),
        Rule::new(
            "take over",
            "The next node after a crashed primary sends its copy of the book to the others.",
        ),
        Rule::new("ask again", "A client that waits sends its REQUEST to the new primary."),
        Rule::new(
            "leave again",
            "A client that is let in once more after it has left tells the new primary.",
        ),
    ];

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: INSIDE_HAS_A_TICKET,
                holds: |cut| {
                    cut.states()
                        .all(|(node, client)| cut.phase(node) != Phase::Inside || has_ticket(cut, client))
                },
            },
            Invariant {
                name: BOOK_IS_IN_ORDER,
                holds: |cut| cut.states().all(|(_, state)| is_in_order(&state.book)),
            },
        ]
    }
}

fn has_ticket(cut: &Cut<'_, Replicated>, client: &Replicated) -> bool {
    let primary = cut.state(client.primary);
    let is_gone = !primary.alive.contains(client.me);
    is_gone || !primary.is_primary() || primary.ticket_of(client.me, client.number).is_some()
}

fn is_in_order(book: &Book) -> bool {
    let fences: Vec<u64> = book.tickets.iter().map(|ticket| ticket.fence).collect();
    let clients: NodeSet = book.tickets.iter().map(|ticket| ticket.client).collect();
    fences.is_sorted_by(|one, next| one < next)
        && fences.last().is_none_or(|last| *last <= book.last)
        && clients.len() == fences.len()
}

impl Hints for Replicated {
    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        show(Group::Requests(self.me), &mut self.number);
        show_book(&mut self.book, show);
        let acknowledged = self.acknowledged.iter_mut().filter_map(|(_, last)| last.as_mut());
        acknowledged.chain(&mut self.granted).for_each(|fence| show(Group::Time, fence));
        true
    }

    fn counters_in(from: NodeId, to: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        match msg {
            Msg::Request(number) | Msg::Release(number) => show(Group::Requests(from), number),
            Msg::Update(book) => show_book(book, show),
            Msg::Ack(last) => show(Group::Time, last),
            Msg::Grant { number, fence } => {
                show(Group::Requests(to), number);
                show(Group::Time, fence);
            }
        }
    }
}

fn show_book(book: &mut Book, show: &mut dyn FnMut(Group, &mut u64)) {
    show(Group::Time, &mut book.last);
    for ticket in &mut book.tickets {
        show(Group::Requests(ticket.client), &mut ticket.number);
        show(Group::Time, &mut ticket.fence);
    }
}
