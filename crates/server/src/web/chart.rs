//! Charts as SVG, each with its data in a table.
//!
//! The plot has no width of its own: x positions are percentages, and only lines are stretched. Text
//! stays readable at any width, and pages need no inline styles. Axis labels and names of marks are
//! outside the plot area, so that they never cover the data.

mod scale;

use std::fmt::{self, Write};

use freshet_model::escape_markup;

pub(crate) use self::scale::Scale;
use super::format;

/// Height of the SVG in pixels.
const HEIGHT: f64 = 240.0;
/// Space above the plot area: half the height of the topmost axis label.
const TOP_MARGIN: f64 = 8.0;
/// Height of a row of labels above the plot area.
const LABEL_ROW_HEIGHT: f64 = 16.0;
/// Space below the plot area for the labels of the x axis.
const BOTTOM_MARGIN: f64 = 22.0;
/// Width of the coordinate system of the plot area.
const VIEW_WIDTH: f64 = 1000.0;
/// Width of a character of an axis label in pixels, at most.
const CHARACTER_WIDTH: f64 = 8.0;
/// Width in pixels of the narrowest plot that labels have to fit on: a phone's.
const MIN_PLOT_WIDTH: f64 = 260.0;

/// A chart.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// Heading, also read by screen readers.
    pub(crate) title: String,
    /// Text alternative: the main result in a sentence.
    pub(crate) summary: String,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    /// Heading of the first column of the table.
    pub(crate) x_name: &'static str,
    /// Caption of the y axis: quantity and unit.
    pub(crate) y_name: &'static str,
    /// X values of the data points.
    pub(crate) at: Vec<f64>,
    pub(crate) series: Vec<Series>,
    pub(crate) annotations: Vec<Annotation>,
}

/// A data series: a value, or none, for each x value.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) values: Vec<Option<f64>>,
    pub(crate) style: SeriesStyle,
    /// Formats a value in the table.
    pub(crate) write: fn(f64) -> String,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeriesStyle {
    Line,
    /// A line with the area below it filled.
    Area,
    Bars,
    /// Not drawn; listed in the table only.
    TableOnly,
}

/// A mark on the chart.
#[derive(Clone, Debug)]
pub(crate) enum Annotation {
    /// A vertical line at an x value, with a label above the plot.
    Vertical(f64, String),
    /// A horizontal line at a y value, with a label in the legend.
    Horizontal(f64, String),
    /// A dot at a data point, with a tooltip.
    Dot(f64, f64, String),
}

/// Chart markup. All foreign text in it is escaped.
pub(crate) struct ChartMarkup(String);

impl fmt::Display for ChartMarkup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl askama::filters::HtmlSafe for ChartMarkup {}

impl Series {
    pub(crate) fn line(name: impl Into<String>, values: Vec<Option<f64>>) -> Self {
        Self { name: name.into(), values, style: SeriesStyle::Line, write: format::number }
    }

    pub(crate) fn style(mut self, style: SeriesStyle) -> Self {
        self.style = style;
        self
    }

    pub(crate) fn write(mut self, write: fn(f64) -> String) -> Self {
        self.write = write;
        self
    }
}

impl Chart {
    /// Renders the chart, its legend and its table.
    pub(crate) fn render(&self) -> ChartMarkup {
        let mut out = String::with_capacity(16 << 10);
        // Writing to a `String` cannot fail.
        let _ = self.write_all(&mut out);
        ChartMarkup(out)
    }

    fn write_all(&self, out: &mut String) -> fmt::Result {
        let title = escape_markup(&self.title);
        write!(out, "<figure class=\"chart\"><figcaption><h2>{title}</h2>")?;
        self.write_legend(out)?;
        write!(out, "</figcaption><p class=\"axis-name\">{}</p>", escape_markup(self.y_name))?;
        out.push_str("<div class=\"plot-frame\">");
        self.write_y_axis(out)?;
        let summary = escape_markup(&self.summary);
        write!(
            out,
            "<svg class=\"plot\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"{title}: {summary}\">"
        )?;
        self.write_grid(out)?;
        self.write_series(out)?;
        self.write_isolated_points(out)?;
        for annotation in &self.annotations {
            self.write_annotation(out, annotation)?;
        }
        self.write_annotation_labels(out)?;
        self.write_tooltips(out)?;
        out.push_str("</svg></div>");
        self.write_table(out)?;
        out.push_str("</figure>");
        Ok(())
    }

