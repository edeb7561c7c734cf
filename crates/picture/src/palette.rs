//! What things look like: colours that eyes of every kind can tell apart, and dashes, heads and marks that do without them.
//!
//! The hues follow M. Okabe and K. Ito, "Color universal design" (2008), darkened on white and lightened on black until they
//! have a contrast of at least 4.5 to 1, so that a label can have the colour of what it labels.

use std::fmt::Write;
use std::str::FromStr;

use doorway_core::Refusal;

use super::font;

/// Which colours a picture has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Those that the reader's machine prefers; light where it has no preference.
    #[default]
    Auto,
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

impl Theme {
    /// Every theme by the word that people type.
    pub const LIST: [(&'static str, Theme); 3] =
        [("auto", Theme::Auto), ("light", Theme::Light), ("dark", Theme::Dark)];
}

impl FromStr for Theme {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let known = Self::LIST.iter().find(|(name, _)| *name == word);
        known.map(|&(_, theme)| theme).ok_or_else(|| {
            Refusal::new(format!("{word:?} is not a theme: the themes are auto, light and dark"))
        })
    }
}

/// How an arrow looks: its colour, its dash and its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The class of its colour.
    pub colour: &'static str,
    /// The dash of its line; empty is a whole line.
    pub dash: &'static str,
    /// The shape in which it ends.
    pub head: Head,
}

/// The classes of the hues.
const HUE: [&str; HUES] = ["hue0", "hue1", "hue2", "hue3", "hue4", "hue5", "hue6", "hue7"];

/// The looks of the kinds of message that the algorithms have, the same in every picture and on every page. Kinds that mean the
/// same to different algorithms look the same.
const KINDS: [(&[&str], Look); 8] = [
    (&["REQUEST"], Look { colour: HUE[0], dash: "", head: Head::Triangle }),
    (&["REPLY", "LOCKED", "GRANT"], Look { colour: HUE[2], dash: "10 3", head: Head::HollowTriangle }),
    (&["FAILED"], Look { colour: HUE[1], dash: "5 3", head: Head::Chevron }),
    (&["INQUIRE", "TRANSFER"], Look { colour: HUE[4], dash: "2 3", head: Head::Diamond }),
    (&["RELINQUISH", "YIELD"], Look { colour: HUE[3], dash: "10 3 2 3", head: Head::Disc }),
    (&["RELEASE"], Look { colour: "soft", dash: "14 4", head: Head::HollowDiamond }),
    (&["TOKEN"], Look { colour: HUE[1], dash: "", head: Head::Disc }),
    (&["ENTER"], Look { colour: HUE[5], dash: "6 3 2 3 2 3", head: Head::Chevron }),
];

impl Look {
    /// The look of a kind of message; `number` decides where its name is not known.
    #[must_use]
    pub fn of_kind(name: &str, number: usize) -> Self {
        let known = KINDS.iter().find(|(names, _)| names.contains(&name)).map(|(_, look)| *look);
        known.unwrap_or(Self { colour: HUE[number % HUES], dash: dash(number), head: head(number) })
    }
}

/// How many hues there are. What has the number `i` has the hue `i % HUES`.
pub const HUES: usize = 8;

/// The dash of a line by its number; empty is a whole line.
#[must_use]
pub fn dash(number: usize) -> &'static str {
    const DASHES: [&str; HUES] = ["", "7 4", "2 3", "10 3 2 3", "14 4", "6 3 2 3 2 3", "4 2", "1.5 5"];
    // A second round of the hues must not repeat their dashes.
    DASHES[(number + 3 * (number / HUES)) % HUES]
}

/// The shape in which an arrow ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// A filled triangle.
    Triangle,
    /// Two strokes.
    Chevron,
    /// A filled diamond.
    Diamond,
    /// An empty triangle.
    HollowTriangle,
    /// A filled circle.
    Disc,
    /// An empty diamond.
    HollowDiamond,
}

/// The head of an arrow by its number.
#[must_use]
pub fn head(number: usize) -> Head {
    const HEADS: [Head; 6] =
        [Head::Triangle, Head::Chevron, Head::Diamond, Head::HollowTriangle, Head::Disc, Head::HollowDiamond];
    HEADS[number % HEADS.len()]
}

