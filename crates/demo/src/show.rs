//! Progress of a demo: a few lines on a terminal that are redrawn, or one line from time to time.

use std::io::{self, Write};
use std::time::Duration;

use crate::truth::{Client, Standing};

/// Style of the progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A few lines, redrawn in place.
    Redrawn,
    /// A line every few seconds.
    Lines,
    /// None.
    Silent,
}

/// Shows the progress of a demo.
pub struct Show<'a> {
    out: &'a mut (dyn Write + Send),
    style: Style,
    /// Number of lines to overwrite.
    drawn: usize,
    /// Time of the last line.
    last: Option<Duration>,
}

/// Interval between two lines, and between two drawings.
const LINES: Duration = Duration::from_secs(5);
const DRAWINGS: Duration = Duration::from_millis(240);
const BAR: usize = 40;

impl<'a> Show<'a> {
    /// Creates a display in a style.
    pub fn new(out: &'a mut (dyn Write + Send), style: Style) -> Self {
        Self { out, style, drawn: 0, last: None }
    }

    /// Prints a permanent line above the redrawn ones.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        if self.style == Style::Silent {
            return Ok(());
        }
        self.end()?;
        self.last = None;
        writeln!(self.out, "{text}")?;
        self.out.flush()
    }

    /// Draws a sample.
    pub(crate) fn moment(&mut self, standing: &Standing, elapsed: Duration) -> io::Result<()> {
        let pause = match self.style {
            Style::Redrawn => DRAWINGS,
            Style::Lines => LINES,
            Style::Silent => return Ok(()),
        };
        if self.last.is_some_and(|last| elapsed.saturating_sub(last) < pause) {
            return Ok(());
        }
        self.last = Some(elapsed);
        if self.style == Style::Lines {
            writeln!(self.out, "{}", line(standing))?;
            return self.out.flush();
        }
        let lines = drawing(standing);
        let mut text = String::new();
        if self.drawn > 0 {
            text.push_str(&format!("\x1b[{}A", self.drawn));
        }
        for line in &lines {
            // Clears to the end of the line, because the previous text may have been longer.
            text.push_str(&format!("\r{line}\x1b[K\n"));
        }
        self.drawn = lines.len();
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Clears the drawing before the summary.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        if self.drawn > 0 {
            write!(self.out, "\x1b[{}A\r\x1b[J", self.drawn)?;
            self.drawn = 0;
        }
        self.out.flush()
    }
}

/// Formats the time of the demo.
pub(crate) fn time(day: f64) -> String {
    let minutes = (day.max(0.0) * 1440.0) as u64;
    format!("day {}, {:02}:{:02}", minutes / 1440 + 1, minutes / 60 % 24, minutes % 60)
}

fn line(standing: &Standing) -> String {
    let one = |client: Client| {
        let now = 100.0 * standing.fresh[client as usize];
        let mean = 100.0 * standing.mean(client);
        format!("{} {now:.1} % (mean {mean:.1} %)", client.name())
    };
    let all = Client::ALL.map(one).join(", ");
    format!("{}: fresh now: {all}", time(standing.day))
}

fn drawing(standing: &Standing) -> Vec<String> {
    let mut lines = vec![format!(
        "{}   {:<BAR$}   now     mean   requests   changes seen",
        time(standing.day),
        "fresh copies, by importance",
    )];
    for client in Client::ALL {
        let at = client as usize;
        let fresh = standing.fresh[at];
        let full = ((fresh * BAR as f64).round() as usize).min(BAR);
        let bar = format!("{}{}", "━".repeat(full), "─".repeat(BAR - full));
        let tally = standing.tallies[at];
        let mean = 100.0 * standing.mean(client);
        lines.push(format!(
            "{:<13}   {bar}  {:>5.1} %  {mean:>5.1} %  {:>8}   {:>12}",
            client.name(),
            100.0 * fresh,
            tally.requests,
            tally.changes
        ));
    }
    lines
}