    fn plotted_series(&self) -> impl Iterator<Item = (usize, &Series)> {
        self.series.iter().filter(|it| it.style != SeriesStyle::TableOnly).enumerate()
    }

    fn write_legend(&self, out: &mut String) -> fmt::Result {
        let lines = self.annotations.iter().filter_map(|it| match it {
            Annotation::Horizontal(_, label) => Some(label),
            _ => None,
        });
        let lines: Vec<_> = lines.collect();
        if self.plotted_series().count() + lines.len() < 2 {
            return Ok(());
        }
        out.push_str("<ul class=\"legend\">");
        let series = self.plotted_series().map(|(at, it)| (series_class(at), &it.name));
        for (class, name) in series.chain(lines.into_iter().map(|it| ("mark", it))) {
            write!(
                out,
                "<li><svg aria-hidden=\"true\"><line class=\"{class}\" x1=\"0\" x2=\"100%\" y1=\"5\" \
                 y2=\"5\"/></svg>{}</li>",
                escape_markup(name)
            )?;
        }
        out.push_str("</ul>");
        Ok(())
    }

    /// Returns the distance from the top of the SVG in pixels.
    fn y_pixel(&self, value: f64) -> f64 {
        self.top_margin()
            + (1.0 - self.y.share(value)) * (HEIGHT - self.top_margin() - BOTTOM_MARGIN)
    }

    fn top_margin(&self) -> f64 {
        let rows = self.label_rows().iter().map(|(row, ..)| row + 1).max().unwrap_or(0);
        TOP_MARGIN + rows as f64 * LABEL_ROW_HEIGHT
    }

    /// Assigns the labels of vertical lines to rows so that none overlaps another, however narrow the
    /// plot: row, x in percent, and label.
    fn label_rows(&self) -> Vec<(usize, f64, &str)> {
        let mut labels: Vec<(f64, &str)> = self
            .annotations
            .iter()
            .filter_map(|it| match it {
                Annotation::Vertical(x, label) if !label.is_empty() => {
                    Some((100.0 * self.x.share(*x), label.as_str()))
                }
                _ => None,
            })
            .collect();
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut row_ends: Vec<f64> = Vec::new();
        let mut rows = Vec::with_capacity(labels.len());
        for (x, label) in labels {
            let width = 100.0 * CHARACTER_WIDTH * label.chars().count() as f64 / MIN_PLOT_WIDTH;
            let start = match anchor(x) {
                Anchor::Start => x,
                Anchor::Middle => x - 0.5 * width,
                Anchor::End => x - width,
            };
            let row = row_ends.iter().position(|end| *end <= start).unwrap_or(row_ends.len());
            if row == row_ends.len() {
                row_ends.push(0.0);
            }
            row_ends[row] = start + width;
            rows.push((row, x, label));
        }
        rows
    }

    fn write_annotation_labels(&self, out: &mut String) -> fmt::Result {
        for (row, x, label) in self.label_rows() {
            let y = (row + 1) as f64 * LABEL_ROW_HEIGHT - 4.0;
            write!(
                out,
                "<text class=\"mark-text\" x=\"{x:.2}%\" y=\"{y}\"{}>{}</text>",
                anchor(x).attribute(),
                escape_markup(label)
            )?;
        }
        Ok(())
    }

