//! Where claims are made: lecture notes and papers.
//!
//! A place is a slide, theorem or lemma where we know its number. Where we know only the document, it is the topic: then the
//! document treats the topic, and on which slide is not on record. No number here is guessed.

use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::Claim;

/// A document, or a kind of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Document {
    /// Lecture notes with Java and C code: Lamport to Raymond.
    Hofmann,
    /// Lecture notes on quorums and Maekawa's algorithm.
    Quorums,
    /// Lecture notes that survey the field.
    Overview,
    /// Lecture notes on shared memory.
    Sabel,
    /// An exercise.
    Exercise,
    /// One of these; which one is not on record.
    Lectures,
    /// The papers.
    Paper,
    /// A statement of this project.
    Doorway,
}

impl Document {
    /// All of them, in the order of lists.
    pub const ALL: [Document; 8] = [
        Document::Hofmann,
        Document::Quorums,
        Document::Overview,
        Document::Sabel,
        Document::Exercise,
        Document::Lectures,
        Document::Paper,
        Document::Doorway,
    ];

    /// Its tag, for the command line.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Document::Hofmann => "H",
            Document::Quorums => "M",
            Document::Overview => "V",
            Document::Sabel => "S",
            Document::Exercise => "X",
            Document::Lectures => "L",
            Document::Paper => "P",
            Document::Doorway => "D",
        }
    }

    /// What it is.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Document::Hofmann => "Hofmann, Erlangen 2001",
            Document::Quorums => "quorums and Maekawa, Erlangen",
            Document::Overview => "overview of distributed mutual exclusion",
            Document::Sabel => "Sabel, Munich 2020",
            Document::Exercise => "exercise on distributed exclusion",
            Document::Lectures => "the lectures; in which document is not on record",
            Document::Paper => "papers",
            Document::Doorway => "Doorway itself",
        }
    }

    /// The document with this tag, in either case.
    #[must_use]
    pub fn tagged(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|document| document.tag().eq_ignore_ascii_case(tag))
    }
}

/// A place in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The document.
    pub document: Document,
    /// The slide, theorem or lemma, or else the topic; of a paper authors, title and year.
    pub place: &'static str,
}

