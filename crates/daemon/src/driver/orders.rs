//! What operators ask for: to break a section open, to stop, to change who takes part.

use doorway_client::protocol::{Order, Told};
use doorway_core::{NodeId, Refusal, SectionName};
use doorway_node::ClientId;

use super::{Driver, Event, told};
use crate::peers::words::{Answer, Lane, Word};

/// Something that only the leader can do, while it is under way.
pub(super) struct Wish {
    client: ClientId,
    number: u32,
}

impl Driver {
    /// Puts out whoever is inside a section. Every attempt is on the record.
    pub(super) fn break_open(&mut self, client: ClientId, number: u32, section: SectionName) {
        let asker = self.clients.get(&client);
        let (process, label) = asker.map_or((None, ""), |client| (client.process, client.label.as_str()));
        tracing::info!(audit = true, section = section.as_str(), client = client.0, process, label, "break");
        self.tell(client, &told(number, Err(Refusal::new("a section cannot be broken open yet"))));
    }

    pub(super) fn administer(&mut self, client: ClientId, number: u32, order: Order) {
        let asker = self.clients.get(&client);
        let (process, label) = asker.map_or((None, ""), |client| (client.process, client.label.as_str()));
        tracing::info!(audit = true, ?order, client = client.0, process, label, "order");
        match order {
            Order::Stop => {
                self.leavers.push((client, number));
                self.leave(self.shared.config.stop_patience.0);
            }
            Order::Reload => self.reload(client, number),
            Order::Remove { .. } | Order::Appoint { .. } => {
                self.tell(client, &told(number, Err(Refusal::new("voters cannot be changed yet"))));
            }
        }
    }

    fn reload(&mut self, client: ClientId, number: u32) {
        let shared = self.shared.clone();
        self.shared.runtime.spawn_blocking(move || {
            let outcome =
                shared.reload().map(|()| "configuration and certificates are read again".to_owned());
            shared.tell(Event::Finished { client, number, outcome });
        });
    }

    /// Another daemon wants what only a leader can do.
    pub(super) fn lead_for(&mut self, from: NodeId, number: u64, _order: Order) {
        let answer = Answer::Failed("voters cannot be changed yet".to_owned());
        self.shared.peers.tell(from, Lane::Load, &Word::Answer { number, answer });
    }

    pub(super) fn end_wish(&mut self, question: u64, outcome: Result<String, Refusal>) {
        if let Some(Wish { client, number }) = self.wishes.remove(&question) {
            self.tell(client, &told(number, outcome));
        }
    }

    pub(super) fn give_up_wish(&mut self, question: u64) {
        self.end_wish(question, Err(Refusal::new("the node that leads did not answer in time")));
    }
}
