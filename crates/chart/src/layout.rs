//! Layout: panels in a grid, with margins for their labels.

use crate::axis::Axis;
use crate::end_labels;
use crate::figure::Figure;
use crate::frame::{self, AXIS_TITLE, TICK_LABELS};
use crate::geometry::Rect;
use crate::header::{Caption, Header};
use crate::legend::Legend;
use crate::mark::{Mark, Place};
use crate::panel::Panel;
use crate::scale::{Domain, Scale, Spacing};
use crate::series::Series;
use crate::text::{self, LABEL};
use crate::ticks::{Ticks, widen};

const COLUMN_GAP: f64 = 30.0;
const ROW_GAP: f64 = 16.0;
/// Smallest width of a plot in pixels; a narrower one gets a row of its own.
const NARROWEST: f64 = 110.0;
/// Approximate number of ticks of the other axis if names are rows.
const ROW_INTERVALS: usize = 8;
/// Largest share of a panel for labels at the right.
const END_SHARE: f64 = 0.35;

/// Position of a panel.
pub(crate) struct Cell {
    /// Horizontal extent of the panel with its labels.
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) plot: Rect,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    pub(crate) x_ticks: Ticks,
    pub(crate) y_ticks: Ticks,
    pub(crate) x_labels: bool,
    pub(crate) end_room: f64,
    pub(crate) header: Header,
}

impl Cell {
    pub(crate) fn visible_x(&self, value: f64) -> Option<f64> {
        self.x.pixel(value).filter(|_| self.x.domain.contains(value))
    }

    /// Visible part of a range of the x axis, from left to right.
    pub(crate) fn visible_span(&self, from: f64, to: f64) -> Option<(f64, f64)> {
        let (one, other) = (self.x.pixel(from)?, self.x.pixel(to)?);
        let left = one.min(other).max(self.plot.left);
        let right = one.max(other).min(self.plot.right);
        (left < right).then_some((left, right))
    }

    pub(crate) fn visible_y(&self, value: f64) -> Option<f64> {
        self.y.pixel(value).filter(|_| self.y.domain.contains(value))
    }
}

/// Places the panels between two sides, from `top` down. Returns the cells and their bottom.
pub(crate) fn cells(figure: &Figure, left: f64, right: f64, top: f64) -> (Vec<Cell>, f64) {
    let panels = &figure.panels;
    let xs = x_domains(figure);
    let intervals = |panel: &Panel| match panel.y.spacing() {
        Spacing::Linear => (figure.plot_height / 40.0) as usize,
        Spacing::Log => (figure.plot_height / 22.0) as usize,
    };
    let ys: Vec<Domain> =
        panels.iter().zip(&xs).map(|(panel, x)| y_domain(panel, *x, intervals(panel))).collect();
    let y_ticks: Vec<Ticks> =
        ys.iter().zip(panels).map(|(y, panel)| ticks(&panel.y, y, intervals(panel))).collect();
    let name_ends = figure.legend == Legend::Ends;
    let label_rooms: Vec<f64> = y_ticks.iter().map(label_room).collect();
    let end_rooms: Vec<f64> =
        panels.iter().map(|panel| end_labels::room(end_texts(panel, name_ends))).collect();

    let widest = |rooms: &[f64]| rooms.iter().copied().fold(0.0, f64::max);
    let width_of =
        |columns: usize| (right - left - COLUMN_GAP * (columns - 1) as f64) / columns as f64;
    let columns = (1..=figure.columns.min(panels.len()))
        .rev()
        .find(|&columns| {
            let width = width_of(columns);
            let ends = widest(&end_rooms).min(END_SHARE * width);
            width - widest(&label_rooms) - ends >= NARROWEST
        })
        .unwrap_or(1);
    let width = width_of(columns);
    let end_rooms: Vec<f64> = end_rooms.iter().map(|room| room.min(END_SHARE * width)).collect();

    // Panels of a column share their margins, so that their plots are aligned.
    let column = |index: usize| (index % columns..panels.len()).step_by(columns);
    let margins = |index: usize| {
        let labels = column(index).map(|index| label_rooms[index]).fold(0.0, f64::max);
        // Half of the last label on the x axis may extend beyond the plot.
        let ends = column(index).map(|index| end_rooms[index]).fold(20.0, f64::max);
        (labels, ends)
    };

    let mut cells: Vec<Cell> = Vec::new();
    for (index, panel) in panels.iter().enumerate() {
        let cell_left = left + (width + COLUMN_GAP) * (index % columns) as f64;
        let (before, after) = margins(index);
        let (from, to) = (cell_left + before, cell_left + width - after);
        let x = Scale::new(xs[index], from, to);
        let below = panels.get(index + columns);
        let hidden =
            below.is_some_and(|below| figure.share_x && below.x.spacing() == panel.x.spacing());
        let captions: Vec<Caption<'_>> =
            panel.marks.iter().filter_map(|mark| above(mark, &x)).collect();
        cells.push(Cell {
            left: cell_left,
            right: cell_left + width,
            plot: Rect { left: from, top: 0.0, right: to, bottom: 0.0 },
            x,
            y: Scale::new(ys[index], 0.0, 0.0),
            x_ticks: panel
                .x
                .category_ticks(&x.domain)
                .unwrap_or_else(|| frame::fitting(&x, to - from)),
            y_ticks: y_ticks[index].clone(),
            x_labels: !hidden,
            end_room: end_rooms[index],
            header: Header::new(
                cell_left,
                cell_left + width,
                &panel.title,
                &panel.y.title(),
                &captions,
            ),
        });
    }

    let mut bottom = top;
    for (row, cells) in cells.chunks_mut(columns).enumerate() {
        let header = cells.iter().map(|cell| cell.header.height()).fold(0.0, f64::max);
        let plot_top = bottom + if row > 0 { ROW_GAP } else { 0.0 } + header;
        bottom = plot_top + figure.plot_height;
        for (cell, panel) in cells.iter_mut().zip(&panels[row * columns..]) {
            (cell.plot.top, cell.plot.bottom) = (plot_top, bottom);
            // Categories start at the top.
            cell.y = match panel.y.has_categories() {
                true => Scale::new(cell.y.domain, plot_top, bottom),
                false => Scale::new(cell.y.domain, bottom, plot_top),
            };
        }
        let titled = |cell: usize| !panels[row * columns + cell].x.title().is_empty();
        let footers = cells.iter().enumerate().filter(|(_, cell)| cell.x_labels);
        let footers =
            footers.map(|(index, _)| TICK_LABELS + if titled(index) { AXIS_TITLE } else { 0.0 });
        bottom += footers.fold(0.0, f64::max);
    }
    (cells, bottom)
}