impl Source {
    const fn new(document: Document, place: &'static str) -> Self {
        Self { document, place }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.document {
            Document::Paper => f.write_str(self.place),
            document => write!(f, "[{}] {}", document.tag(), self.place),
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Source", 3)?;
        fields.serialize_field("document", self.document.tag())?;
        fields.serialize_field("title", self.document.title())?;
        fields.serialize_field("place", self.place)?;
        fields.end()
    }
}

pub(super) const fn hofmann(place: &'static str) -> Source {
    Source::new(Document::Hofmann, place)
}

const fn quorums(place: &'static str) -> Source {
    Source::new(Document::Quorums, place)
}

const fn overview(place: &'static str) -> Source {
    Source::new(Document::Overview, place)
}

const fn sabel(place: &'static str) -> Source {
    Source::new(Document::Sabel, place)
}

const fn exercise(place: &'static str) -> Source {
    Source::new(Document::Exercise, place)
}

const fn lectures(place: &'static str) -> Source {
    Source::new(Document::Lectures, place)
}

const fn paper(citation: &'static str) -> Source {
    Source::new(Document::Paper, citation)
}

/// A place, and the claims that are made there.
#[derive(Clone, Debug)]
pub struct ClaimListing {
    /// The place.
    pub source: Source,
    /// The claims, in the order of their numbers.
    pub claims: Vec<Claim>,
}

/// Claims by their sources: document by document, and in each the places in the order of their first claims.
#[must_use]
pub fn by_source(claims: &[Claim]) -> Vec<ClaimListing> {
    let mut listed: Vec<ClaimListing> = Vec::new();
    for claim in claims {
        for &source in claim.source {
            match listed.iter_mut().find(|listed| listed.source == source) {
                Some(known) => known.claims.push(*claim),
                None => listed.push(ClaimListing { source, claims: vec![*claim] }),
            }
        }
    }
    listed.sort_by_key(|listed| listed.source.document);
    listed
}

/// The sources of a claim.
pub(super) type Sources = &'static [Source];

const TIME_CLOCKS: Source =
    paper("L. Lamport, Time, clocks, and the ordering of events in a distributed system, 1978");
const BAKERY_PAPER: Source =
    paper("L. Lamport, A new solution of Dijkstra's concurrent programming problem, 1974");
const MAEKAWA_PAPER: Source =
    paper("M. Maekawa, A √N algorithm for mutual exclusion in decentralized systems, 1985");
pub(super) const SINGHAL_PAPER: Source =
    paper("M. Singhal, A heuristically-aided algorithm for mutual exclusion in distributed systems, 1989");
pub(super) const SANDERS_PAPER: Source =
    paper("B. A. Sanders, The information structure of distributed mutual exclusion algorithms, 1987");

pub(super) const LAMPORT: Sources =
    &[hofmann("Lamport's algorithm"), overview("Lamport's algorithm"), TIME_CLOCKS];
pub(super) const RICART_AGRAWALA: Sources = &[
    hofmann("Ricart and Agrawala's algorithm"),
    overview("Ricart and Agrawala's algorithm"),
    paper("G. Ricart, A. K. Agrawala, An optimal algorithm for mutual exclusion in computer networks, 1981"),
];
pub(super) const ANSWERING: Sources =
    &[hofmann("Lamport's, Ricart and Agrawala's, Maekawa's, Suzuki and Kasami's algorithms")];
pub(super) const CARVALHO_ROUCAIROL: Sources = &[
    overview("Carvalho and Roucairol's algorithm"),
    paper("O. S. F. Carvalho, G. Roucairol, On mutual exclusion in computer networks, 1983"),
];
pub(super) const CENTRAL: Sources = &[overview("central server"), exercise("central server")];
pub(super) const RING: Sources = &[
    overview("ring"),
    exercise("ring"),
    paper("G. Le Lann, Distributed systems: towards a formal approach, 1977"),
];
pub(super) const THROUGHPUT: Sources = &[lectures("performance measures")];
pub(super) const FAIRNESS: Sources = &[lectures("fairness and starvation")];
pub(super) const CONDITIONS: Sources =
    &[hofmann("the conditions on quorums"), quorums("quorums"), overview("quorums"), MAEKAWA_PAPER];
pub(super) const IDEAL: Sources = &[hofmann("ideal quorum systems"), MAEKAWA_PAPER];
pub(super) const THIRTEEN: Sources = &[lectures("the example of 13 nodes")];
pub(super) const MAJORITIES: Sources = &[
    quorums("quorums"),
    overview("quorums"),
    paper("D. K. Gifford, Weighted voting for replicated data, 1979"),
];
pub(super) const WALLS: Sources = &[
    quorums("quorums"),
    paper("D. Peleg, A. Wool, Crumbling walls: a class of practical and efficient quorum systems, 1997"),
];
pub(super) const GRID: Sources = &[quorums("quorums"), overview("quorums"), MAEKAWA_PAPER];
pub(super) const MAEKAWA: Sources = &[
    hofmann("Maekawa's algorithm"),
    quorums("Maekawa's algorithm"),
    overview("Maekawa's algorithm"),
    MAEKAWA_PAPER,
];
pub(super) const SANDERS: Sources = &[hofmann("Sanders' algorithm"), SANDERS_PAPER];
pub(super) const FOUR_NODES: Sources = &[hofmann("the example of four nodes")];
pub(super) const TOKENS: Sources = &[hofmann("token algorithms"), overview("token algorithms")];
pub(super) const SUZUKI_KASAMI: Sources = &[
    hofmann("Suzuki and Kasami's algorithm"),
    overview("token algorithms"),
    paper("I. Suzuki, T. Kasami, A distributed mutual exclusion algorithm, 1985"),
];
pub(super) const SINGHAL: Sources = &[hofmann("Singhal's algorithm"), SINGHAL_PAPER];
pub(super) const RAYMOND: Sources = &[
    hofmann("Raymond's algorithm"),
    paper("K. Raymond, A tree-based algorithm for distributed mutual exclusion, 1989"),
];
pub(super) const NAIMI_TREHEL: Sources = &[paper(
    "M. Naimi, M. Tréhel, A. Arnold, A log(N) distributed mutual exclusion algorithm based on path reversal, 1996",
)];
pub(super) const CAO_SINGHAL: Sources = &[paper(
    "G. Cao, M. Singhal, A delay-optimal quorum-based mutual exclusion algorithm for distributed systems, 2001",
)];
pub(super) const TOURNAMENT: Sources = &[
    sabel("tournament"),
    paper(
        "G. L. Peterson, M. J. Fischer, Economical solutions for the critical section problem in a distributed system, 1977",
    ),
];
pub(super) const FAST: Sources =
    &[sabel("Lamport's fast algorithm"), paper("L. Lamport, A fast mutual exclusion algorithm, 1987")];
pub(super) const BAKERY: Sources = &[sabel("bakery"), BAKERY_PAPER];
pub(super) const BLACK_WHITE: Sources = &[paper(
    "G. Taubenfeld, The black-white bakery algorithm and related bounded-space, adaptive, local-spinning and FIFO algorithms, 2004",
)];
pub(super) const DEFINITIONS: Sources = &[sabel("definitions of fairness and progress")];
pub(super) const CLOCKS: Sources = &[
    hofmann("logical clocks; their rule is on 4.2-4"),
    TIME_CLOCKS,
    paper("F. Mattern, Virtual time and global states of distributed systems, 1989"),
];
pub(super) const FAULTS: Sources = &[lectures("fault tolerance")];
pub(super) const FENCES: Sources =
    &[Source::new(Document::Doorway, "the fence, as derived in the source of doorway-core")];

#[cfg(test)]
mod tests {
    use super::super::list;
    use super::*;

    #[test]
    fn every_claim_has_a_source_and_is_listed_under_each() {
        let claims = list();
        let listed = by_source(&claims);
        for claim in &claims {
            assert!(!claim.source.is_empty(), "{}", claim.id);
            let places =
                listed.iter().filter(|listed| listed.claims.iter().any(|other| other.id == claim.id));
            assert_eq!(places.count(), claim.source.len(), "{}", claim.id);
        }
        assert!(listed.is_sorted_by_key(|listed| listed.source.document));
    }

    /// The numbers that are on record. One that is not in this list must be looked up, not guessed.
    const KNOWN_NUMBERS: [&str; 10] =
        ["4.2-4", "4.2-57", "4.1", "4.2", "4.3", "4.1.1", "4.1.2", "4.1.3", "4.1.4", "4.1.5"];

    #[test]
    fn no_slide_theorem_or_lemma_has_a_number_that_is_not_on_record() {
        for ClaimListing { source, .. } in by_source(&list()) {
            let is_number = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
            let numbers = source.place.split([' ', ',']).filter(is_number).filter(|word| word.contains('.'));
            assert!(numbers.into_iter().all(|number| KNOWN_NUMBERS.contains(&number)), "{source}");
        }
    }

    #[test]
    fn a_document_is_found_by_its_tag() {
        for document in Document::ALL {
            assert_eq!(Document::tagged(&document.tag().to_lowercase()), Some(document));
        }
        assert_eq!(Document::tagged("Z"), None);
    }
}
