//! The constructions by their names on the command line.

use std::fmt;
use std::str::FromStr;

use doorway_core::{NodeId, Refusal};

use crate::file;

/// How the quorums are made, with all parameters but the number of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Construction {
    /// This node is the quorum of every node.
    Singleton(NodeId),
    /// All nodes are the quorum of every node.
    All,
    /// More than half of the nodes.
    Majority,
    /// More than half of the votes: the weight of each node, in order.
    Weighted(Vec<u64>),
    /// A row and a column of a square.
    Grid,
    /// A line of a finite projective plane.
    Plane,
    /// A line of the next larger plane, with an existing node in place of each missing one.
    Truncated,
    /// The rotations of one set whose differences cover all numbers.
    Cyclic,
    /// A path of a binary tree from the root to a leaf, with both subtrees in place of a crashed node.
    Tree,
    /// A whole row of a wall and one node of each row below: the widths of its rows from the top.
    Wall(Vec<usize>),
    /// The wall whose rows have 1, 2, 3, … nodes.
    Triangle,
    /// The wall whose i-th row has ⌊log₂ 2i⌋ nodes.
    Cwlog,
    /// What a file says: its text, one line `1: 1 2 3` for each node.
    File(String),
}

/// The description of a construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// The word to type.
    pub name: &'static str,
    /// The word with its arguments.
    pub usage: &'static str,
    /// What its quorums are, in one sentence.
    pub help: &'static str,
}

const fn described(name: &'static str, usage: &'static str, help: &'static str) -> Description {
    Description { name, usage, help }
}

impl Construction {
    /// Every construction, in the order in which help texts and tables show them.
    pub const LIST: [Description; 13] = [
        described("singleton", "singleton[:NODE]", "One node decides for all, node 1 if none is named."),
        described("all", "all", "All nodes must agree."),
        described("majority", "majority", "Any ⌊N/2⌋ + 1 nodes."),
        described("weighted", "weighted:W1,W2,…", "Any nodes with more than half of all votes."),
        described("grid", "grid", "A row and a column of a square, about 2√N nodes; for every N."),
        described("plane", "plane", "A line of a projective plane, about √N nodes; only for N = q² + q + 1."),
        described(
            "truncated",
            "truncated",
            "A plane cut down to N nodes as Maekawa does it; for every N up to 1057.",
        ),
        described("cyclic", "cyclic", "The rotations of one set, at most √(3N/2) + 2 nodes; for every N."),
        described(
            "tree",
            "tree",
            "A path from root to leaf, about log₂ N nodes, and a detour around the crashed.",
        ),
        described(
            "wall",
            "wall:W1,W2,…",
            "A whole row of a wall with these widths and one node of each row below.",
        ),
        described("triangle", "triangle", "The wall with rows of 1, 2, 3, … nodes: quorums of about √(2N)."),
        described(
            "cwlog",
            "cwlog",
            "The wall with rows of ⌊log₂ 2i⌋ nodes: small quorums that survive well.",
        ),
        described("file", "file", "What a file says: one line `1: 1 2 3` for each node."),
    ];

    /// Parses a construction, given its word and the content of the file if the word names one.
    ///
    /// The text is the list of quorums for `file`, the list of numbers for `weighted` and `wall`. An unknown
    /// word with a text is the name of a file of quorums. The other constructions ignore the text.
    ///
    /// # Errors
    /// For an unknown word, or wrong arguments of a known one.
    pub fn parse(word: &str, text: Option<&str>) -> Result<Self, Refusal> {
        let (name, after) = word.split_once(':').map_or((word, None), |(name, after)| (name, Some(after)));
        match name {
            "singleton" => Ok(Self::Singleton(after.map_or(Ok(NodeId::new(0)), keeper)?)),
            "weighted" => Ok(Self::Weighted(numbers(after.or(text), &WEIGHTS)?)),
            "wall" => Ok(Self::Wall(numbers(after.or(text), &WIDTHS)?)),
            "file" => text.map(|text| Self::File(text.to_owned())).ok_or_else(|| Refusal::new(NEEDS_TEXT)),
            _ => match (Self::plain(name), after, text) {
                (Some(construction), None, _) => Ok(construction),
                (Some(_), Some(after), _) => {
                    Err(Refusal::new(format!("`{name}` takes nothing after it, not {after:?}")))
                }
                (None, _, Some(text)) => Ok(Self::File(text.to_owned())),
                (None, _, None) => Err(unknown(word)),
            },
        }
    }

