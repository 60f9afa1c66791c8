//! Conversion of rows to pixels: runs between gaps, corners of steps, and thinning of long series.

use std::collections::BTreeSet;

use crate::geometry::{Point, Rect};
use crate::scale::Scale;
use crate::series::{Kind, Series};

/// Length above which series are thinned. A figure has fewer columns, so nothing visible is lost.
const LONG: usize = 2_000;

/// Returns the visible pieces of a line. A piece may be a single point.
pub(crate) fn lines(series: &Series, x: &Scale, y: &Scale, plot: &Rect) -> Vec<Vec<Point>> {
    let mut pieces = Vec::new();
    for run in runs(series, x, y) {
        let mut points: Vec<Point> = run.iter().map(|spot| Point::new(spot.x, spot.low)).collect();
        if series.rows().len() > LONG {
            points = thin(&points);
        }
        if series.kind() == Kind::Steps {
            points = corners(&points);
        }
        pieces.extend(plot.clip_line(&points));
    }
    pieces
}

/// Returns the visible points.
pub(crate) fn points(series: &Series, x: &Scale, y: &Scale, plot: &Rect) -> Vec<Point> {
    let points = runs(series, x, y).into_iter().flatten().map(|spot| Point::new(spot.x, spot.low));
    let mut points: Vec<Point> = points.filter(|&point| plot.contains(point)).collect();
    if points.len() > LONG {
        let mut taken = BTreeSet::new();
        points.retain(|point| taken.insert((point.x.round() as i64, point.y.round() as i64)));
    }
    points
}

/// Returns the visible parts of intervals.
pub(crate) fn intervals(series: &Series, x: &Scale, y: &Scale, plot: &Rect) -> Vec<(Point, Point)> {
    let spots = runs(series, x, y).into_iter().flatten();
    let mut pieces: Vec<(Point, Point)> = spots
        .filter_map(|it| plot.clip_segment(Point::new(it.x, it.low), Point::new(it.to, it.high)))
        .collect();
    if pieces.len() > LONG {
        // One interval per row of pixels, the union of all in it.
        pieces.sort_by(|one, other| one.0.y.total_cmp(&other.0.y));
        let same_row =
            |one: &(Point, Point), other: &(Point, Point)| one.0.y.floor() == other.0.y.floor();
        let longest = |row: &[(Point, Point)]| {
            let mut all = row[0];
            for (from, to) in row {
                all.0.x = all.0.x.min(from.x).min(to.x);
                all.1.x = all.1.x.max(from.x).max(to.x);
            }
            all
        };
        pieces = pieces.chunk_by(same_row).map(longest).collect();
    }
    pieces
}

/// Returns the visible outlines of a band.
pub(crate) fn areas(series: &Series, x: &Scale, y: &Scale, plot: &Rect) -> Vec<Vec<Point>> {
    let mut areas = Vec::new();
    for mut run in runs(series, x, y) {
        if series.rows().len() > LONG {
            run = run.chunk_by(same_column).map(envelope).collect();
        }
        let low = run.iter().map(|spot| Point::new(spot.x, spot.low));
        let high = run.iter().rev().map(|spot| Point::new(spot.x, spot.high));
        areas.push(plot.clip_area(&low.chain(high).collect::<Vec<_>>()));
    }
    areas.retain(|area| area.len() > 2);
    areas
}

/// A data row in pixels.
#[derive(Clone, Copy)]
struct Spot {
    x: f64,
    to: f64,
    low: f64,
    high: f64,
}

