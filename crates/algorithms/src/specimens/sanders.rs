//! Sanders' algorithm where her theorem does not hold: without the remedies, or without what the theorem rests on.
//!
//! Each variant has a page of its own. All but one are made of the faulty copy that Maekawa's variants share; the last is
//! the correct algorithm in a structure that breaks the theorem's conditions.

// tidy: not an algorithm, because each of its variants has a page and an entry of its own.

pub mod clocks_not_merged;
pub mod no_remedy;
pub mod own_request_travels;
pub mod unchecked_structure;

use doorway_core::{About, Cost, Factory, Options, Parameter, Plan, Refusal};

use super::maekawa::{Fault, Faulty};
use crate::message::sanders;
use crate::structures::{QUORUM, STRUCTURE, structures_by};

/// The structure in which the faults show best.
const RICART_AGRAWALA: Parameter = Parameter { default: "ricart-agrawala", ..STRUCTURE };

/// The catalog's description of a variant, without its name, its page and what is wrong.
const ABOUT: About = About {
    delay: "–",
    parameters: &[RICART_AGRAWALA, QUORUM],
    messages: Cost { bounds: |_| [0.0, f64::INFINITY], ..sanders::ABOUT.messages },
    ..sanders::ABOUT
};

fn factory(options: &Options, fault: Fault) -> Result<Factory<Faulty>, Refusal> {
    let structures = structures_by(options, &RICART_AGRAWALA)?;
    Ok(Factory::new(move |members| {
        let structure = structures(members)?;
        Ok(Plan::new(move |me, start| Faulty::new(me, &structure, start, fault)))
    }))
}