    /// The construction without arguments of this name.
    fn plain(name: &str) -> Option<Self> {
        let all = [
            Self::All,
            Self::Majority,
            Self::Grid,
            Self::Plane,
            Self::Truncated,
            Self::Cyclic,
            Self::Tree,
            Self::Triangle,
            Self::Cwlog,
        ];
        all.into_iter().find(|construction| construction.name() == name)
    }

    /// The word to type.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Singleton(_) => "singleton",
            Self::All => "all",
            Self::Majority => "majority",
            Self::Weighted(_) => "weighted",
            Self::Grid => "grid",
            Self::Plane => "plane",
            Self::Truncated => "truncated",
            Self::Cyclic => "cyclic",
            Self::Tree => "tree",
            Self::Wall(_) => "wall",
            Self::Triangle => "triangle",
            Self::Cwlog => "cwlog",
            Self::File(_) => "file",
        }
    }

    /// The number of nodes that the weights, the widths of the wall or the file imply.
    #[must_use]
    pub fn implied_nodes(&self) -> Option<usize> {
        match self {
            Self::Weighted(weights) => Some(weights.len()),
            Self::Wall(widths) => widths.iter().try_fold(0, |sum: usize, &width| sum.checked_add(width)),
            Self::File(text) => file::implied_nodes(text),
            Self::Singleton(_) | Self::All | Self::Majority | Self::Grid | Self::Plane | Self::Truncated => {
                None
            }
            Self::Cyclic | Self::Tree | Self::Triangle | Self::Cwlog => None,
        }
    }
}

impl FromStr for Construction {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        Self::parse(word, None)
    }
}

/// As typed on the command line; a file is just `file`.
impl fmt::Display for Construction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Singleton(keeper) => write!(f, ":{keeper}"),
            Self::Weighted(weights) => write!(f, ":{}", joined(weights, ",")),
            Self::Wall(widths) => write!(f, ":{}", joined(widths, ",")),
            Self::All | Self::Majority | Self::Grid | Self::Plane | Self::Truncated | Self::Cyclic => Ok(()),
            Self::Tree | Self::Triangle | Self::Cwlog | Self::File(_) => Ok(()),
        }
    }
}

const NEEDS_TEXT: &str = "`file` needs the text of a file of quorums, with one line `1: 1 2 3` for each node";

/// The errors for a missing or wrong list of numbers.
struct Numbers {
    missing: &'static str,
    wrong: &'static str,
}

const WEIGHTS: Numbers = Numbers {
    missing: "`weighted` needs the weight of each node, such as weighted:3,1,1",
    wrong: "a weight: weights are whole numbers from 0 to 18446744073709551615",
};

const WIDTHS: Numbers = Numbers {
    missing: "`wall` needs the widths of its rows from the top, such as wall:1,2,3",
    wrong: "the width of a row: widths are whole numbers from 1",
};

/// Parses numbers separated by commas or white space.
fn numbers<T: FromStr>(list: Option<&str>, expected: &Numbers) -> Result<Vec<T>, Refusal> {
    let words = list.unwrap_or_default().split([',', ' ', '\t', '\r', '\n']).filter(|word| !word.is_empty());
    let wrong = |word| Refusal::new(format!("{word:?} is not {}", expected.wrong));
    let numbers: Vec<T> =
        words.map(|word| word.parse().map_err(|_| wrong(word))).collect::<Result<_, _>>()?;
    if numbers.is_empty() { Err(Refusal::new(expected.missing)) } else { Ok(numbers) }
}

