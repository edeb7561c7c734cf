//! Where there is room for a label: what is drawn already, sorted into columns so that dense pictures stay quick.

use super::arrow::Path;
use super::geometry::{Area, Point};

/// How wide a column is.
const COLUMN: f64 = 64.0;

/// What is in the way of labels.
#[derive(Debug, Default)]
pub struct Room {
    areas: Vec<Vec<Area>>,
    lines: Vec<Vec<(usize, Point, Point)>>,
}

impl Room {
    /// Room in which there is nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// This area is taken.
    pub fn take(&mut self, area: Area) {
        for column in columns(area.left, area.right) {
            at(&mut self.areas, column).push(area);
        }
    }

    /// A path goes here; it has a number, so that its own label may stand on it.
    pub fn cross(&mut self, number: usize, path: &Path) {
        for (from, to) in path.pieces() {
            for column in columns(from.x.min(to.x), from.x.max(to.x)) {
                at(&mut self.lines, column).push((number, from, to));
            }
        }
    }

    /// Whether nothing that is taken is in this area.
    #[must_use]
    pub fn is_free(&self, area: &Area) -> bool {
        columns(area.left, area.right)
            .filter_map(|column| self.areas.get(column))
            .all(|areas| areas.iter().all(|taken| !taken.overlaps(area)))
    }

    /// Whether nothing is in this area and no path goes through it but the one with this number.
    #[must_use]
    pub fn is_clear(&self, area: &Area, but: Option<usize>) -> bool {
        let clear =
            |&(number, from, to): &(usize, Point, Point)| Some(number) == but || !area.meets_line(from, to);
        self.is_free(area)
            && columns(area.left, area.right)
                .filter_map(|column| self.lines.get(column))
                .all(|lines| lines.iter().all(clear))
    }
}

fn columns(left: f64, right: f64) -> impl Iterator<Item = usize> {
    let column = |x: f64| (x / COLUMN).max(0.0) as usize;
    column(left)..=column(right)
}

fn at<T>(columns: &mut Vec<Vec<T>>, column: usize) -> &mut Vec<T> {
    if columns.len() <= column {
        columns.resize_with(column + 1, Vec::new);
    }
    &mut columns[column]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_and_foreign_paths_are_in_the_way() {
        let mut room = Room::new();
        room.take(Area::new(0.0, 0.0, 200.0, 10.0));
        room.cross(7, &Path::Straight(Point::new(0.0, 100.0), Point::new(300.0, 20.0)));
        assert!(!room.is_free(&Area::new(190.0, 5.0, 290.0, 15.0)));
        let on_the_path = Area::new(140.0, 50.0, 160.0, 70.0);
        assert!(room.is_free(&on_the_path) && room.is_clear(&on_the_path, Some(7)));
        assert!(!room.is_clear(&on_the_path, Some(6)) && !room.is_clear(&on_the_path, None));
        assert!(room.is_clear(&Area::new(500.0, 0.0, 600.0, 100.0), None));
    }
}