    /// Writes the labels of the y axis in a column of its own, left of the plot.
    fn write_y_axis(&self, out: &mut String) -> fmt::Result {
        let ticks = self.y.ticks(4);
        let longest = ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
        let width = CHARACTER_WIDTH * longest as f64 + 8.0;
        write!(
            out,
            "<svg class=\"y-axis\" width=\"{width}\" height=\"{HEIGHT}\" aria-hidden=\"true\">"
        )?;
        for (value, label) in &ticks {
            let y = self.y_pixel(*value) + 4.0;
            let x = width - 6.0;
            let label = escape_markup(label);
            write!(out, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>")?;
        }
        out.push_str("</svg>");
        Ok(())
    }

    fn write_grid(&self, out: &mut String) -> fmt::Result {
        for (at, (value, _)) in self.y.ticks(4).iter().enumerate() {
            let y = self.y_pixel(*value);
            let kind = if at == 0 { "axis" } else { "grid-line" };
            write!(
                out,
                "<line class=\"{kind}\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
            )?;
        }
        for (at, (value, label)) in self.x.ticks(6).into_iter().enumerate() {
            let x = 100.0 * self.x.share(value);
            let y = HEIGHT - 6.0;
            // Narrow screens show every second label.
            let kind = if at % 2 == 1 { " class=\"spare\"" } else { "" };
            let (anchor, label) = (anchor(x).attribute(), escape_markup(&label));
            write!(out, "<text x=\"{x:.2}%\" y=\"{y}\"{kind}{anchor}>{label}</text>")?;
        }
        Ok(())
    }

    fn write_series(&self, out: &mut String) -> fmt::Result {
        let above = self.top_margin();
        let height = HEIGHT - above - BOTTOM_MARGIN;
        write!(
            out,
            "<svg class=\"plot-area\" x=\"0\" y=\"{above}\" width=\"100%\" height=\"{height}\" \
             viewBox=\"0 0 {VIEW_WIDTH} {height}\" preserveAspectRatio=\"none\">"
        )?;
        for (at, series) in self.plotted_series() {
            match series.style {
                SeriesStyle::Bars => self.write_bars(out, at, series, height)?,
                style => {
                    for segment in self.line_segments(series, height) {
                        if style == SeriesStyle::Area {
                            write_area(out, at, &segment, height)?;
                        }
                        write_path(out, at, &segment)?;
                    }
                }
            }
        }
        out.push_str("</svg>");
        Ok(())
    }

    /// Splits a series into segments without gaps.
    fn line_segments(&self, series: &Series, height: f64) -> Vec<Vec<(f64, f64)>> {
        let mut segments = vec![Vec::new()];
        for (x, value) in self.at.iter().zip(&series.values) {
            match value.filter(|it| it.is_finite()) {
                Some(value) => {
                    let place =
                        (VIEW_WIDTH * self.x.share(*x), (1.0 - self.y.share(value)) * height);
                    if let Some(segment) = segments.last_mut() {
                        segment.push(place);
                    }
                }
                None => segments.push(Vec::new()),
            }
        }
        segments.retain(|segment| !segment.is_empty());
        segments
    }

    fn write_bars(&self, out: &mut String, at: usize, series: &Series, height: f64) -> fmt::Result {
        // A small number of bars does not fill the plot.
        let width = VIEW_WIDTH / self.at.len().max(24) as f64;
        for (x, value) in self.at.iter().zip(&series.values) {
            let Some(value) = value.filter(|it| it.is_finite() && *it > 0.0) else { continue };
            let tall = self.y.share(value) * height;
            let left = VIEW_WIDTH * self.x.share(*x) - 0.5 * width;
            write!(
                out,
                "<rect class=\"bar {}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"/>",
                series_class(at),
                left + 0.1 * width,
                height - tall,
                0.8 * width
            )?;
        }
        Ok(())
    }

    /// Draws values between gaps as dots: a line of one point is invisible.
    fn write_isolated_points(&self, out: &mut String) -> fmt::Result {
        for (at, series) in self.plotted_series().filter(|(_, it)| it.style != SeriesStyle::Bars) {
            let has_value =
                |at: usize| series.values.get(at).copied().flatten().is_some_and(f64::is_finite);
            for (n, x) in self.at.iter().enumerate() {
                let is_isolated =
                    has_value(n) && !has_value(n + 1) && (n == 0 || !has_value(n - 1));
                if let Some(value) = series.values[n].filter(|_| is_isolated) {
                    let (x, y) = (100.0 * self.x.share(*x), self.y_pixel(value));
                    write!(
                        out,
                        "<circle class=\"dot {}\" cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"4\"/>",
                        series_class(at)
                    )?;
                }
            }
        }
        Ok(())
    }

    fn write_annotation(&self, out: &mut String, annotation: &Annotation) -> fmt::Result {
        match annotation {
            Annotation::Vertical(value, _) => {
                let (x, top) = (100.0 * self.x.share(*value), self.top_margin() - TOP_MARGIN);
                write!(
                    out,
                    "<line class=\"mark\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{top}\" y2=\"{}\"/>",
                    HEIGHT - BOTTOM_MARGIN
                )
            }
            Annotation::Horizontal(value, _) => {
                let y = self.y_pixel(*value);
                write!(
                    out,
                    "<line class=\"mark\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
                )
            }
            Annotation::Dot(x, y, label) => {
                let (x, y) = (100.0 * self.x.share(*x), self.y_pixel(*y));
                write!(
                    out,
                    "<circle class=\"dot s1\" cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"5\"><title>{}</title>\
                     </circle>",
                    escape_markup(label)
                )
            }
        }
    }

    /// Writes the tooltips that browsers show without a script.
    fn write_tooltips(&self, out: &mut String) -> fmt::Result {
        let width = 100.0 / self.at.len().max(1) as f64;
        for (at, x) in self.at.iter().enumerate() {
            let mut text = self.x.write(*x);
            for series in &self.series {
                let value = series.values.get(at).copied().flatten();
                let _ = write!(text, "\n{}: {}", series.name, self.cell(series, value));
            }
            let left = (100.0 * self.x.share(*x) - 0.5 * width).max(0.0);
            write!(
                out,
                "<rect class=\"hit\" x=\"{left:.2}%\" width=\"{width:.2}%\" y=\"0\" height=\"100%\">\
                 <title>{}</title></rect>",
                escape_markup(&text)
            )?;
        }
        Ok(())
    }

    fn cell(&self, series: &Series, value: Option<f64>) -> String {
        value.map_or_else(|| "–".to_owned(), series.write)
    }

    fn write_table(&self, out: &mut String) -> fmt::Result {
        out.push_str("<details><summary>Data</summary><div class=\"wide\" tabindex=\"0\"><table>");
        write!(out, "<caption class=\"hidden-label\">{}</caption>", escape_markup(&self.title))?;
        write!(out, "<thead><tr><th scope=\"col\">{}</th>", escape_markup(self.x_name))?;
        for series in &self.series {
            write!(out, "<th scope=\"col\" class=\"number\">{}</th>", escape_markup(&series.name))?;
        }
        out.push_str("</tr></thead><tbody>");
        for (at, x) in self.at.iter().enumerate() {
            let (place, label) = (100.0 * self.x.share(*x), self.x.write(*x));
            write!(out, "<tr data-x=\"{place:.2}\"><td>{}</td>", escape_markup(&label))?;
            for series in &self.series {
                let value = series.values.get(at).copied().flatten();
                write!(
                    out,
                    "<td class=\"number\">{}</td>",
                    escape_markup(&self.cell(series, value))
                )?;
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div></details>");
        Ok(())
    }
}

fn series_class(at: usize) -> &'static str {
    ["s1", "s2", "s3", "s4"][at % 4]
}

/// Which part of a label is at its x position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn attribute(self) -> &'static str {
        match self {
            Self::Start => "",
            Self::Middle => " text-anchor=\"middle\"",
            Self::End => " text-anchor=\"end\"",
        }
    }
}

