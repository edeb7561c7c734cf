//! The contract between a mutual-exclusion algorithm and the drivers that run it.
//!
//! An [`Algorithm`] is a pure state machine. Its inputs are a request by the application, a message and a
//! release; its outputs, collected in [`Out`], are messages to send and permission to enter. It has no
//! socket, thread, wall clock or randomness, so the simulator, the checker and the real node run the same
//! code.
//!
//! The data flows one way: [`Input`] → [`Node::step`] → the algorithm's handler → [`Out`] → driver.
//!
//! ```
//! use doorway_core::{Algorithm, Input, Node, NodeId, Out, Phase};
//! use serde::{Deserialize, Serialize};
//!
//! /// Two nodes that take turns: node 1 first, and each passes the turn on when it leaves.
//! #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
//! struct Turns { peer: NodeId, my_turn: bool, wants: bool }
//!
//! #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
//! enum Msg { YourTurn }
//!
//! impl Algorithm for Turns {
//!     type Msg = Msg;
//!     fn on_request(&mut self, out: &mut Out<Msg>) {
//!         self.wants = true;
//!         if self.my_turn { out.enter(); }
//!     }
//!     fn on_message(&mut self, _from: NodeId, Msg::YourTurn: Msg, out: &mut Out<Msg>) {
//!         self.my_turn = true;
//!         if self.wants { out.enter(); }
//!     }
//!     fn on_release(&mut self, out: &mut Out<Msg>) {
//!         (self.wants, self.my_turn) = (false, false);
//!         out.send(self.peer, Msg::YourTurn);
//!     }
//! }
//!
//! let mut node = Node::new(Turns { peer: NodeId::new(1), my_turn: true, wants: false });
//! let mut out = Out::default();
//! node.step(Input::Request, &mut out);
//! assert_eq!(node.phase(), Phase::Inside);
//! ```

mod algorithm;
pub mod clocks;
mod entry;
mod explain;
mod factory;
mod fence;
mod hints;
mod id;
mod kind;
mod machine;
mod node;
mod out;
pub mod parts;
mod queues;
mod sections;
mod set;
pub mod shared;
mod sound;
mod stop;
mod table;

pub use algorithm::{Algorithm, Data, Input, Message};
pub use clocks::{LamportClock, Stamp, VectorClock};
pub use entry::{
    About, Channels, Choice, Cost, Entry, Family, Options, Parameter, Registrar, Scale, Specimen,
};
pub use explain::{Cut, Explain, Field, InFlightMessage, Invariant, ONE_TOKEN, Permission, Rule};
pub use factory::{Factory, Members, Plan, Refusal, Start};
pub use fence::{Fence, Fenced};
pub use hints::{Ahead, Group, Hints};
pub use id::NodeId;
pub use kind::{Kind, kind, kinds};
pub use machine::{Ask, Effects, Entered, Machine, Never, Ticks};
pub use node::{Node, Phase};
pub use out::{Out, Sent, To};
pub use queues::{NodeQueue, RequestQueue};
pub use sections::{Charter, Named, Register, SectionName, Sections, is_plain};
pub use set::NodeSet;
pub use sound::{LARGEST_COUNT, check_sound};
pub use stop::Stop;
pub use table::PerNode;
