//! Plot frame: grid, axes, ticks and tick labels.

use crate::geometry::{Point, Rect};
use crate::layout::Cell;
use crate::panel::Panel;
use crate::scale::{Scale, Spacing};
use crate::svg::{Anchor, Path, Svg};
use crate::text::{self, LABEL, fit};
use crate::ticks::{Tick, Ticks};

pub(crate) const TICK_LABELS: f64 = 22.0;
pub(crate) const AXIS_TITLE: f64 = 18.0;

/// Distance between a plot and its notes in pixels.
const NOTE: f64 = 10.0;

/// Distance between two tick labels in pixels.
const GAP: f64 = 11.0;

/// Returns as many ticks of a horizontal axis as have room for their labels.
pub(crate) fn fitting(scale: &Scale, width: f64) -> Ticks {
    // Decades are labelled wherever there is room.
    let most = match scale.domain.spacing {
        Spacing::Linear => (width / 45.0) as usize,
        Spacing::Log => 11,
    };
    let mut ticks = Ticks::new(&scale.domain, most);
    for intervals in (5..most).rev() {
        if legible(scale, &ticks.labelled).len() == ticks.labelled.len() {
            break;
        }
        ticks = Ticks::new(&scale.domain, intervals);
    }
    ticks
}

/// Returns the ticks whose labels do not overlap the previous one.
fn legible<'a>(scale: &Scale, ticks: &'a [Tick]) -> Vec<(f64, &'a Tick)> {
    let mut free = f64::NEG_INFINITY;
    let mut kept = Vec::new();
    for tick in ticks {
        let half = text::width(&tick.label, LABEL) / 2.0;
        if let Some(x) = scale.pixel(tick.value).filter(|x| x - half >= free) {
            free = x + half + GAP;
            kept.push((x, tick));
        }
    }
    kept
}

/// Draws minor ticks, unless they would merge.
fn minor(scale: &Scale, ticks: &Ticks) -> Vec<f64> {
    let pixels: Vec<f64> = ticks.minor.iter().filter_map(|&value| scale.pixel(value)).collect();
    let dense = pixels.windows(2).any(|pair| (pair[1] - pair[0]).abs() < 2.2);
    if dense { Vec::new() } else { pixels }
}

pub(crate) fn draw(svg: &mut Svg, panel: &Panel, cell: &Cell) {
    let Rect { left, top, right, bottom } = cell.plot;
    let xs = |ticks: &Ticks| {
        ticks.labelled.iter().filter_map(|tick| cell.x.pixel(tick.value)).collect::<Vec<_>>()
    };
    let horizontal = |y: f64, from: f64, to: f64| (Point::new(from, y), Point::new(to, y));
    let vertical = |x: f64, from: f64, to: f64| (Point::new(x, from), Point::new(x, to));
    let put = |svg: &mut Svg, class: &str, segments: Vec<(Point, Point)>| {
        let mut path = Path::default();
        segments.iter().for_each(|(from, to)| path.segment(*from, *to));
        svg.path(class, "", &path);
    };
    let heights: Vec<f64> =
        cell.y_ticks.labelled.iter().filter_map(|tick| cell.y.pixel(tick.value)).collect();

    let grid = heights.iter().map(|&y| horizontal(y, left, right));
    let grid = grid.chain(xs(&cell.x_ticks).into_iter().map(|x| vertical(x, top, bottom)));
    put(svg, "grid", grid.collect());

    let mut axes = vec![horizontal(bottom, left, right)];
    axes.extend(xs(&cell.x_ticks).into_iter().map(|x| vertical(x, bottom, bottom + 5.0)));
    axes.extend(
        minor(&cell.x, &cell.x_ticks).into_iter().map(|x| vertical(x, bottom, bottom + 3.0)),
    );
    if cell.y.domain.spacing == Spacing::Log {
        axes.push(vertical(left, top, bottom));
        axes.extend(heights.iter().map(|&y| horizontal(y, left - 5.0, left)));
        axes.extend(
            minor(&cell.y, &cell.y_ticks).into_iter().map(|y| horizontal(y, left - 3.0, left)),
        );
    } else if !panel.y.has_categories() && cell.y.domain.low < 0.0 && cell.y.domain.high > 0.0 {
        axes.extend(cell.y.pixel(0.0).map(|y| horizontal(y, left, right)));
    }
    put(svg, "axis", axes);

    for tick in &cell.y_ticks.labelled {
        if let Some(y) = cell.y.pixel(tick.value) {
            let class = if panel.y.has_categories() { "" } else { "muted" };
            svg.text(class, Point::new(left - 8.0, y + 4.0), Anchor::End, &tick.label);
        }
    }
    for (at, note) in panel.y.far_notes() {
        if let Some(y) = cell.visible_y(at) {
            let note = fit(note, LABEL, cell.end_room - NOTE);
            svg.text("", Point::new(right + NOTE, y + 4.0), Anchor::Start, &note);
        }
    }
    if cell.x_labels {
        for (x, tick) in legible(&cell.x, &cell.x_ticks.labelled) {
            svg.text("muted", Point::new(x, bottom + 18.0), Anchor::Middle, &tick.label);
        }
        let title = fit(&panel.x.title(), LABEL, cell.right - cell.left);
        let half = text::width(&title, LABEL) / 2.0;
        let centre = ((left + right) / 2.0).min(cell.right - half).max(cell.left + half);
        let below = bottom + TICK_LABELS + AXIS_TITLE - 4.0;
        svg.text("muted", Point::new(centre, below), Anchor::Middle, &title);
    }
}
