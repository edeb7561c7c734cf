//! Sanders' algorithm in a structure that breaks the theorem's conditions (E17d).
//!
//! The algorithm is the correct one, which refuses such structures; here they are not checked. Two nodes exclude each other if
//! their I meet and lie in their R, or if each keeps its own vote and asks the other. If only one of the two asks the
//! other (the structure one-sided), the other enters on its own vote and has no idea that it should wait. If a node
//! informs those that it did not ask (the structure unasked), the I meet but no node has given a vote to be freed.
//!
//! Two nodes suffice. One-sided, four steps: 1 asks 2, which says yes without keeping its vote; 2 asks itself and enters;
//! the yes reaches 1, and it enters as well. Unasked, two steps: each asks itself alone and enters.

use doorway_core::{
    About, Choice, Entry, Factory, Members, NodeSet, Parameter, PerNode, Plan, Refusal, Specimen,
};
use serde::Serialize;

use crate::message::sanders::{self, Sanders, Structure};
use crate::specimens::spoiled::{Fault, Spoiled};
use crate::structures::read;

/// No rule is wrong, but what rests on the conditions does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Unchecked;

impl Fault for Unchecked {
    type Of = Sanders;
}

/// The unchecked structures.
const STRUCTURE: Parameter = Parameter {
    name: "structure",
    default: "one-sided",
    help: "whom a node asks and informs: one-sided (itself and those after it, itself), unasked (itself, everybody) or \
           file:PATH",
};

/// A structure that may break the theorem's conditions.
///
/// # Errors
/// If there is no such structure.
pub fn structure(choice: &Choice, members: &Members) -> Result<Structure, Refusal> {
    let n = members.n();
    let alone = PerNode::from_fn(n, |node| [node].into_iter().collect());
    let and_those_after = PerNode::from_fn(n, |node| members.iter().filter(|&other| other >= node).collect());
    let (asks, informs) = match (choice.word.as_str(), &choice.file) {
        (_, Some(text)) => read(text, members)?,
        ("one-sided", None) => (and_those_after, alone),
        ("unasked", None) => (alone, PerNode::same(n, NodeSet::first(n))),
        (word, None) => {
            let known = "one-sided, unasked or file:PATH";
            return Err(Refusal::new(format!("there is no structure {word:?}: {known}")));
        }
    };
    Ok(Structure { asks, informs })
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<Unchecked>> {
    Entry {
        about: About {
            name: "sanders/unchecked-structure",
            title: "Sanders, unchecked",
            delay: "–",
            parameters: &[STRUCTURE],
            source: include_str!("unchecked_structure.rs"),
            specimen: Some(Specimen {
                id: "E17d",
                of: "sanders",
                wrong: "only one of two nodes asks the other, or a node informs those that it does not ask",
                verdict: "exclusion violated",
            }),
            ..sanders::ABOUT
        },
        bind: |options| {
            let choice = options.choice(&STRUCTURE);
            Ok(Factory::new(move |members| {
                let structure = structure(&choice, members)?;
                Ok(Plan::new(move |me, start| Spoiled::new(Sanders::new(me, &structure, start))))
            }))
        },
    }
}
