//! Pictures of numbers, with the numbers in a table behind each.
//!
//! A picture has no width of its own: places along x are in per cent, and only lines are stretched. So text
//! stays readable on any screen, and no style stands in the page.

mod scale;

use std::fmt::{self, Write};

pub(crate) use self::scale::Scale;
use super::words;

/// How high a picture is, what is above the highest line, and below the lowest, in pixels.
const HEIGHT: f64 = 240.0;
const ABOVE: f64 = 18.0;
/// What marks take above that, so that their names do not stand on the axis's.
const NAMES: f64 = 16.0;
const BELOW: f64 = 22.0;
/// What lines are drawn on.
const WIDE: f64 = 1000.0;

/// A picture.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// What it shows. It is the heading, and what is read out.
    pub(crate) title: String,
    /// In a sentence, for those who do not see it.
    pub(crate) summary: String,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    /// What stands at the top of the first column of the table.
    pub(crate) x_name: &'static str,
    /// What stands beside the highest line: what y is, and in what unit.
    pub(crate) y_name: &'static str,
    /// Where there are numbers.
    pub(crate) at: Vec<f64>,
    pub(crate) series: Vec<Series>,
    pub(crate) marks: Vec<Mark>,
}

/// Numbers that belong together: one for each place, or none.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) values: Vec<Option<f64>>,
    pub(crate) form: Form,
    /// How its numbers are written in the table.
    pub(crate) write: fn(f64) -> String,
}

/// How numbers are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Line,
    /// A line, and what is below it.
    Area,
    Bars,
    /// In the table only.
    Untold,
}

/// A place that is pointed out.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// Somewhere along x.
    Vertical(f64, String),
    /// Somewhere along y.
    Horizontal(f64, String),
    /// A point.
    Dot(f64, f64, String),
}

/// A picture as markup. All in it is ours, or escaped.
pub(crate) struct Drawn(String);

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl askama::filters::HtmlSafe for Drawn {}

/// Text in markup.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

impl Series {
    pub(crate) fn line(name: impl Into<String>, values: Vec<Option<f64>>) -> Self {
        Self { name: name.into(), values, form: Form::Line, write: words::figure }
    }

    pub(crate) fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    pub(crate) fn write(mut self, write: fn(f64) -> String) -> Self {
        self.write = write;
        self
    }
}

impl Chart {
    /// The picture, its legend and its table.
    pub(crate) fn draw(&self) -> Drawn {
        let mut out = String::with_capacity(16 << 10);
        // Text never fails to be written.
        let _ = self.write_all(&mut out);
        Drawn(out)
    }

    fn write_all(&self, out: &mut String) -> fmt::Result {
        let title = escape(&self.title);
        write!(out, "<figure class=\"chart\"><figcaption><h2>{title}</h2>")?;
        self.write_legend(out)?;
        out.push_str("</figcaption>");
        let summary = escape(&self.summary);
        write!(
            out,
            "<svg class=\"plot\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"{title}: {summary}\">"
        )?;
        self.write_axes(out)?;
        self.write_series(out)?;
        self.write_alone(out)?;
        for mark in &self.marks {
            self.write_mark(out, mark)?;
        }
        self.write_hits(out)?;
        out.push_str("</svg>");
        self.write_table(out)?;
        out.push_str("</figure>");
        Ok(())
    }

    fn drawn(&self) -> impl Iterator<Item = (usize, &Series)> {
        self.series.iter().filter(|it| it.form != Form::Untold).enumerate()
    }

    fn write_legend(&self, out: &mut String) -> fmt::Result {
        if self.drawn().count() < 2 {
            return Ok(());
        }
        out.push_str("<ul class=\"legend\">");
        for (at, series) in self.drawn() {
            write!(
                out,
                "<li><svg aria-hidden=\"true\"><line class=\"{}\" x1=\"0\" x2=\"100%\" y1=\"5\" \
                 y2=\"5\"/></svg>{}</li>",
                class(at),
                escape(&series.name)
            )?;
        }
        out.push_str("</ul>");
        Ok(())
    }

    /// Pixels from above.
    fn down(&self, value: f64) -> f64 {
        self.above() + (1.0 - self.y.share(value)) * (HEIGHT - self.above() - BELOW)
    }

    fn above(&self) -> f64 {
        let is_marked = self.marks.iter().any(|it| matches!(it, Mark::Vertical(..)));
        if is_marked { ABOVE + NAMES } else { ABOVE }
    }

