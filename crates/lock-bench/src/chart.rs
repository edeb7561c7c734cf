//! A bench of locks as a picture: three charts, in which the same lock looks the same.

use doorway_picture::chart::{Axis, Chart, Panels, Series};

use super::SIZES;
use super::report::{Alone, Crowd, LockReport, PairResult};

/// What was measured of one thread, of two and of eight.
#[must_use]
pub fn panels(report: &LockReport) -> Panels {
    let charts = vec![of_alone(&report.alone), of_pairs(&report.pairs), of_crowd(&report.crowd)];
    Panels { title: String::new(), charts, columns: 1 }
}

/// The time over the number of processes; where that makes no difference, a level line.
fn of_alone(alone: &Alone) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    for row in &alone.rows {
        let sizes = row.n.map_or_else(|| SIZES.to_vec(), |n| vec![n]);
        let points = sizes.into_iter().map(|n| (n as f64, row.ns));
        match series.iter_mut().find(|series| series.name == row.lock) {
            Some(series) => series.points.extend(points),
            None => series.push(named(row.lock, "", points.collect())),
        }
    }
    Chart {
        title: "Locking and unlocking, one thread alone".to_owned(),
        x: Axis::binary("processes n that the lock is for").whole(),
        y: Axis::decimal("nanoseconds, logarithmic"),
        series,
        line_at: None,
    }
}

fn of_pairs(pairs: &[PairResult]) -> Chart {
    let names = pairs.first().map_or(&[][..], |pair| &pair.rows).iter().map(|row| row.lock);
    let points = |name: &str| {
        let point = |pair: &PairResult| {
            let row = pair.rows.iter().find(|row| row.lock == name)?;
            Some((f64::from(pair.inside_ns), row.to_mcslock))
        };
        pairs.iter().filter_map(point).collect()
    };
    Chart {
        title: "Two threads that always want in".to_owned(),
        x: Axis::linear("nanoseconds inside").whole(),
        y: Axis::decimal("entries a second, those of mcslock being 1, logarithmic"),
        series: names.map(|name| named(name, "", points(name))).collect(),
        line_at: None,
    }
}

/// One mark for each lock and way of waiting: best is to the right and below.
fn of_crowd(crowd: &Crowd) -> Chart {
    let series = crowd.rows.iter().map(|row| {
        let point = (row.entries_per_second / 1e3, row.longest_wait_us / 1e3);
        named(row.lock, row.wait, vec![point])
    });
    Chart {
        title: format!("{} threads on {} processors that always want in", crowd.threads, crowd.processors),
        x: Axis::decimal("thousand entries a second, logarithmic"),
        y: Axis::decimal("longest wait in milliseconds, logarithmic"),
        series: series.collect(),
        line_at: None,
    }
}

fn named(name: &str, note: &str, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.to_owned(), note: note.to_owned(), points, formula: None }
}