/// Returns the anchor with which a label at `x` percent stays inside the plot.
fn anchor(x: f64) -> Anchor {
    match x {
        ..8.0 => Anchor::Start,
        92.0.. => Anchor::End,
        _ => Anchor::Middle,
    }
}

fn write_path(out: &mut String, at: usize, segment: &[(f64, f64)]) -> fmt::Result {
    write!(out, "<path class=\"{}\" d=\"", series_class(at))?;
    for (n, (x, y)) in segment.iter().enumerate() {
        write!(out, "{}{x:.1} {y:.1}", if n == 0 { 'M' } else { 'L' })?;
    }
    // A single point is drawn as a line of zero length with round caps.
    if let [(x, y)] = segment {
        write!(out, "L{x:.1} {y:.1}")?;
    }
    out.push_str("\"/>");
    Ok(())
}

fn write_area(out: &mut String, at: usize, segment: &[(f64, f64)], height: f64) -> fmt::Result {
    let (Some(first), Some(last)) = (segment.first(), segment.last()) else { return Ok(()) };
    write!(out, "<path class=\"area {}\" d=\"M{:.1} {height:.1}", series_class(at), first.0)?;
    for (x, y) in segment {
        write!(out, "L{x:.1} {y:.1}")?;
    }
    write!(out, "L{:.1} {height:.1}Z\"/>", last.0)
}

