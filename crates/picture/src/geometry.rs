//! Points and areas of a picture, in pixels from its upper left corner.

/// A place in a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

impl Point {
    /// The place so far to the right and so far down.
    #[must_use]
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// The place at this share of the way to another.
    #[must_use]
    pub fn towards(self, other: Point, share: f64) -> Point {
        Point::new(self.x + (other.x - self.x) * share, self.y + (other.y - self.y) * share)
    }

    /// How far it is to another.
    #[must_use]
    pub fn distance(self, other: Point) -> f64 {
        (other.x - self.x).hypot(other.y - self.y)
    }
}

/// A rectangle of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Where it begins.
    pub left: f64,
    /// Its upper edge.
    pub top: f64,
    /// Where it ends.
    pub right: f64,
    /// Its lower edge.
    pub bottom: f64,
}

impl Area {
    /// The area between two corners, of which the first is the upper left one.
    #[must_use]
    pub const fn new(left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self { left, top, right, bottom }
    }

    /// How wide it is.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// How high it is.
    #[must_use]
    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The area with a margin around it.
    #[must_use]
    pub fn grown(&self, margin: f64) -> Self {
        Self::new(self.left - margin, self.top - margin, self.right + margin, self.bottom + margin)
    }

    /// Whether the two have more than an edge in common.
    #[must_use]
    pub fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether a place is in it.
    #[must_use]
    pub fn has(&self, place: Point) -> bool {
        self.left <= place.x && place.x <= self.right && self.top <= place.y && place.y <= self.bottom
    }

    /// Whether the whole of another area is in this one.
    #[must_use]
    pub fn contains(&self, other: &Area) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }

    /// Whether a straight line runs through it. (The part of the line within each pair of edges is an interval of its length;
    /// the line is inside where both intervals are.)
    #[must_use]
    pub fn meets_line(&self, from: Point, to: Point) -> bool {
        let across = interval(from.x, to.x, self.left, self.right);
        let down = interval(from.y, to.y, self.top, self.bottom);
        across.0.max(down.0).max(0.0) < across.1.min(down.1).min(1.0)
    }
}

/// For which shares of the way from `start` to `end` one is between `low` and `high`.
fn interval(start: f64, end: f64, low: f64, high: f64) -> (f64, f64) {
    let way = end - start;
    if way.abs() < 1e-9 {
        return if low < start && start < high { (f64::NEG_INFINITY, f64::INFINITY) } else { (1.0, 0.0) };
    }
    let (one, other) = ((low - start) / way, (high - start) / way);
    (one.min(other), one.max(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_that_only_touch_do_not_overlap() {
        let area = Area::new(0.0, 0.0, 10.0, 10.0);
        assert!(!area.overlaps(&Area::new(10.0, 0.0, 20.0, 10.0)));
        assert!(area.overlaps(&Area::new(9.9, 9.9, 20.0, 20.0)));
        assert!(area.grown(0.1).overlaps(&Area::new(10.0, 0.0, 20.0, 10.0)));
    }

    #[test]
    fn a_line_meets_an_area_if_it_runs_through_it() {
        let area = Area::new(10.0, 10.0, 20.0, 20.0);
        let meets = |x1, y1, x2, y2| area.meets_line(Point::new(x1, y1), Point::new(x2, y2));
        assert!(meets(0.0, 0.0, 30.0, 30.0) && meets(15.0, 0.0, 15.0, 30.0) && meets(12.0, 12.0, 13.0, 13.0));
        assert!(!meets(0.0, 0.0, 9.0, 9.0) && !meets(0.0, 15.0, 9.0, 15.0) && !meets(0.0, 25.0, 30.0, 25.0));
        assert!(!meets(0.0, 12.0, 12.0, 0.0), "it passes by the corner");
    }
}
