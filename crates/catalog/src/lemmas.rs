//! Statements about one certain algorithm that are not among its invariants, because they are false or about steps. The algorithm
//! is held to a statement, and the checker decides it.

use doorway_algorithms::lemmas::{Lemma, LemmaAt, NeverFalls, Statement, Vectors, held};
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
        Some(factory) => system::<NeverFalls>(factory, setting),
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
    let place = Lemma::<A>::ALL.iter().position(|lemma| lemma.number == number && lemma.form == form);
    match place {
        Some(0) => system::<LemmaAt<A, 0>>(factory, setting),
        Some(1) => system::<LemmaAt<A, 1>>(factory, setting),
        Some(2) => system::<LemmaAt<A, 2>>(factory, setting),
        Some(3) => system::<LemmaAt<A, 3>>(factory, setting),
        Some(4) => system::<LemmaAt<A, 4>>(factory, setting),
        Some(5) => system::<LemmaAt<A, 5>>(factory, setting),
        _ => Err(Refusal::new(format!("there is no such lemma {number}"))),
    }
}

fn system<S: Statement>(factory: &Factory<S::Of>, setting: Setting) -> Result<Messages, Refusal> {
    Messages::new(&held::<S>(factory.clone()), setting)
}