/// Renders a share as a small bar.
pub(crate) fn share_bar(share: f64) -> ChartMarkup {
    let part = 100.0 * if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 };
    let full = if share >= 1.0 { " full" } else { "" };
    ChartMarkup(format!(
        "<svg class=\"share\" aria-hidden=\"true\"><rect class=\"of\" width=\"100%\" height=\"100%\" \
         rx=\"3\"/><rect class=\"is{full}\" width=\"{part:.1}%\" height=\"100%\" rx=\"3\"/></svg>"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: Vec<Option<f64>>) -> Chart {
        let at = (0..values.len()).map(|at| at as f64).collect();
        Chart {
            title: "<b>\"Title\"</b>".to_owned(),
            summary: String::new(),
            x: Scale::linear(0.0, 4.0, format::number),
            y: Scale::linear(0.0, 1.0, format::percent),
            x_name: "x",
            y_name: "fresh",
            at,
            series: vec![Series::line("</text><script>", values)],
            annotations: vec![Annotation::Vertical(2.0, "<now>".to_owned())],
        }
    }

    #[test]
    fn foreign_text_is_escaped() {
        let drawn = chart(vec![Some(0.5); 5]).render().to_string();
        assert!(!drawn.contains("<b>") && !drawn.contains("<script>") && !drawn.contains("<now>"));
        assert!(drawn.contains("&lt;script&gt;"));
    }

    #[test]
    fn values_that_are_not_finite_are_gaps() {
        let values = vec![Some(0.1), None, Some(f64::NAN), Some(0.2), Some(0.3)];
        let drawn = chart(values).render().to_string();
        assert_eq!(drawn.matches("<path").count(), 2);
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
        let empty = chart(Vec::new()).render().to_string();
        assert!(!empty.contains("NaN") && !empty.contains("inf"), "{empty}");
    }

    #[test]
    fn labels_of_vertical_lines_do_not_overlap() {
        let mut chart = chart(vec![Some(0.5); 5]);
        let label = |x: f64| Annotation::Vertical(x, "label".to_owned());
        chart.annotations = vec![label(2.0), label(2.1), label(0.0)];
        let rows: Vec<usize> = chart.label_rows().iter().map(|(row, ..)| *row).collect();
        assert_eq!(rows, [0, 0, 1]);
        assert!((chart.top_margin() - TOP_MARGIN - 2.0 * LABEL_ROW_HEIGHT).abs() < 1e-9);
    }

    #[test]
    fn the_table_lists_all_values() {
        let drawn = chart(vec![Some(0.25), Some(0.5)]).render().to_string();
        assert!(drawn.contains("<td class=\"number\">0.25</td>"), "{drawn}");
        assert_eq!(drawn.matches("<tr data-x").count(), 2);
    }
}
