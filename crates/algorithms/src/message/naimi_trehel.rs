//! Naimi and Tréhel's algorithm.
//!
//! M. Naimi, M. Tréhel, "How to detect a failure and regenerate the token in the log(n) distributed algorithm for
//! mutual exclusion", 1987; M. Naimi, M. Tréhel, A. Arnold, "A log(N) distributed mutual exclusion algorithm based on
//! path reversal", Journal of Parallel and Distributed Computing 34(1), 1996.
//!
//! Two structures share the work. `father` leads towards the last requester; a request travels along it, and every
//! node that it passes makes the requester its new father. `next` is the queue, spread over the waiting nodes: each
//! knows only its successor, to which it passes the token when it leaves.
//!
//! Messages: O(log N) per entry on average, at most N; 0 if the token is here. Delay: T. Needs: channels of any order.
//! First come, first served, in the order in which requests reach the last requester.

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Factory, Family, Members, NodeId, Out, Scale, Start,
};
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct NaimiTrehel {
    me: NodeId,
    /// Towards the last requester; `None` if that is this node.
    father: Option<NodeId>,
    /// The node that gets the token after this one.
    next: Option<NodeId>,
    token: bool,
    /// Whether this node waits or is inside.
    requesting: bool,
    /// While this node waits: the first node its request went to. No rule reads it; it only explains the wait.
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

mod proof;

/// Its place in the catalog.
pub fn entry() -> Entry<NaimiTrehel> {
    Entry {
        about: About {
            name: "naimi-trehel",
            title: "Naimi–Tréhel 1987",
            family: Family::Token,
            needs: Channels::Any,
            messages: Cost {
                formula: "0 … N, O(log N) mean",
                bounds: |Scale { n, .. }| if n > 1.0 { [0.0, n] } else { [0.0; 2] },
            },
            delay: "T",
            parameters: &[],
            source: include_str!("naimi_trehel.rs"),
            specimen: None,
        },
        bind: |_| Ok(Factory::simple(NaimiTrehel::new)),
    }
}
