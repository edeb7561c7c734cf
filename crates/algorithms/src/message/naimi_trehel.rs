//! Naimi and Tréhel's algorithm.
//!
//! M. Naimi, M. Tréhel, "How to detect a failure and regenerate the token in the log(n) distributed algorithm for
//! mutual exclusion", 1987; M. Naimi, M. Tréhel, A. Arnold, "A log(N) distributed mutual exclusion algorithm based on
//! path reversal", Journal of Parallel and Distributed Computing 34(1), 1996.
//!
//! Two structures share the work. `father` leads towards whoever asked last; a request travels along it, and every
//! node that it passes makes the asker its new father. `next` is the queue, spread over those who wait: each knows
//! only its successor, to whom it passes the token when it leaves.
//!
//! Messages: O(log N) per entry on average, at most N; 0 if the token is here. Delay: T. Needs: channels of any order.
//! First come first served, in the order in which requests reach the last one that asked.

use doorway_core::*;
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct NaimiTrehel {
    me: NodeId,
    /// Towards the last one that asked; nobody, if that is this node.
    father: Option<NodeId>,
    /// Who gets the token after this node.
    next: Option<NodeId>,
    token: bool,
    /// Whether this node waits or is inside.
    requesting: bool,
    /// While it waits: where its request went first. Nothing depends on it; it can tell people whom it waits for.
    asked: Option<NodeId>,
}

/// The messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// This node wants in; the request may have been forwarded.
    Request(NodeId),
    /// The token itself.
    Token,
}

impl NaimiTrehel {
    /// Node `me`; the token starts at the first node, or at the one inside.
    pub fn new(me: NodeId, _: &Members, start: Start) -> Self {
        let root = start.holder_or_first();
        Self {
            me,
            father: (me != root).then_some(root),
            next: None,
            token: me == root,
            requesting: start.is_inside(me),
            asked: None,
        }
    }

    fn give_token(&mut self, to: NodeId, out: &mut Out<Msg>) {
        self.token = false;
        out.send(to, Msg::Token);
    }
}

impl Algorithm for NaimiTrehel {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        self.requesting = true;
        self.asked = self.father.take();
        match self.asked {
            None => out.enter(),
            Some(father) => {
                out.rule("ask");
                out.send(father, Msg::Request(self.me));
            }
        }
    }

    fn on_message(&mut self, _: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(asker) => {
                match self.father {
                    Some(father) => {
                        out.rule("forward");
                        out.send(father, Msg::Request(asker));
                    }
                    None if !self.requesting && !self.token => {
                        out.broken("the last one that asked has no token")
                    }
                    None if !self.requesting => {
                        out.rule("give");
                        self.give_token(asker, out);
                    }
                    None if self.next.is_some() => out.broken("two requests reached the last one that asked"),
                    None => self.next = Some(asker),
                }
                self.father = Some(asker);
            }
            Msg::Token => {
                self.token = true;
                self.asked = None;
                out.enter();
            }
        }
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.requesting = false;
        if let Some(next) = self.next.take() {
            out.rule("pass on");
            self.give_token(next, out);
        }
    }
}

impl Explain for NaimiTrehel {
    fn fields(&self) -> Vec<Field> {
        vec![
            Field::optional("father", self.father),
            Field::optional("next", self.next),
            Field::new("token", self.token),
            Field::new("requesting", self.requesting),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        self.asked.into_iter().collect()
    }

    fn permission(&self) -> Permission {
        if self.token { Permission::Token } else { Permission::None }
    }

    fn rules() -> &'static [Rule] {
        &[
            Rule {
                name: "ask",
                text: "A node that wants in sends its request towards the last one that asked, and is now the last.",
            },
            Rule {
                name: "forward",
                text: "A request is forwarded towards the last one that asked, and its asker becomes the father.",
            },
            Rule { name: "give", text: "Who has the token and does not need it gives it to the asker." },
            Rule { name: "pass on", text: "Who leaves passes the token to its successor." },
        ]
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: ONE_TOKEN,
                holds: |cut| cut.tokens(|_, node| node.token, |msg| *msg == Msg::Token) == 1,
            },
            Invariant {
                name: "the successors from the token on are nodes that wait, each of them once",
                holds: |cut| {
                    let here = cut.states().find(|(_, node)| node.token).map(|(me, _)| me);
                    let token = cut.in_flight.iter().find(|letter| *letter.msg == Msg::Token);
                    let holder = here.or(token.map(|letter| letter.to));
                    let successors = std::iter::successors(holder, |&node| cut.state(node).next);
                    let chain: Vec<NodeId> = successors.take(cut.nodes.len() + 1).collect();
                    chain.iter().copied().collect::<NodeSet>().len() == chain.len()
                        && chain.iter().skip(1).all(|&node| cut.phase(node) == Phase::Waiting)
                },
            },
            Invariant {
                name: "following the fathers from anywhere ends",
                holds: |cut| {
                    let step = |node: NodeId| cut.state(node).father;
                    cut.states().all(|(me, _)| {
                        std::iter::successors(Some(me), |&node| step(node)).take(cut.nodes.len() + 1).count()
                            <= cut.nodes.len()
                    })
                },
            },
        ]
    }
}

impl Hints for NaimiTrehel {
    /// Nothing depends on where a request went first.
    fn forget(&mut self) {
        self.asked = None;
    }

    fn counters(&mut self, _: &mut dyn FnMut(Group, &mut u64)) -> bool {
        true
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<NaimiTrehel> {
    Entry {
        about: About {
            name: "naimi-trehel",
            title: "Naimi–Tréhel 1987",
            family: Family::Token,
            needs: Channels::Any,
            messages: "0 … N, O(log N) mean",
            cost: |Scale { n, .. }| if n > 1.0 { [0.0, n] } else { [0.0; 2] },
            delay: "T",
            parameters: &[],
            source: include_str!("naimi_trehel.rs"),
            specimen: None,
        },
        bind: |_| Ok(Factory::simple(NaimiTrehel::new)),
    }
}
