//! Statements about one certain algorithm that are not among its invariants, because they are false or about steps. The algorithm
//! is held to a statement, and the checker decides it.

use doorway_algorithms::lemmas::{CountedTogether, LemmaAt, NeverFalls, Statement, Vectors, held};
use doorway_algorithms::message::singhal::Singhal;
use doorway_algorithms::message::suzuki_kasami::SuzukiKasami;
use doorway_algorithms::specimens::singhal_idle_while_inside::IdleWhileInside;
use doorway_algorithms::specimens::singhal_no_chase::NoChase;
use doorway_algorithms::specimens::spoiled::Spoiled;
use doorway_checker::{Messages, Setting};
use doorway_core::{Explain, Factory, Refusal};

use crate::Subject;

pub use doorway_algorithms::lemmas::Form;

/// The system of Suzuki and Kasami's algorithm held to the statement that no number in its RN ever falls.
///
/// # Errors
/// If the subject is another algorithm, or there is no such system.
pub fn never_falls(subject: &dyn Subject, setting: Setting) -> Result<Messages, Refusal> {
    match subject.factory().downcast_ref::<Factory<SuzukiKasami>>() {
        Some(factory) => system(factory, NeverFalls, setting),
        None => Err(Refusal::new(format!("{} has no RN", subject.about().name))),
    }
}

/// The system of Singhal's algorithm, or of one of its specimens, held to a lemma or theorem by its number.
///
/// # Errors
/// If the subject is another algorithm, or there is no such lemma or system.
pub fn lemma(subject: &dyn Subject, number: &str, form: Form, setting: Setting) -> Result<Messages, Refusal> {
    let factory = subject.factory();
    if let Some(factory) = factory.downcast_ref::<Factory<Singhal>>() {
        numbered(factory, number, form, setting)
    } else if let Some(factory) = factory.downcast_ref::<Factory<Spoiled<NoChase>>>() {
        numbered(factory, number, form, setting)
    } else if let Some(factory) = factory.downcast_ref::<Factory<Spoiled<IdleWhileInside>>>() {
        numbered(factory, number, form, setting)
    } else {
        Err(Refusal::new(format!("{} has no such vectors", subject.about().name)))
    }
}

fn numbered<A: Explain + Vectors>(
    factory: &Factory<A>,
    number: &str,
    form: Form,
    setting: Setting,
) -> Result<Messages, Refusal> {
    match LemmaAt::<A>::find(number, form) {
        Some(lemma) => system(factory, lemma, setting),
        None => Err(Refusal::new(format!("there is no such lemma {number}"))),
    }
}

/// The system of Singhal's algorithm in which the numbers of all nodes are counted together: what matters is only by how much
/// they differ. It is finite where all nodes ask equally often, and fit for every arbitration.
///
/// # Errors
/// If the subject is another algorithm, or there is no such system.
pub fn counted_together(subject: &dyn Subject, setting: Setting) -> Result<Messages, Refusal> {
    match subject.factory().downcast_ref::<Factory<Singhal>>() {
        Some(factory) => system(factory, CountedTogether, setting),
        None => Err(Refusal::new(format!("{} has no such numbers", subject.about().name))),
    }
}

fn system<S: Statement>(
    factory: &Factory<S::Of>,
    statement: S,
    setting: Setting,
) -> Result<Messages, Refusal> {
    Messages::new(&held(factory.clone(), statement), setting)
}