fn keeper(number: &str) -> Result<NodeId, Refusal> {
    let node = number.parse().ok().and_then(NodeId::from_number);
    node.ok_or_else(|| Refusal::new(format!("{number:?} is not the number of a node: nodes count from 1")))
}

fn unknown(word: &str) -> Refusal {
    let names: Vec<&str> = Construction::LIST.iter().map(|description| description.name).collect();
    Refusal::new(format!("{word:?} is not a quorum system: there are {}", names.join(", ")))
}

/// Joins numbers.
pub(crate) fn joined<T: fmt::Display>(numbers: &[T], between: &str) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(word: &str) -> String {
        word.parse::<Construction>().unwrap_err().to_string()
    }

    #[test]
    fn every_name_of_the_list_is_accepted() {
        for Description { name, .. } in Construction::LIST {
            let construction = Construction::parse(name, Some("1 2")).expect(name);
            assert_eq!(construction.name(), name);
        }
    }

    #[test]
    fn printed_constructions_parse_again() {
        let words =
            ["singleton:3", "all", "majority", "weighted:3,1,1", "grid", "plane", "truncated", "cyclic"];
        for word in words.into_iter().chain(["tree", "wall:1,2,3", "triangle", "cwlog"]) {
            assert_eq!(word.parse::<Construction>().expect(word).to_string(), word);
        }
        assert_eq!("singleton".parse(), Ok(Construction::Singleton(NodeId::new(0))));
    }

    #[test]
    fn numbers_and_quorums_may_come_from_a_text() {
        assert_eq!(
            Construction::parse("weighted", Some("3, 1\n1\n")),
            Ok(Construction::Weighted(vec![3, 1, 1]))
        );
        assert_eq!(Construction::parse("wall", Some("1 2 3")), Ok(Construction::Wall(vec![1, 2, 3])));
        let given = Construction::File("1: 1".to_owned());
        for word in ["file", "file:mine.txt", "mine.txt", "C:\\mine.txt"] {
            assert_eq!(Construction::parse(word, Some("1: 1")), Ok(given.clone()), "{word}");
        }
    }

    #[test]
    fn some_constructions_imply_their_number_of_nodes() {
        let nodes = |word: &str| word.parse::<Construction>().expect(word).implied_nodes();
        assert_eq!([nodes("weighted:3,1,1"), nodes("wall:1,2,4"), nodes("grid")], [Some(3), Some(7), None]);
        assert_eq!(Construction::File("1: 1\n3: 1\n2: 1".to_owned()).implied_nodes(), Some(3));
        assert_eq!(Construction::Wall(vec![usize::MAX, 1]).implied_nodes(), None);
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_known_ones() {
        assert_eq!(
            refusal("circle"),
            "\"circle\" is not a quorum system: there are singleton, all, majority, weighted, grid, plane, \
             truncated, cyclic, tree, wall, triangle, cwlog, file"
        );
        assert!(refusal("").starts_with("\"\" is not a quorum system"));
    }

    #[test]
    fn wrong_arguments_are_refused_in_one_sentence() {
        assert_eq!(refusal("grid:3"), "`grid` takes nothing after it, not \"3\"");
        assert_eq!(refusal("singleton:0"), "\"0\" is not the number of a node: nodes count from 1");
        assert_eq!(refusal("singleton:x"), "\"x\" is not the number of a node: nodes count from 1");
        assert_eq!(refusal("weighted"), "`weighted` needs the weight of each node, such as weighted:3,1,1");
        assert_eq!(refusal("weighted:"), refusal("weighted"));
        assert_eq!(
            refusal("weighted:1,-1"),
            "\"-1\" is not a weight: weights are whole numbers from 0 to 18446744073709551615"
        );
        assert!(refusal("weighted:18446744073709551616").contains("is not a weight"));
        assert_eq!(refusal("wall"), "`wall` needs the widths of its rows from the top, such as wall:1,2,3");
        assert_eq!(
            refusal("wall:1,two"),
            "\"two\" is not the width of a row: widths are whole numbers from 1"
        );
        assert_eq!(refusal("file"), NEEDS_TEXT);
    }
}
