//! From SVG to PNG, with the embedded font and no other.

use std::sync::Arc;

use doorway_core::Refusal;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use super::{Drawing, font};

/// Larger pictures are refused: programs that show PNG give up on them, and this one would need gigabytes.
const MOST_PIXELS: f64 = 64e6;

impl Drawing {
    /// The picture as PNG, twice as fine as its SVG where that is not too large. [`super::Theme::Auto`] is light here.
    ///
    /// # Errors
    /// If it would have too many pixels.
    pub fn png(&self) -> Result<Vec<u8>, Refusal> {
        let pixels = |scale: f64| (self.width * scale).ceil() * (self.height * scale).ceil();
        let scale = if pixels(2.0) <= MOST_PIXELS { 2.0 } else { 1.0 };
        if pixels(scale) > MOST_PIXELS {
            let (width, height) = (self.width.ceil(), self.height.ceil());
            return Err(Refusal::new(format!(
                "a PNG of {width} by {height} pixels is too large to look at: write an SVG, or draw less"
            )));
        }
        self.rendered(scale as f32)
            .map_err(|reason| Refusal::new(format!("the PNG cannot be made: {reason}")))
    }

    fn rendered(&self, scale: f32) -> Result<Vec<u8>, String> {
        let tree = Tree::from_str(&self.svg, &options()).map_err(|error| error.to_string())?;
        let (width, height) = (self.width as f32 * scale, self.height as f32 * scale);
        let mut pixels = Pixmap::new(width.ceil() as u32, height.ceil() as u32).ok_or("it would be empty")?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| error.to_string())
    }
}

fn options() -> Options<'static> {
    let mut fonts = Database::new();
    fonts.load_font_data(font::REGULAR.to_vec());
    fonts.load_font_data(font::SEMIBOLD.to_vec());
    Options { fontdb: Arc::new(fonts), font_family: font::FAMILY.to_owned(), ..Options::default() }
}

#[cfg(test)]
mod tests {
    use resvg::usvg::Node;

    use super::*;
    use crate::{Canvas, Point, Text, Theme};

    fn drawing(theme: Theme) -> Drawing {
        let mut canvas = Canvas::new("a test", "a text");
        canvas.write(&Text::new("Holding ⌊log₂ N⌋ → 7", Point::new(20.0, 40.0), 20.0).bold());
        canvas.finish(300.0, 60.0, theme)
    }

    #[test]
    fn what_is_measured_is_what_is_drawn() {
        let drawing = drawing(Theme::Auto);
        let tree = Tree::from_str(&drawing.svg, &options()).expect("it is SVG");
        let text = tree.root().children().iter().find_map(|node| match node {
            Node::Text(text) => Some(text.bounding_box()),
            _ => None,
        });
        let (drawn, measured) = (text.expect("the text is not dropped"), drawing.labels[0].area);
        assert!((f64::from(drawn.x()) - measured.left).abs() < 2.0, "{drawn:?} {measured:?}");
        assert!((f64::from(drawn.width()) - measured.width()).abs() < 4.0, "{drawn:?} {measured:?}");
    }

    #[test]
    fn the_theme_decides_the_paper() {
        let corner = |theme| {
            let png = drawing(theme).png().expect("small enough");
            let pixels = Pixmap::decode_png(&png).expect("it is PNG");
            assert_eq!((pixels.width(), pixels.height()), (600, 120));
            let pixel = pixels.pixel(0, 0).expect("a corner");
            (pixel.red(), pixel.green(), pixel.blue())
        };
        assert_eq!(corner(Theme::Auto), (255, 255, 255));
        assert_eq!(corner(Theme::Light), (255, 255, 255));
        assert_eq!(corner(Theme::Dark), (0x14, 0x17, 0x1b));
    }

    #[test]
    fn what_nobody_can_look_at_is_refused() {
        let huge = Canvas::new("", "").finish(100_000.0, 1000.0, Theme::Auto);
        assert_eq!(
            huge.png().unwrap_err().to_string(),
            "a PNG of 100000 by 1000 pixels is too large to look at: write an SVG, or draw less"
        );
    }
}
