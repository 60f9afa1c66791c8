//! Text summary of `freshet crew`.

use std::fmt::Write;

use freshet_crew::{Dynamic, Measures};

use crate::commands::crew::{CrewSolution, hint, picture};
use crate::number::{format_count, format_significant, pluralize};

/// Maximum number of queue lengths that are listed, and their maximum width in characters.
const MAX_QUEUES: u32 = 21;
const MAX_WIDTH: u32 = 84;
/// Shares below this are printed in scientific notation.
const SCIENTIFIC_BELOW: f64 = 1e-4;

pub(crate) fn text(crew: &CrewSolution<'_>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(crew, &mut text);
    text
}

fn write(crew: &CrewSolution<'_>, out: &mut String) -> std::fmt::Result {
    let setting = &crew.setting;
    writeln!(
        out,
        "per unit of time a fetcher delivers {} and the processor handles {}; the queue holds {}",
        format_significant(setting.fetch_rate()),
        format_significant(setting.process_rate()),
        pluralize(setting.buffer() as usize, "page", "pages"),
    )?;
    writeln!(
        out,
        "cost = {} × share of time starved + pages lost per unit of time\n",
        format_significant(setting.starvation_weight())
    )?;
    let fixed = crew.fixed;
    let mut rows = vec![
        ["", "fixed"].map(str::to_owned).to_vec(),
        vec!["active fetchers".to_owned(), format_count(fixed.fetchers as usize)],
        vec!["cost".to_owned(), format_significant(fixed.cost)],
        vec!["time starved".to_owned(), percent(fixed.starvation)],
        vec![
            "pages lost".to_owned(),
            percent(lost_share(crew, fixed.loss_rate, fixed.fetchers as f64)),
        ],
        vec!["  per unit of time".to_owned(), format_significant(fixed.loss_rate)],
    ];
    if let Ok(Dynamic { measures, .. }) = &crew.dynamic {
        let Measures { cost, starvation, loss_rate, min_active, mean_active, max_active } =
            *measures;
        let active = match min_active == max_active {
            true => format_count(min_active as usize),
            false => format!(
                "{} to {}, {} on average",
                format_count(min_active as usize),
                format_count(max_active as usize),
                format_significant(mean_active)
            ),
        };
        let cells = [
            "switching curve".to_owned(),
            active,
            format!("{}{}", format_significant(cost), format_saving(cost, fixed.cost)),
            percent(starvation),
            percent(lost_share(crew, loss_rate, mean_active)),
            format_significant(loss_rate),
        ];
        rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }
    let width = rows.iter().map(|row| row[1].chars().count()).max().unwrap_or(0);
    for row in &rows {
        let line = format!("{:<19}{:>width$}   {}", row[0], row[1], row.get(2).map_or("", |it| it));
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)?;
    match &crew.dynamic {
        Ok(dynamic) => write_curve(crew, dynamic, out),
        Err(error) => {
            writeln!(out, "no switching curve: {error}\n")?;
            match hint(error, crew.arguments) {
                Some(hint) => writeln!(out, "hint: {hint}"),
                None => Ok(()),
            }
        }
    }
}

fn write_curve(crew: &CrewSolution<'_>, dynamic: &Dynamic, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "When a page has arrived or been processed, start one more fetcher if fewer are active:"
    )?;
    let buffer = dynamic.policy.buffer();
    let target = |queue: u32| dynamic.policy.target(queue).to_string();
    let width = |queue: u32| queue.to_string().len().max(target(queue).len());
    let widest = width(buffer).max(width(0)) as u32;
    let queues = picture::spread_evenly(buffer, (MAX_WIDTH / (widest + 1)).clamp(2, MAX_QUEUES));
    let line = |name: &str, cell: &dyn Fn(u32) -> String| {
        let cells = queues.iter().map(|&queue| format!("{:>1$}", cell(queue), width(queue)));
        format!("{name:<18} {}", cells.collect::<Vec<String>>().join(" "))
    };
    writeln!(out, "{}", line("pages in the queue", &|queue| queue.to_string()))?;
    writeln!(out, "{}\n", line("fewer than", &target))?;
    out.push_str(
        "The same curve, as seen just before the event. # start one more; d only when a page is\n",
    );
    out.push_str("processed, a only when one arrives; . start none\n");
    writeln!(out, "{}\n", picture::text(&dynamic.policy))?;
    let curves = pluralize(dynamic.iterations as usize, "curve", "curves");
    let good = match dynamic.ended_early {
        true => "practically never empty or full: many curves are equally good".to_owned(),
        false => format!("within {:.0e} of the optimal cost", dynamic.gap),
    };
    writeln!(out, "solution           {good}, {curves}, {:.2?}", crew.solve_time)?;
    // If many curves are equally good, the size of this one is arbitrary.
    if crew.arguments.available.is_none() && !dynamic.ended_early {
        let useful = format_count(dynamic.policy.available() as usize);
        writeln!(out, "useful fetchers    {useful}: one more would never be started")?;
    }
    let Some(fetchers) = crew.large_buffer_fetchers else { return Ok(()) };
    writeln!(
        out,
        "large buffer       a fixed number of {} would be best with a large buffer",
        format_count(fetchers as usize)
    )
}

/// Returns the share of delivered pages that is lost.
fn lost_share(crew: &CrewSolution<'_>, loss_rate: f64, fetchers: f64) -> f64 {
    loss_rate / (crew.setting.fetch_rate() * fetchers)
}

fn percent(share: f64) -> String {
    match share {
        share if share > 0.0 && share < SCIENTIFIC_BELOW => format!("{:.1e} %", share * 100.0),
        share => format!("{} %", format_significant(share * 100.0)),
    }
}

/// Formats by how much a cost is lower than another.
fn format_saving(cost: f64, other: f64) -> String {
    let share = 100.0 * (1.0 - cost / other);
    if share > 99.9 {
        " (over 99.9 % less)".to_owned()
    } else if share >= 0.1 {
        format!(" ({share:.1} % less)")
    } else {
        String::new()
    }
}
