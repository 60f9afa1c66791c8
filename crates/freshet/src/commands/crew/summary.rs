//! How many fetchers, for people.

use std::fmt::Write;

use freshet_crew::{Dynamic, Measures};

use crate::commands::crew::{Crew, hint, picture};
use crate::number::{count, plural, significant};

/// The most lengths of the queue that are listed, and how many characters they may take.
const FEW: u32 = 21;
const ACROSS: u32 = 84;
/// Shares below this are shown as powers of ten.
const TINY: f64 = 1e-4;

pub(crate) fn text(crew: &Crew<'_>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(crew, &mut text);
    text
}

fn write(crew: &Crew<'_>, out: &mut String) -> std::fmt::Result {
    let setting = &crew.setting;
    writeln!(
        out,
        "per unit of time a fetcher brings {} and the processor takes {}; the queue holds {}",
        significant(setting.fetch_rate()),
        significant(setting.process_rate()),
        plural(setting.buffer() as usize, "page", "pages"),
    )?;
    writeln!(
        out,
        "cost = {} × share of time starved + pages lost per unit of time\n",
        significant(setting.starvation_weight())
    )?;
    let fixed = crew.fixed;
    let mut rows = vec![
        ["", "fixed"].map(str::to_owned).to_vec(),
        vec!["active fetchers".to_owned(), count(fixed.fetchers as usize)],
        vec!["cost".to_owned(), significant(fixed.cost)],
        vec!["time starved".to_owned(), percent(fixed.starvation)],
        vec!["pages lost".to_owned(), percent(lost(crew, fixed.loss_rate, fixed.fetchers as f64))],
        vec!["  per unit of time".to_owned(), significant(fixed.loss_rate)],
    ];
    if let Ok(Dynamic { measures, .. }) = &crew.dynamic {
        let Measures { cost, starvation, loss_rate, min_active, mean_active, max_active } =
            *measures;
        let active = match min_active == max_active {
            true => count(min_active as usize),
            false => format!(
                "{} to {}, {} on average",
                count(min_active as usize),
                count(max_active as usize),
                significant(mean_active)
            ),
        };
        let cells = [
            "by the queue".to_owned(),
            active,
            format!("{}{}", significant(cost), less(cost, fixed.cost)),
            percent(starvation),
            percent(lost(crew, loss_rate, mean_active)),
            significant(loss_rate),
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

fn write_curve(crew: &Crew<'_>, dynamic: &Dynamic, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "When a page has come in or is done, start one more fetcher if fewer are active:"
    )?;
    let buffer = dynamic.policy.buffer();
    let target = |queue: u32| dynamic.policy.target(queue).to_string();
    let width = |queue: u32| queue.to_string().len().max(target(queue).len());
    let widest = width(buffer).max(width(0)) as u32;
    let some = picture::some(buffer, (ACROSS / (widest + 1)).clamp(2, FEW));
    let line = |name: &str, cell: &dyn Fn(u32) -> String| {
        let cells = some.iter().map(|&queue| format!("{:>1$}", cell(queue), width(queue)));
        format!("{name:<18} {}", cells.collect::<Vec<String>>().join(" "))
    };
    writeln!(out, "{}", line("pages in the queue", &|queue| queue.to_string()))?;
    writeln!(out, "{}\n", line("fewer than", &target))?;
    out.push_str(
        "The same as seen just before the event. # start one more; d only when a page is done,\n",
    );
    out.push_str("a only when one comes in; . start none\n");
    writeln!(out, "{}\n", picture::text(&dynamic.policy))?;
    let curves = plural(dynamic.iterations as usize, "curve", "curves");
    let good = match dynamic.ended_early {
        true => "practically never starved or full: many curves are as good".to_owned(),
        false => format!("no policy costs less by more than {:.0e}", dynamic.gap),
    };
    writeln!(out, "solution           {good}, {curves}, {:.2?}", crew.solve_time)?;
    // One curve of many says nothing of the others.
    if crew.arguments.available.is_none() && !dynamic.ended_early {
        let most = count(dynamic.policy.available() as usize);
        writeln!(out, "fetchers of use    {most}: one more would never be started")?;
    }
    let Some(rule) = crew.rule else { return Ok(()) };
    writeln!(
        out,
        "large buffer       a fixed number of {} would be best with much room",
        count(rule as usize)
    )
}

/// The share of pages brought that is lost.
fn lost(crew: &Crew<'_>, loss_rate: f64, fetchers: f64) -> f64 {
    loss_rate / (crew.setting.fetch_rate() * fetchers)
}

fn percent(share: f64) -> String {
    match share {
        share if share > 0.0 && share < TINY => format!("{:.1e} %", share * 100.0),
        share => format!("{} %", significant(share * 100.0)),
    }
}

/// How much less a cost is than another, in words.
fn less(cost: f64, other: f64) -> String {
    let share = 100.0 * (1.0 - cost / other);
    if share > 99.9 {
        " (over 99.9 % less)".to_owned()
    } else if share >= 0.1 {
        format!(" ({share:.1} % less)")
    } else {
        String::new()
    }
}
