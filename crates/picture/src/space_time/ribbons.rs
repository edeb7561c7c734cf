//! Ribbons below the lanes: to which node a node's vote is given, or that it has the token, from moment to moment.

use doorway_core::NodeId;
use serde::{Serialize, Serializer};

use super::plan::{DiagramPlan, LanePlan};

/// What a ribbon shows. As JSON it is the number of the node, or `"token"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RibbonHolder {
    /// The vote is given to this node.
    Vote(NodeId),
    /// The token is here.
    Token,
}

impl Serialize for RibbonHolder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            RibbonHolder::Vote(node) => node.serialize(serializer),
            RibbonHolder::Token => serializer.serialize_str("token"),
        }
    }
}

/// A piece of a ribbon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RibbonPlan {
    /// What it shows.
    pub holder: RibbonHolder,
    /// Its first moment.
    pub from: usize,
    /// The moment in which it ends; the number of moments if it lasts to the end.
    pub until: usize,
}

impl DiagramPlan {
    /// Puts a ribbon below the lane of a node. `changes` tell after how many events which holder is known, in their order.
    pub fn set_ribbon(&mut self, node: NodeId, changes: &[(usize, Option<RibbonHolder>)]) {
        let ends = changes.iter().skip(1).map(|&(count, _)| self.moment_after(count));
        let ends: Vec<usize> = ends.chain([self.moments.len()]).collect();
        let mut pieces: Vec<RibbonPlan> = Vec::new();
        for (&(count, holder), until) in changes.iter().zip(ends) {
            let from = self.moment_after(count);
            let Some(holder) = holder else { continue };
            match pieces.last_mut() {
                Some(before) if before.holder == holder && before.until == from => before.until = until,
                _ => pieces.push(RibbonPlan { holder, from, until }),
            }
        }
        if let Some(lane) = self.lanes.get_mut(node.index()) {
            lane.ribbon = cropped(pieces, lane);
        }
    }

    /// The moment of the last of so many events; the first moment before any.
    fn moment_after(&self, count: usize) -> usize {
        let last = self.moments.len();
        count.checked_sub(1).map_or(0, |place| self.moment_of.get(place).copied().unwrap_or(last))
    }
}

/// What is left of a ribbon before its node goes down for good, without pieces that take no time.
fn cropped(pieces: Vec<RibbonPlan>, lane: &LanePlan) -> Vec<RibbonPlan> {
    let down = lane.crashes.last().filter(|_| lane.down).map(|crash| crash.moment);
    let crop = |piece: RibbonPlan| RibbonPlan {
        until: down.map_or(piece.until, |down| piece.until.min(down)),
        ..piece
    };
    pieces.into_iter().map(crop).filter(|piece| piece.until > piece.from).collect()
}

#[cfg(test)]
mod tests {
    use doorway_core::Ticks;

    use super::super::plan::Mark;
    use super::*;

    /// Eight events in six moments, and one lane.
    fn plan(down: bool) -> DiagramPlan {
        let crashes = if down { vec![Mark { moment: 4, event: 6 }] } else { Vec::new() };
        DiagramPlan {
            moments: (0..6).map(Ticks).collect(),
            moment_of: vec![0, 1, 1, 2, 3, 3, 4, 5],
            lanes: vec![LanePlan { stays: Vec::new(), crashes, down, ribbon: Vec::new() }],
            ..DiagramPlan::default()
        }
    }

    fn ribbon(down: bool, changes: &[(usize, Option<RibbonHolder>)]) -> Vec<(RibbonHolder, usize, usize)> {
        let mut plan = plan(down);
        plan.set_ribbon(NodeId::new(0), changes);
        plan.lanes[0].ribbon.iter().map(|piece| (piece.holder, piece.from, piece.until)).collect()
    }

    #[test]
    fn a_piece_lasts_from_its_event_to_the_next_change() {
        let vote = |index| Some(RibbonHolder::Vote(NodeId::new(index)));
        let changes =
            [(0, None), (2, vote(6)), (4, vote(6)), (5, vote(7)), (6, None), (8, Some(RibbonHolder::Token))];
        assert_eq!(
            ribbon(false, &changes),
            [(RibbonHolder::Vote(NodeId::new(6)), 1, 3), (RibbonHolder::Token, 5, 6)],
            "equal neighbours are one piece, and one within a moment is left out"
        );
    }

    #[test]
    fn a_ribbon_ends_when_its_node_goes_down_for_good() {
        let changes = [(0, Some(RibbonHolder::Token))];
        assert_eq!(ribbon(false, &changes), [(RibbonHolder::Token, 0, 6)]);
        assert_eq!(ribbon(true, &changes), [(RibbonHolder::Token, 0, 4)]);
        assert_eq!(ribbon(true, &[(8, Some(RibbonHolder::Token))]), []);
    }

    #[test]
    fn a_holder_is_a_number_or_the_token() {
        let holders = [RibbonHolder::Vote(NodeId::new(6)), RibbonHolder::Token];
        assert_eq!(serde_json::to_string(&holders).expect("it can be written"), "[7,\"token\"]");
    }
}
