//! Parcels of views that a node has not installed yet.

use std::collections::VecDeque;

use doorway_core::NodeId;

use crate::message::Parcel;

/// Parcels that wait for their view, each with its sender, view and number. What there is no room for is lost: it was not
/// acknowledged, so it is sent again.
#[derive(Debug, Default)]
pub(super) struct KeptParcels {
    parcels: VecDeque<(NodeId, u64, u64, Parcel)>,
    weight: usize,
}

impl KeptParcels {
    /// How many there are at most.
    const MOST: usize = 4_096;
    /// How many bytes they take at most, roughly.
    const HEAVIEST: usize = 16 << 20;

    /// Keeps one if there is room.
    pub(super) fn push(&mut self, from: NodeId, view: u64, seq: u64, parcel: Parcel) {
        let weight = self.weight + parcel.weight();
        if self.parcels.len() < Self::MOST && weight <= Self::HEAVIEST {
            self.weight = weight;
            self.parcels.push_back((from, view, seq, parcel));
        }
    }

    /// Forgets those of earlier views.
    pub(super) fn forget_before(&mut self, number: u64) {
        self.parcels.retain(|(_, view, _, _)| *view >= number);
        self.weight = self.parcels.iter().map(|(_, _, _, parcel)| parcel.weight()).sum();
    }

    /// All of them, in the order in which they came.
    pub(super) fn take(&mut self) -> VecDeque<(NodeId, u64, u64, Parcel)> {
        self.weight = 0;
        std::mem::take(&mut self.parcels)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.parcels.len()
    }
}

#[cfg(test)]
mod tests {
    use doorway_core::SectionName;

    use super::*;

    fn saying(length: usize) -> Parcel {
        let section = SectionName::new("a").expect("a good name");
        Parcel::Section { section, clock: 0, bytes: vec![0; length] }
    }

    #[test]
    fn kept_parcels_are_limited_in_number_and_weight() {
        let from = NodeId::new(1);
        let mut kept = KeptParcels::default();
        (0..5_000).for_each(|seq| kept.push(from, 7, seq, saying(3)));
        assert_eq!(kept.len(), 4_096);
        kept.forget_before(8);
        (0..5_000).for_each(|seq| kept.push(from, 8, seq, saying(64 << 10)));
        assert_eq!(kept.len(), 255, "of 16 MiB a parcel of 64 KiB takes a little more than the 256th part");
        assert_eq!((kept.take().len(), kept.weight, kept.len()), (255, 0, 0));
    }
}