fn runs(series: &Series, x: &Scale, y: &Scale) -> Vec<Vec<Spot>> {
    let mut runs = vec![Vec::new()];
    for row in series.rows() {
        let spot = || {
            let (low, high) = (y.pixel(row.low)?, y.pixel(row.high)?);
            Some(Spot { x: x.pixel(row.x)?, to: x.pixel(row.to)?, low, high })
        };
        match (spot(), runs.last_mut()) {
            (Some(spot), Some(run)) => run.push(spot),
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

fn same_column(one: &Spot, other: &Spot) -> bool {
    one.x.floor() == other.x.floor()
}

fn envelope(spots: &[Spot]) -> Spot {
    let mut all = spots[0];
    for spot in spots {
        all.low = all.low.max(spot.low);
        all.high = all.high.min(spot.high);
    }
    all
}

/// Of consecutive points in one column of pixels, keeps the first, the lowest, the highest and the last.
fn thin(points: &[Point]) -> Vec<Point> {
    let mut kept = Vec::new();
    for column in points.chunk_by(|one, other| one.x.floor() == other.x.floor()) {
        let by_height = |one: &usize, other: &usize| column[*one].y.total_cmp(&column[*other].y);
        let lowest = (0..column.len()).max_by(by_height).unwrap_or(0);
        let highest = (0..column.len()).min_by(by_height).unwrap_or(0);
        let mut indices = [0, lowest, highest, column.len() - 1].to_vec();
        indices.sort_unstable();
        indices.dedup();
        kept.extend(indices.into_iter().map(|index| column[index]));
    }
    kept
}

fn corners(points: &[Point]) -> Vec<Point> {
    let mut corners: Vec<Point> = Vec::with_capacity(2 * points.len());
    for &point in points {
        if let Some(last) = corners.last() {
            corners.push(Point::new(point.x, last.y));
        }
        corners.push(point);
    }
    corners
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scale::{Domain, Spacing};

    const PLOT: Rect = Rect { left: 0.0, top: 0.0, right: 100.0, bottom: 100.0 };

    /// Draws on a plot of 100 × 100 pixels for 0 to 1, with y upwards.
    fn check(series: &Series, expect: &[&[(f64, f64)]]) {
        let (x, y) = scales();
        let pieces: Vec<Vec<(f64, f64)>> = lines(series, &x, &y, &PLOT)
            .iter()
            .map(|piece| piece.iter().map(|point| (point.x.round(), point.y.round())).collect())
            .collect();
        assert_eq!(pieces, expect);
    }

    fn scales() -> (Scale, Scale) {
        let unit = Domain::new(Spacing::Linear, 0.0, 1.0);
        (Scale::new(unit, 0.0, 100.0), Scale::new(unit, 100.0, 0.0))
    }

    #[test]
    fn what_cannot_be_drawn_is_a_gap() {
        let xs = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5];
        let ys = [0.0, 0.1, f64::NAN, 0.3, f64::INFINITY, 0.5];
        check(
            &Series::line("", &xs, &ys),
            &[&[(0.0, 100.0), (10.0, 90.0)], &[(30.0, 70.0)], &[(50.0, 50.0)]],
        );
        check(&Series::line("", &[], &[]), &[]);
    }

    #[test]
    fn a_step_holds_until_the_next() {
        let expect = [(0.0, 90.0), (50.0, 90.0), (50.0, 40.0), (100.0, 40.0), (100.0, 70.0)];
        check(&Series::steps("", &[0.0, 0.5, 1.0], &[0.1, 0.6, 0.3]), &[&expect]);
    }

    #[test]
    fn a_band_is_thinned_to_its_envelope() {
        let xs: Vec<f64> = (0..10_000).map(|index| f64::from(index) / 1e4).collect();
        let lows: Vec<f64> =
            (0..10_000).map(|index| if index == 5_555 { 0.0 } else { 0.4 }).collect();
        let (x, y) = scales();
        let areas = areas(&Series::band("", &xs, &lows, &vec![0.6; 10_000]), &x, &y, &PLOT);
        assert_eq!(areas.len(), 1);
        assert!(areas[0].len() <= 2 * 101);
        assert!(areas[0].iter().any(|point| point.y == 100.0));
    }

    #[test]
    fn a_crowd_of_points_is_thinned_to_pixels() {
        let xs: Vec<f64> = (0..50_000).map(|index| f64::from(index) / 5e4).collect();
        let (x, y) = scales();
        assert!(points(&Series::points("", &xs, &xs), &x, &y, &PLOT).len() <= 201);
    }

    proptest! {
        #[test]
        fn thinning_keeps_the_ends_and_the_extremes_of_each_column(
            steps in prop::collection::vec((0.0..0.5f64, 0.0..100.0f64), 1..500),
        ) {
            let mut x = 0.0;
            let points: Vec<Point> = steps
                .iter()
                .map(|&(step, y)| { x += step; Point::new(x, y) })
                .collect();
            let kept = thin(&points);
            prop_assert_eq!(kept.first(), points.first());
            prop_assert_eq!(kept.last(), points.last());
            prop_assert!(kept.iter().all(|point| points.contains(point)));
            let extremes = |points: &[Point]| -> Vec<(f64, f64, f64)> {
                points
                    .chunk_by(|one, other| one.x.floor() == other.x.floor())
                    .map(|column| {
                        let ys = column.iter().map(|point| point.y);
                        let low = ys.clone().fold(f64::INFINITY, f64::min);
                        (column[0].x.floor(), low, ys.fold(f64::NEG_INFINITY, f64::max))
                    })
                    .collect()
            };
            prop_assert_eq!(extremes(&kept), extremes(&points));
            prop_assert!(kept.len() <= 4 * extremes(&points).len());
        }
    }
}