    fn write_axes(&self, out: &mut String) -> fmt::Result {
        let ticks = self.y.ticks(4);
        let top = ticks.len().saturating_sub(1);
        for (at, (value, label)) in ticks.iter().enumerate() {
            let y = self.down(*value);
            let kind = if at == 0 { "axis" } else { "grid-line" };
            let name = if at == top { format!(" {}", self.y_name) } else { String::new() };
            write!(
                out,
                "<line class=\"{kind}\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"0\" y=\"{:.1}\">{}{}</text>",
                y - 4.0,
                escape(label),
                escape(&name)
            )?;
        }
        for (at, (value, label)) in self.x.ticks(6).into_iter().enumerate() {
            let x = 100.0 * self.x.share(value);
            let y = HEIGHT - 6.0;
            // There is not room for all of them everywhere.
            let kind = if at % 2 == 1 { " class=\"spare\"" } else { "" };
            let label = escape(&label);
            write!(out, "<text x=\"{x:.2}%\" y=\"{y}\"{kind}{}>{label}</text>", anchor(x))?;
        }
        Ok(())
    }

    fn write_series(&self, out: &mut String) -> fmt::Result {
        let above = self.above();
        let high = HEIGHT - above - BELOW;
        write!(
            out,
            "<svg class=\"plot-area\" x=\"0\" y=\"{above}\" width=\"100%\" height=\"{high}\" \
             viewBox=\"0 0 {WIDE} {high}\" preserveAspectRatio=\"none\">"
        )?;
        for (at, series) in self.drawn() {
            match series.form {
                Form::Bars => self.write_bars(out, at, series, high)?,
                form => {
                    for run in self.runs(series, high) {
                        if form == Form::Area {
                            write_area(out, at, &run, high)?;
                        }
                        write_path(out, at, &run)?;
                    }
                }
            }
        }
        out.push_str("</svg>");
        Ok(())
    }

    /// Where a line goes without a gap.
    fn runs(&self, series: &Series, high: f64) -> Vec<Vec<(f64, f64)>> {
        let mut runs = vec![Vec::new()];
        for (x, value) in self.at.iter().zip(&series.values) {
            match value.filter(|it| it.is_finite()) {
                Some(value) => {
                    let place = (WIDE * self.x.share(*x), (1.0 - self.y.share(value)) * high);
                    if let Some(run) = runs.last_mut() {
                        run.push(place);
                    }
                }
                None => runs.push(Vec::new()),
            }
        }
        runs.retain(|run| !run.is_empty());
        runs
    }

    fn write_bars(&self, out: &mut String, at: usize, series: &Series, high: f64) -> fmt::Result {
        // A few bars do not fill the picture.
        let wide = WIDE / self.at.len().max(24) as f64;
        for (x, value) in self.at.iter().zip(&series.values) {
            let Some(value) = value.filter(|it| it.is_finite() && *it > 0.0) else { continue };
            let tall = self.y.share(value) * high;
            let left = WIDE * self.x.share(*x) - 0.5 * wide;
            write!(
                out,
                "<rect class=\"bar {}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"/>",
                class(at),
                left + 0.1 * wide,
                high - tall,
                0.8 * wide
            )?;
        }
        Ok(())
    }

    /// A number between gaps is no line: it is a dot.
    fn write_alone(&self, out: &mut String) -> fmt::Result {
        for (at, series) in self.drawn().filter(|(_, it)| it.form != Form::Bars) {
            let is_there =
                |at: usize| series.values.get(at).copied().flatten().is_some_and(f64::is_finite);
            for (n, x) in self.at.iter().enumerate() {
                let is_alone = is_there(n) && !is_there(n + 1) && (n == 0 || !is_there(n - 1));
                if let Some(value) = series.values[n].filter(|_| is_alone) {
                    let (x, y) = (100.0 * self.x.share(*x), self.down(value));
                    write!(
                        out,
                        "<circle class=\"dot {}\" cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"4\"/>",
                        class(at)
                    )?;
                }
            }
        }
        Ok(())
    }

    fn write_mark(&self, out: &mut String, mark: &Mark) -> fmt::Result {
        match mark {
            Mark::Vertical(value, label) => {
                let x = 100.0 * self.x.share(*value);
                write!(
                    out,
                    "<line class=\"mark\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{NAMES}\" y2=\"{}\"/>\
                     <text class=\"mark-text\" x=\"{x:.2}%\" y=\"12\"{}>{}</text>",
                    HEIGHT - BELOW,
                    anchor(x),
                    escape(label)
                )
            }
            Mark::Horizontal(value, label) => {
                let y = self.down(*value);
                // Below the line, unless the numbers of the axis are there.
                let below = y + 14.0;
                let at = if below > HEIGHT - BELOW { y - 5.0 } else { below };
                write!(
                    out,
                    "<line class=\"mark\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                     <text class=\"mark-text\" x=\"100%\" y=\"{at:.1}\" text-anchor=\"end\">{}</text>",
                    escape(label)
                )
            }
            Mark::Dot(x, y, label) => {
                let (x, y) = (100.0 * self.x.share(*x), self.down(*y));
                write!(
                    out,
                    "<circle class=\"dot s1\" cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"5\"><title>{0}</title>\
                     </circle><text class=\"mark-text\" x=\"{x:.2}%\" y=\"{1:.1}\"{2}>{0}</text>",
                    escape(label),
                    y - 10.0,
                    anchor(x)
                )
            }
        }
    }

