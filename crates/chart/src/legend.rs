//! Styles of series names, and the legend.

use crate::geometry::{Point, Rect};
use crate::palette::Look;
use crate::panel::Panel;
use crate::series::{Kind, Series, Stroke};
use crate::svg::{Anchor, Path, Svg};
use crate::text::{self, LABEL, fit};

const SWATCH: f64 = 28.0;
const ROW: f64 = 20.0;

/// Sets where series are labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Legend {
    /// A legend above the panels if a panel has several names; otherwise none, because the axis names the line.
    #[default]
    Auto,
    /// A legend above the panels.
    Top,
    /// A label at the right end of each line.
    Ends,
    /// No labels.
    Off,
}

/// All series names of a figure with their styles.
pub(crate) struct Names {
    entries: Vec<Entry>,
    /// True if a panel has several names, so that styles must differ.
    pub(crate) crowded: bool,
}

struct Entry {
    name: String,
    look: Look,
    dash: Option<&'static str>,
    points: bool,
    band: bool,
}

impl Names {
    pub(crate) fn new(panels: &[Panel]) -> Names {
        let crowded = panels.iter().any(|panel| {
            let first = panel.series.first().map(Series::name);
            panel
                .series
                .iter()
                .skip(1)
                .any(|series| series.name().is_empty() || Some(series.name()) != first)
        });
        let mut names = Names { entries: Vec::new(), crowded };
        let all =
            || panels.iter().flat_map(|panel| &panel.series).filter(|one| !one.name().is_empty());
        let fixed: Vec<usize> = all().filter_map(Series::fixed_look).collect();
        let mut free = (0..).filter(|look| !fixed.contains(look));
        for series in all() {
            if names.entries.iter().all(|entry| entry.name != series.name()) {
                let same = || all().filter(|other| other.name() == series.name());
                let look = match same().find_map(Series::fixed_look) {
                    Some(look) => look,
                    None if crowded => free.next().unwrap_or(0),
                    None => 0,
                };
                let kinds = |kinds: &[Kind]| same().find(|other| kinds.contains(&other.kind()));
                let line = kinds(&[Kind::Line, Kind::LinePoints, Kind::Steps, Kind::Intervals]);
                let entry = Entry {
                    name: series.name().to_owned(),
                    look: Look(look),
                    dash: line.map(|line| names.dash(line, Look(look))),
                    points: kinds(&[Kind::Points, Kind::LinePoints]).is_some(),
                    band: kinds(&[Kind::Band]).is_some(),
                };
                names.entries.push(entry);
            }
        }
        names
    }

    /// `index` is the position in the panel, which distinguishes series without a name.
    pub(crate) fn look(&self, series: &Series, index: usize) -> Look {
        let named = self.entries.iter().find(|entry| entry.name == series.name());
        match (series.fixed_look(), named) {
            (Some(look), _) => Look(look),
            (None, Some(entry)) => entry.look,
            (None, None) => Look(index),
        }
    }

    pub(crate) fn dash(&self, series: &Series, look: Look) -> &'static str {
        match series.stroke() {
            Stroke::Dashed => "6 4",
            Stroke::Auto if self.crowded && series.kind() != Kind::LinePoints => look.dash(),
            Stroke::Auto | Stroke::Solid => "",
        }
    }

    /// Returns the left edge and row of each entry, and the number of rows.
    fn flow(&self, room: f64) -> (Vec<(f64, usize)>, usize) {
        let (mut x, mut row) = (0.0, 0);
        let places = self.entries.iter().map(|entry| {
            let width = SWATCH + 7.0 + text::width(&entry.name, LABEL).min(room - SWATCH - 7.0);
            if x > 0.0 && x + width > room {
                (x, row) = (0.0, row + 1);
            }
            let place = (x, row);
            x += width + 20.0;
            place
        });
        let places: Vec<(f64, usize)> = places.collect();
        let rows = places.last().map_or(0, |(_, row)| row + 1);
        (places, rows)
    }

    pub(crate) fn key_height(&self, room: f64) -> f64 {
        ROW * self.flow(room).1 as f64
    }

    pub(crate) fn draw_key(&self, svg: &mut Svg, left: f64, top: f64, room: f64) {
        for (entry, (x, row)) in self.entries.iter().zip(self.flow(room).0) {
            let y = top + ROW * row as f64 + ROW / 2.0;
            let (start, end) = (left + x, left + x + SWATCH);
            if entry.band {
                let rect = Rect { left: start, top: y - 6.0, right: end, bottom: y + 6.0 };
                svg.rect(&entry.look.class("band"), rect);
            }
            if let Some(dash) = entry.dash {
                let mut path = Path::default();
                path.segment(Point::new(start, y), Point::new(end, y));
                svg.path(&entry.look.class("line"), dash, &path);
            }
            if entry.points {
                let mut path = Path::default();
                entry.look.marker(Point::new((start + end) / 2.0, y), &mut path);
                svg.path(&entry.look.class("dot"), "", &path);
            }
            let name = fit(&entry.name, LABEL, room - SWATCH - 7.0);
            svg.text("", Point::new(end + 7.0, y + 4.0), Anchor::Start, &name);
        }
    }
}
