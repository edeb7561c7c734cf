//! A quorum system as a page asks for it.

use doorway_core::{NodeSet, Refusal};
use doorway_experiments::quorums::Rated;
use doorway_picture::quorums::layout;
use doorway_quorums::{Construction, QuorumSystem};
use doorway_simulator::Random;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Files, RawValue, Trouble};

/// A kind of quorums among so many nodes, in the words of `doorway quorum`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuorumSpec {
    kind: String,
    #[serde(default)]
    nodes: Option<RawValue>,
    #[serde(default)]
    seed: Option<RawValue>,
    #[serde(default)]
    files: Files,
}

/// So many minimal quorums are listed.
const MOST_LISTED: usize = 2_000;

impl QuorumSpec {
    /// Builds the system, verifies and rates it.
    ///
    /// # Errors
    /// If it cannot be read, or there is no such system.
    pub fn json(&self, most_nodes: usize) -> Result<Value, Trouble> {
        let construction = self.construction().map_err(Trouble::Unreadable)?;
        let nodes = self.nodes.as_ref().map(|word| word.read::<usize>("nodes"));
        let nodes = nodes.transpose().map_err(Trouble::Unreadable)?;
        let missing = || Refusal::new(format!("how many nodes? {} needs nodes", construction.name()));
        let nodes = nodes.or_else(|| construction.implied_nodes());
        let nodes = nodes.ok_or_else(missing).map_err(Trouble::Unreadable)?;
        if nodes > most_nodes {
            let sentence = format!("a quorum system here has at most {most_nodes} nodes, not {nodes}");
            return Err(Trouble::Impossible(Refusal::new(sentence)));
        }
        let seed = self.seed.as_ref().map_or(Ok(1), |word| word.read("seed")).map_err(Trouble::Unreadable)?;
        let system = QuorumSystem::build(&construction, nodes).map_err(Trouble::Impossible)?;
        Ok(self.told(&system, seed))
    }

    fn construction(&self) -> Result<Construction, Refusal> {
        let choice = self.files.choice(&self.kind)?;
        Construction::parse(&choice.word, choice.file.as_deref())
    }

    fn told(&self, system: &QuorumSystem, seed: u64) -> Value {
        let (size, responsibility) = (system.sizes(), system.responsibility());
        let verified = system.verify();
        let mut random = Random::new(seed, 0);
        let rated = Rated::new(system, &crashes(system), &mut || random.fraction());
        let mut ratings = Value::from(rated.json());
        let curve = rated.failures.iter().map(|(_, crashed, failure)| [*crashed, failure.probability()]);
        ratings["curve"] = json!(curve.collect::<Vec<_>>());
        let minimal = rated.ratings.quorums().filter(|quorums| quorums.len() <= MOST_LISTED);
        json!({
            "version": 1,
            "kind": self.kind,
            "name": system.construction().name(),
            "n": system.n(),
            "quorums": system.assignment().values(),
            "minimal": minimal.map(<[NodeSet]>::to_vec),
            "layout": layout(system),
            "verification": {
                "intersecting": verified.is_ok(),
                "sentence": verified.err().map(|refusal| refusal.to_string()),
                "size": {"min": size.least, "mean": size.mean, "max": size.most},
                "responsibility": {"min": responsibility.least, "mean": responsibility.mean, "max": responsibility.most},
            },
            "ratings": ratings,
        })
    }
}

/// The probabilities of a crash for the curve, from 0 to 1: fewer where sets of nodes have to be drawn by lot.
fn crashes(system: &QuorumSystem) -> Vec<(String, f64)> {
    const LISTED: usize = 20;
    let is_drawn = matches!(
        system.construction(),
        Construction::Plane | Construction::Truncated | Construction::Cyclic | Construction::File(_)
    );
    let steps = if is_drawn && system.n() > LISTED { 10 } else { 20 };
    let share = |step| f64::from(step) / f64::from(steps);
    (0..=steps).map(share).map(|share| (share.to_string(), share)).collect()
}