    /// What browsers show under the pointer without a script.
    fn write_hits(&self, out: &mut String) -> fmt::Result {
        let wide = 100.0 / self.at.len().max(1) as f64;
        for (at, x) in self.at.iter().enumerate() {
            let mut text = self.x.write(*x);
            for series in &self.series {
                let value = series.values.get(at).copied().flatten();
                let _ = write!(text, "\n{}: {}", series.name, self.cell(series, value));
            }
            let left = (100.0 * self.x.share(*x) - 0.5 * wide).max(0.0);
            write!(
                out,
                "<rect class=\"hit\" x=\"{left:.2}%\" width=\"{wide:.2}%\" y=\"0\" height=\"100%\">\
                 <title>{}</title></rect>",
                escape(&text)
            )?;
        }
        Ok(())
    }

    fn cell(&self, series: &Series, value: Option<f64>) -> String {
        value.map_or_else(|| "–".to_owned(), series.write)
    }

    fn write_table(&self, out: &mut String) -> fmt::Result {
        out.push_str(
            "<details><summary>The numbers</summary><div class=\"wide\" tabindex=\"0\"><table>",
        );
        write!(out, "<caption class=\"hidden-label\">{}</caption>", escape(&self.title))?;
        write!(out, "<thead><tr><th scope=\"col\">{}</th>", escape(self.x_name))?;
        for series in &self.series {
            write!(out, "<th scope=\"col\" class=\"number\">{}</th>", escape(&series.name))?;
        }
        out.push_str("</tr></thead><tbody>");
        for (at, x) in self.at.iter().enumerate() {
            let (place, label) = (100.0 * self.x.share(*x), self.x.write(*x));
            write!(out, "<tr data-x=\"{place:.2}\"><td>{}</td>", escape(&label))?;
            for series in &self.series {
                let value = series.values.get(at).copied().flatten();
                write!(out, "<td class=\"number\">{}</td>", escape(&self.cell(series, value)))?;
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div></details>");
        Ok(())
    }
}

fn class(at: usize) -> &'static str {
    ["s1", "s2", "s3", "s4"][at % 4]
}

/// Where a label begins, so that it does not leave the picture.
fn anchor(x: f64) -> &'static str {
    match x {
        ..6.0 => "",
        94.0.. => " text-anchor=\"end\"",
        _ => " text-anchor=\"middle\"",
    }
}

fn write_path(out: &mut String, at: usize, run: &[(f64, f64)]) -> fmt::Result {
    write!(out, "<path class=\"{}\" d=\"", class(at))?;
    for (n, (x, y)) in run.iter().enumerate() {
        write!(out, "{}{x:.1} {y:.1}", if n == 0 { 'M' } else { 'L' })?;
    }
    // A single point is a line without a length, which has round ends.
    if let [(x, y)] = run {
        write!(out, "L{x:.1} {y:.1}")?;
    }
    out.push_str("\"/>");
    Ok(())
}

fn write_area(out: &mut String, at: usize, run: &[(f64, f64)], high: f64) -> fmt::Result {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(()) };
    write!(out, "<path class=\"area {}\" d=\"M{:.1} {high:.1}", class(at), first.0)?;
    for (x, y) in run {
        write!(out, "L{x:.1} {y:.1}")?;
    }
    write!(out, "L{:.1} {high:.1}Z\"/>", last.0)
}

/// A share of a whole as a small bar.
pub(crate) fn share_bar(share: f64) -> Drawn {
    let part = 100.0 * if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 };
    let full = if share >= 1.0 { " full" } else { "" };
    Drawn(format!(
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
            x: Scale::linear(0.0, 4.0, words::figure),
            y: Scale::linear(0.0, 1.0, words::percent),
            x_name: "x",
            y_name: "fresh",
            at,
            series: vec![Series::line("</text><script>", values)],
            marks: vec![Mark::Vertical(2.0, "<now>".to_owned())],
        }
    }

    #[test]
    fn foreign_text_is_text() {
        let drawn = chart(vec![Some(0.5); 5]).draw().to_string();
        assert!(!drawn.contains("<b>") && !drawn.contains("<script>") && !drawn.contains("<now>"));
        assert!(drawn.contains("&lt;script&gt;"));
    }

    #[test]
    fn what_is_no_number_is_a_gap() {
        let values = vec![Some(0.1), None, Some(f64::NAN), Some(0.2), Some(0.3)];
        let drawn = chart(values).draw().to_string();
        assert_eq!(drawn.matches("<path").count(), 2);
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
        let empty = chart(Vec::new()).draw().to_string();
        assert!(!empty.contains("NaN") && !empty.contains("inf"), "{empty}");
    }

    #[test]
    fn every_number_of_the_picture_is_in_the_table() {
        let drawn = chart(vec![Some(0.25), Some(0.5)]).draw().to_string();
        assert!(drawn.contains("<td class=\"number\">0.25</td>"), "{drawn}");
        assert_eq!(drawn.matches("<tr data-x").count(), 2);
    }
}