/// The colours of one theme.
struct Colours {
    paper: &'static str,
    ink: &'static str,
    soft: &'static str,
    faint: &'static str,
    wash: &'static str,
    alarm: &'static str,
    hues: [&'static str; HUES],
}

const LIGHT: Colours = Colours {
    paper: "#ffffff",
    ink: "#1b1f24",
    soft: "#59616b",
    faint: "#d9dde2",
    wash: "#f1f3f5",
    alarm: "#c4122f",
    hues: ["#0067a5", "#b84600", "#00785a", "#983a7a", "#806000", "#00798c", "#5c5fc4", "#8c4a3a"],
};

const DARK: Colours = Colours {
    paper: "#14171b",
    ink: "#eceff3",
    soft: "#a7b0ba",
    faint: "#363c44",
    wash: "#1e2228",
    alarm: "#ff6b7d",
    hues: ["#62b5f0", "#ff945c", "#3ccaa2", "#e69dcc", "#e3bd52", "#58cddd", "#a9abff", "#d9a392"],
};

/// The rules by which the classes of a picture get their looks.
///
/// Every colour has two classes: `ink` fills with it, `ink-line` draws with it. They are `paper`, `ink`, `soft`, `faint`,
/// `wash`, `alarm` and `hue0` to `hue7`; `hollow` is filled with paper whatever else is said.
pub(super) fn stylesheet(theme: Theme) -> String {
    let family = font::FAMILY;
    let mut rules =
        format!(".doorway text{{font-family:'{family}',Inter,'Helvetica Neue',Arial,sans-serif}}\n");
    match theme {
        Theme::Light => rules.push_str(&colours(&LIGHT)),
        Theme::Dark => rules.push_str(&colours(&DARK)),
        Theme::Auto => {
            rules.push_str(&colours(&LIGHT));
            let _ = write!(rules, "@media (prefers-color-scheme:dark){{\n{}}}\n", colours(&DARK));
        }
    }
    rules
}

fn colours(colours: &Colours) -> String {
    let Colours { paper, ink, soft, faint, wash, alarm, hues } = colours;
    let named =
        [("paper", paper), ("ink", ink), ("soft", soft), ("faint", faint), ("wash", wash), ("alarm", alarm)];
    let mut rules = String::new();
    let mut rule = |name: &str, colour: &str| {
        let _ = writeln!(
            rules,
            ".doorway .{name}{{fill:{colour}}} .doorway .{name}-line{{stroke:{colour};fill:none}}"
        );
    };
    for (name, colour) in named {
        rule(name, colour);
    }
    for (number, hue) in hues.iter().enumerate() {
        rule(&format!("hue{number}"), hue);
    }
    let _ = writeln!(rules, ".doorway .hollow{{fill:{paper}}}");
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How bright a colour is, by the definition of the W3C's guidelines on accessibility.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let value = u8::from_str_radix(&colour[at..at + 2], 16).expect("two digits");
            let share = f64::from(value) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn whatever_a_label_can_have_as_its_colour_stands_out_from_paper_and_wash() {
        for colours in [LIGHT, DARK] {
            for colour in colours.hues.iter().chain([&colours.ink, &colours.soft, &colours.alarm]) {
                for ground in [colours.paper, colours.wash] {
                    let contrast = contrast(colour, ground);
                    assert!(contrast >= 4.5, "{colour} on {ground}: {contrast:.2}");
                }
            }
        }
    }

    #[test]
    fn sixteen_lines_differ_in_dash_or_hue_and_eight_in_both() {
        let looks: std::collections::BTreeSet<_> =
            (0..16).map(|number| (number % HUES, dash(number))).collect();
        assert_eq!(looks.len(), 16);
        let dashes: std::collections::BTreeSet<_> = (0..8).map(dash).collect();
        assert_eq!(dashes.len(), 8);
    }

    #[test]
    fn a_theme_has_a_name() {
        assert_eq!("dark".parse::<Theme>(), Ok(Theme::Dark));
        let refusal = "blue".parse::<Theme>().unwrap_err().to_string();
        assert_eq!(refusal, "\"blue\" is not a theme: the themes are auto, light and dark");
    }
}