fn x_domains(figure: &Figure) -> Vec<Domain> {
    let own = |panel: &Panel| {
        let domain = panel.x.covering(panel.xs());
        // Keeps points in rows away from the sides.
        let bare = panel.y.has_categories() && panel.x.fixed().is_none();
        if bare { widen(domain, ROW_INTERVALS) } else { domain }
    };
    let shared = |panel: &Panel| {
        let same: Vec<&Panel> =
            figure.panels.iter().filter(|other| other.x.spacing() == panel.x.spacing()).collect();
        let fixed = same.iter().find_map(|panel| panel.x.fixed());
        fixed.unwrap_or_else(|| same[0].x.covering(same.iter().flat_map(|panel| panel.xs())))
    };
    figure
        .panels
        .iter()
        .map(|panel| if figure.share_x { shared(panel) } else { own(panel) })
        .collect()
}

fn y_domain(panel: &Panel, x: Domain, intervals: usize) -> Domain {
    let domain = panel.y.covering(panel.ys(x));
    if panel.y.fixed().is_some() { domain } else { widen(domain, intervals) }
}

fn ticks(axis: &Axis, domain: &Domain, intervals: usize) -> Ticks {
    axis.category_ticks(domain).unwrap_or_else(|| Ticks::new(domain, intervals))
}

fn label_room(ticks: &Ticks) -> f64 {
    let labels = ticks.labelled.iter().map(|tick| text::width(&tick.label, LABEL));
    10.0 + labels.fold(0.0, f64::max)
}

fn end_texts(panel: &Panel, names: bool) -> impl Iterator<Item = &str> {
    let series = panel.series.iter().filter(move |series| names && series.kind().has_end());
    let marks = panel.marks.iter().filter(|mark| matches!(mark.place, Place::Horizontal { .. }));
    let notes = panel.y.far_notes().map(|(_, note)| note);
    series.map(Series::name).chain(marks.map(|mark| mark.label.as_str())).chain(notes)
}

/// Returns the label above a plot, if its target is visible.
fn above<'a>(mark: &'a Mark, x: &Scale) -> Option<Caption<'a>> {
    let text = mark.label.as_str();
    let inside = |value: f64| value.clamp(x.domain.low, x.domain.high);
    match mark.place {
        Place::Vertical { x: value } if x.domain.contains(value) => {
            Some(Caption { x: x.pixel(value)?, text, line: true })
        }
        Place::Span { from, to } if inside(from) != inside(to) => {
            let middle = 0.5 * (x.pixel(inside(from))? + x.pixel(inside(to))?);
            Some(Caption { x: middle, text, line: false })
        }
        _ => None,
    }
}
