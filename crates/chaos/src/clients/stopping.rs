//! How clients stop, and whether they give signs of life.
//!
//! A client that must stop may take until its deadline, and a late one has the margin after it. Half of them use all of that: they
//! write for the last time when their node is just about to free what they hold.

use doorway_core::Ticks;
use doorway_node::{ClientId, Command, RequestId};

use super::{Clients, GENERATION, SIGN, State};
use crate::cluster::Cluster;

impl Clients {
    /// A client must stop: it does at once, or as late as may be.
    pub(super) fn stop(&mut self, place: usize, cluster: &mut Cluster) {
        if self.is_recovering.is_some() || self.manners.happens(0.5) {
            self.leave(place, cluster);
        } else {
            self.linger(place, cluster);
        }
    }

    /// A client that must stop stays until just before its sections are free.
    fn linger(&mut self, place: usize, cluster: &mut Cluster) {
        let margin = cluster.design().timing.margin;
        let client = &mut self.clients[place];
        let (State::Inside { request, sections, .. } | State::Stopping { request, sections }) = &client.state
        else {
            return;
        };
        client.state = State::Stopping { request: *request, sections: sections.clone() };
        let (node, freed_at) = (client.node, client.told_until + margin);
        let end = cluster.engine().true_time(node, freed_at);
        let early = Ticks(1 + self.manners.below(100));
        self.put_alarm(place, end - cluster.now() - early, cluster);
    }

    /// One that has lingered writes once more. It says that it has stopped, or leaves that to its node.
    pub(super) fn stop_late(&mut self, place: usize, cluster: &mut Cluster) {
        if self.manners.happens(0.5) {
            self.leave(place, cluster);
        } else {
            self.write(place, cluster);
            self.rest(place, cluster);
        }
    }

    /// Whether a client that is inside does not vanish but is cut off from its node: it hears nothing any more and continues until the
    /// last deadline that it knows.
    pub(super) fn is_forsaken(&mut self, place: usize, cluster: &mut Cluster) -> bool {
        let client = &self.clients[place];
        let is_inside = matches!(client.state, State::Inside { .. });
        if !is_inside || !self.manners.happens(0.5) {
            return false;
        }
        let node = client.node;
        self.linger(place, cluster);
        cluster.command(node, Command::Unreachable(ClientId(place as u64)));
        true
    }

    /// The time-to-live of the next request of a client, if it has one. Some will give no sign of life.
    pub(super) fn draw_ttl(&mut self, place: usize) -> Option<Ticks> {
        let has_ttl = self.manners.happens(0.1) && self.is_recovering.is_none();
        let ttl = has_ttl.then(|| Ticks(300_000 + self.manners.below(700_000)));
        let client = &mut self.clients[place];
        client.ttl = ttl;
        client.gives_signs = ttl.is_none() || self.manners.happens(0.5);
        ttl
    }

    /// By how much longer a client stays that gives no signs of life: so long that it loses what it holds.
    pub(super) fn silence(&mut self, place: usize) -> Ticks {
        let client = &self.clients[place];
        client.ttl.filter(|_| !client.gives_signs).map_or(Ticks(0), |ttl| Ticks(ttl.0 * 2))
    }

    /// The next sign of life of a client is due after a third of its time-to-live.
    pub(super) fn put_sign(&mut self, place: usize, request: RequestId, cluster: &mut Cluster) {
        let client = &self.clients[place];
        let Some(ttl) = client.ttl.filter(|_| client.gives_signs) else { return };
        let token = (self.kind << 56) | ((place as u64) << 40) | SIGN | (request.0 & GENERATION);
        let at = cluster.now() + Ticks(ttl.0 / 3);
        cluster.engine().put_alarm(at, token);
    }

    /// A client that is inside gives a sign of life, unless it is asleep.
    pub(super) fn give_sign(&mut self, place: usize, request: u64, cluster: &mut Cluster) {
        let client = &self.clients[place];
        let State::Inside { request: its, .. } = client.state else { return };
        if its.0 & GENERATION != request {
            return;
        }
        let (node, is_asleep) = (client.node, client.is_asleep);
        self.put_sign(place, its, cluster);
        if !is_asleep {
            cluster.command(node, Command::Alive(ClientId(place as u64)));
        }
    }
}
