//! Figure: title, legend, panels, caption.

use crate::description::describe;
use crate::frame;
use crate::geometry::{Point, Rect};
use crate::layout;
use crate::legend::{Legend, Names};
use crate::palette;
use crate::panel::Panel;
use crate::plot;
use crate::svg::{Anchor, Svg};
use crate::text::{BOLD, CAPTION, SUBTITLE, TITLE, wrap};

const PAD: f64 = 18.0;
const MOST_LINES: usize = 4;

/// Figure with one or several panels. Render it with [`Figure::to_svg`].
#[derive(Clone, Debug)]
pub struct Figure {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) caption: String,
    pub(crate) description: Option<String>,
    pub(crate) panels: Vec<Panel>,
    pub(crate) columns: usize,
    pub(crate) share_x: bool,
    pub(crate) legend: Legend,
    pub(crate) width: f64,
    pub(crate) plot_height: f64,
}

impl Figure {
    /// Creates a figure without panels, 760 pixels wide, with plots 220 pixels high.
    pub fn new(title: &str) -> Figure {
        Figure {
            title: title.to_owned(),
            subtitle: String::new(),
            caption: String::new(),
            description: None,
            panels: Vec::new(),
            columns: 1,
            share_x: false,
            legend: Legend::Auto,
            width: 760.0,
            plot_height: 220.0,
        }
    }

    /// Sets a subtitle of one or two lines.
    #[must_use]
    pub fn subtitle(mut self, subtitle: &str) -> Figure {
        self.subtitle = subtitle.to_owned();
        self
    }

    /// Sets a note under the panels.
    #[must_use]
    pub fn caption(mut self, caption: &str) -> Figure {
        self.caption = caption.to_owned();
        self
    }

    /// Sets the text description for screen readers. By default it is made from the axes and the ends of the series.
    #[must_use]
    pub fn description(mut self, description: &str) -> Figure {
        self.description = Some(description.to_owned());
        self
    }

    /// Adds a panel; panels fill the grid row by row.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Figure {
        self.panels.push(panel);
        self
    }

    /// Sets the number of columns, as far as the width allows. By default panels are stacked.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Figure {
        self.columns = columns;
        self
    }

    /// Makes all panels share the x axis; of stacked panels only the lowest one labels it.
    #[must_use]
    pub fn share_x(mut self) -> Figure {
        self.share_x = true;
        self
    }

    /// Sets where series are labelled.
    #[must_use]
    pub fn legend(mut self, legend: Legend) -> Figure {
        self.legend = legend;
        self
    }

    /// Sets the width in pixels, clamped to 320 … 4,000.
    #[must_use]
    pub fn width(mut self, pixels: u32) -> Figure {
        self.width = f64::from(pixels.clamp(320, 4_000));
        self
    }

    /// Sets the height of each plot without labels in pixels, clamped to 80 … 4,000.
    #[must_use]
    pub fn plot_height(mut self, pixels: u32) -> Figure {
        self.plot_height = f64::from(pixels.clamp(80, 4_000));
        self
    }

    /// Renders the figure as a self-contained SVG document with a dark variant.
    pub fn to_svg(&self) -> String {
        let names = Names::new(&self.panels);
        let room = self.width - 2.0 * PAD;
        let titles = wrap(&self.title, BOLD * TITLE, room, MOST_LINES);
        let subtitles = wrap(&self.subtitle, SUBTITLE, room, MOST_LINES);
        let captions = wrap(&self.caption, CAPTION, room, MOST_LINES);

        let titles_bottom = PAD - 4.0 + 22.0 * titles.len() as f64;
        let key_top = titles_bottom + 18.0 * subtitles.len() as f64 + 6.0;
        let key = match self.legend {
            Legend::Auto => names.crowded,
            Legend::Top => true,
            Legend::Ends | Legend::Off => false,
        };
        let key_height = if key { names.key_height(room) + 4.0 } else { 0.0 };
        let panels_top = key_top + key_height + 4.0;
        let (cells, panels_bottom) = layout::cells(self, PAD, self.width - PAD, panels_top);
        let caption_top = panels_bottom + if captions.is_empty() { 0.0 } else { 8.0 };
        let height = (caption_top + 15.0 * captions.len() as f64 + PAD - 4.0).ceil();

        let mut svg = Svg::new(self.width, height, &self.title);
        svg.note("title", &self.title);
        let made = || describe(&self.panels);
        svg.note("desc", &self.description.clone().unwrap_or_else(made));
        svg.style(&palette::style());
        svg.rect("bg", Rect { left: 0.0, top: 0.0, right: self.width, bottom: height });
        let lines = |svg: &mut Svg, class: &str, lines: &[String], top: f64, step: f64| {
            for (index, line) in lines.iter().enumerate() {
                let baseline = top + step * (index + 1) as f64 - 5.0;
                svg.text(class, Point::new(PAD, baseline), Anchor::Start, line);
            }
        };
        lines(&mut svg, "title", &titles, PAD - 4.0, 22.0);
        lines(&mut svg, "subtitle", &subtitles, titles_bottom, 18.0);
        lines(&mut svg, "caption", &captions, caption_top, 15.0);
        if key {
            names.draw_key(&mut svg, PAD, key_top, room);
        }
        for (panel, cell) in self.panels.iter().zip(&cells) {
            svg.open("plot");
            frame::draw(&mut svg, panel, cell);
            plot::draw(&mut svg, panel, cell, &names, self.legend == Legend::Ends);
            cell.header.draw(&mut svg, cell.plot.top);
            svg.close();
        }
        svg.finish()
    }
}
