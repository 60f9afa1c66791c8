//! Contents of a plot: series, marks and their labels.

use crate::end_labels::{self, EndLabel};
use crate::geometry::{Point, Rect};
use crate::layout::Cell;
use crate::legend::Names;
use crate::mark::{Mark, Place};
use crate::palette::Look;
use crate::panel::Panel;
use crate::placement::{Obstacles, beside};
use crate::series::{Kind, Series};
use crate::svg::{Anchor, Path, Svg};
use crate::text::{BOLD, LABEL, fit};
use crate::trace;

const PIN: f64 = 5.0;
/// Half the height of an interval's cap in pixels.
const CAP: f64 = 4.0;

pub(crate) fn draw(svg: &mut Svg, panel: &Panel, cell: &Cell, names: &Names, name_ends: bool) {
    let mut obstacles = Obstacles::default();
    let mut ends: Vec<EndLabel> = Vec::new();

    let styled = || {
        panel.series.iter().enumerate().map(|(index, series)| (series, names.look(series, index)))
    };
    let mut drawn = shades(svg, &panel.marks, cell);
    for (series, look) in styled().filter(|(series, _)| series.kind() == Kind::Band) {
        let areas = trace::areas(series, &cell.x, &cell.y, &cell.plot);
        let mut path = Path::default();
        areas.iter().for_each(|area| path.area(area));
        svg.path(&look.class("band"), "", &path);
        drawn |= !areas.is_empty();
    }
    for (series, look) in styled().filter(|(series, _)| series.kind() == Kind::Intervals) {
        drawn |= whiskers(svg, series, look, cell, &mut obstacles);
    }
    for (series, look) in styled().filter(|(series, _)| series.kind().has_end()) {
        let dash = names.dash(series, look);
        let end = curve(svg, series, look, dash, cell, &mut obstacles);
        drawn |= end.is_some();
        if let Some(at) = end.filter(|_| name_ends) {
            ends.push(EndLabel { text: series.name().to_owned(), at, look: Some(look) });
        }
    }

    drawn |= rules(svg, &panel.marks, cell, &mut obstacles, &mut ends);
    drawn |= pins(svg, &panel.marks, cell, &mut obstacles);
    end_labels::draw(svg, &ends, &cell.plot, cell.end_room);
    if !drawn {
        let Rect { left, top, right, bottom } = cell.plot;
        let centre = Point::new((left + right) / 2.0, (top + bottom) / 2.0);
        svg.text("muted", centre, Anchor::Middle, "no data");
    }
}

/// Draws shaded ranges. Their labels are in the header.
fn shades(svg: &mut Svg, marks: &[Mark], cell: &Cell) -> bool {
    let mut drawn = false;
    for mark in marks {
        if let Place::Span { from, to } = mark.place
            && let Some((left, right)) = cell.visible_span(from, to)
        {
            svg.rect("shade", Rect { left, right, ..cell.plot });
            drawn = true;
        }
    }
    drawn
}

/// Draws intervals with a cap at each end.
fn whiskers(
    svg: &mut Svg,
    series: &Series,
    look: Look,
    cell: &Cell,
    obstacles: &mut Obstacles,
) -> bool {
    let pieces = trace::intervals(series, &cell.x, &cell.y, &cell.plot);
    let mut path = Path::default();
    for &(from, to) in &pieces {
        path.segment(from, to);
        obstacles.line(&[from, to]);
        for end in [from, to] {
            let up = (end.y - CAP).max(cell.plot.top);
            let down = (end.y + CAP).min(cell.plot.bottom);
            path.segment(Point::new(end.x, up), Point::new(end.x, down));
        }
    }
    svg.path(&look.class("whisker"), "", &path);
    !pieces.is_empty()
}

/// Draws a line, its points, or both. Returns its last visible point.
fn curve(
    svg: &mut Svg,
    series: &Series,
    look: Look,
    dash: &str,
    cell: &Cell,
    obstacles: &mut Obstacles,
) -> Option<Point> {
    let mut end = None;
    let mut dots = Vec::new();
    if series.kind() != Kind::Points {
        let pieces = trace::lines(series, &cell.x, &cell.y, &cell.plot);
        let mut path = Path::default();
        for piece in &pieces {
            obstacles.line(piece);
            path.line(piece);
            // A line of one point would be invisible.
            dots.extend(piece.first().filter(|_| piece.len() == 1));
        }
        svg.path(&look.class("line"), dash, &path);
        end = pieces.last().and_then(|piece| piece.last().copied());
    }
    if matches!(series.kind(), Kind::Points | Kind::LinePoints) {
        dots = trace::points(series, &cell.x, &cell.y, &cell.plot);
        dots.iter().for_each(|&dot| obstacles.line(&[dot]));
        end = end.or(dots.last().copied());
    }
    let mut path = Path::default();
    dots.iter().for_each(|&dot| look.marker(dot, &mut path));
    svg.path(&look.class("dot"), "", &path);
    end
}

/// Draws lines across the plot. Labels of vertical lines are in the header.
fn rules(
    svg: &mut Svg,
    marks: &[Mark],
    cell: &Cell,
    obstacles: &mut Obstacles,
    ends: &mut Vec<EndLabel>,
) -> bool {
    let Rect { left, top, right, bottom } = cell.plot;
    let mut path = Path::default();
    let mut drawn = false;
    for mark in marks {
        let (from, to) = match mark.place {
            Place::Vertical { x } => match cell.visible_x(x) {
                Some(x) => (Point::new(x, bottom), Point::new(x, top)),
                None => continue,
            },
            Place::Horizontal { y } => match cell.visible_y(y) {
                Some(y) => (Point::new(left, y), Point::new(right, y)),
                None => continue,
            },
            Place::Dot { .. } | Place::Span { .. } => continue,
        };
        if matches!(mark.place, Place::Horizontal { .. }) {
            ends.push(EndLabel { text: mark.label.clone(), at: to, look: None });
        }
        path.segment(from, to);
        obstacles.line(&[from, to]);
        drawn = true;
    }
    svg.path("mark", "4 3", &path);
    drawn
}

fn pins(svg: &mut Svg, marks: &[Mark], cell: &Cell, obstacles: &mut Obstacles) -> bool {
    let pins: Vec<(Point, &str)> = marks
        .iter()
        .filter_map(|mark| match mark.place {
            Place::Dot { x, y } => {
                Some((Point::new(cell.visible_x(x)?, cell.visible_y(y)?), mark.label.as_str()))
            }
            _ => None,
        })
        .collect();
    for &(at, _) in &pins {
        svg.circle("pin", at, PIN);
        let (left, right, top, bottom) = (at.x - PIN, at.x + PIN, at.y - PIN, at.y + PIN);
        obstacles.boxes.push(Rect { left, top, right, bottom });
    }
    for &(at, label) in pins.iter().filter(|(_, label)| !label.is_empty()) {
        let label = fit(label, BOLD * LABEL, cell.plot.width());
        let place = beside(at, &label, &cell.plot, obstacles);
        let middle = Point::new((place.left + place.right) / 2.0, place.bottom - 4.0);
        svg.text("halo strong", middle, Anchor::Middle, &label);
        obstacles.boxes.push(place);
    }
    !pins.is_empty()
}
