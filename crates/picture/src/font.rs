//! How wide a text is: the embedded font and its advance widths.
//!
//! The font has neither kerning nor ligatures, so a text is as wide as its letters together. What is measured here is what a
//! PNG shows; a browser without the font is told the width by `textLength`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// The name of the embedded family.
pub(super) const FAMILY: &str = "Doorway Sans";

pub(super) const REGULAR: &[u8] = include_bytes!("../fonts/DoorwaySans-Regular.ttf");
pub(super) const SEMIBOLD: &[u8] = include_bytes!("../fonts/DoorwaySans-SemiBold.ttf");

/// How high capital letters are, as a share of the size.
pub(super) const CAPITALS: f64 = 0.727;
/// How far a box of text reaches above and below its baseline, as shares of the size.
pub(super) const ABOVE: f64 = 0.78;
pub(super) const BELOW: f64 = 0.22;

/// How strong letters are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// As most texts are.
    #[default]
    Regular,
    /// For titles, and for what is highlighted.
    SemiBold,
}

/// The file of the embedded font, in TrueType, for pages that show laid-out elements.
#[must_use]
pub fn file(weight: Weight) -> &'static [u8] {
    match weight {
        Weight::Regular => REGULAR,
        Weight::SemiBold => SEMIBOLD,
    }
}

/// How wide a text is at this size. A letter that the font does not have counts as a square.
#[must_use]
pub fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let advances = match weight {
        Weight::Regular => &*OF_REGULAR,
        Weight::SemiBold => &*OF_SEMIBOLD,
    };
    text.chars().map(|letter| advances.get(&letter).copied().unwrap_or(1.0)).sum::<f64>() * size
}

static OF_REGULAR: LazyLock<BTreeMap<char, f64>> = LazyLock::new(|| advances(REGULAR));
static OF_SEMIBOLD: LazyLock<BTreeMap<char, f64>> = LazyLock::new(|| advances(SEMIBOLD));

/// The width of each letter, as a share of the size.
fn advances(font: &[u8]) -> BTreeMap<char, f64> {
    let font = FontRef::new(font).expect("the embedded font is one");
    let metrics = font.glyph_metrics(Size::unscaled(), LocationRef::default());
    let size = f64::from(font.metrics(Size::unscaled(), LocationRef::default()).units_per_em);
    let letters = font.charmap().mappings().filter_map(|(code, glyph)| {
        Some((char::from_u32(code)?, f64::from(metrics.advance_width(glyph)?) / size))
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_wide_as_its_letters() {
        assert_eq!(width("", 12.0, Weight::Regular), 0.0);
        let one = width("M", 100.0, Weight::Regular);
        assert!((one - 100.0 * 2504.0 / 2816.0).abs() < 1e-9, "{one}");
        assert!((width("MMM", 100.0, Weight::Regular) - 3.0 * one).abs() < 1e-9);
        assert!(width("Request", 12.0, Weight::SemiBold) > width("Request", 12.0, Weight::Regular));
        assert_eq!(width("語", 12.0, Weight::Regular), 12.0);
    }

    #[test]
    fn the_signs_of_formulas_are_there() {
        for sign in "⌈⌉⌊⌋√×·−≤≥≈→←↔½²₂αβδθλμπστΔΘΣΩ…–—".chars()
        {
            assert!(OF_REGULAR.contains_key(&sign) && OF_SEMIBOLD.contains_key(&sign), "{sign}");
        }
    }
}
