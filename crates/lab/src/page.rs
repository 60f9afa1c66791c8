//! Self-contained HTML page of all reports.

mod comparisons;

use std::fmt::Write as _;

use freshet_model::escape_markup;

use crate::catalogue::Paper;
use crate::html::{element, wrap};
use crate::outcome::{Counts, Report};
use crate::verdict::Verdict;

const STYLE: &str = include_str!("page/style.css");

/// Returns the page. Links to the files of each report are relative: `NAME.csv`, `NAME.svg`.
#[must_use]
pub fn page(reports: &[Report]) -> String {
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n");
    // Writing to a string cannot fail, here and below.
    let _ = write!(
        page,
        "<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>freshet lab: the papers' numbers beside ours</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<a class=\"skip\" href=\"#results\">Skip to the results</a>\n"
    );
    page.push_str(&header(reports));
    page.push_str("<main id=\"results\">\n");
    for paper in Paper::ALL {
        let own: Vec<&Report> = of_paper(reports, paper).collect();
        if !own.is_empty() {
            page.push_str(&section(paper, &own));
        }
    }
    page.push_str("</main>\n<footer><p>made with freshet lab</p></footer>\n</body>\n</html>\n");
    page
}

fn of_paper(reports: &[Report], paper: Paper) -> impl Iterator<Item = &Report> {
    reports.iter().filter(move |report| report.experiment.paper == paper)
}

fn counts<'a>(reports: impl Iterator<Item = &'a Report>) -> Counts {
    reports.fold(Counts::default(), |sum, report| sum.and(report.outcome.counts()))
}

/// Returns the title, the meaning of the verdicts, and their counts.
fn header(reports: &[Report]) -> String {
    let all = counts(reports.iter());
    let mut html = String::from("<header>\n<h1>The papers’ numbers beside ours</h1>\n");
    let lead = match all.of(Verdict::Differs) {
        0 => format!(
            "{} numbers and claims, each recalculated and compared with the paper’s. None differs \
             without a known cause.",
            all.total()
        ),
        some => format!(
            "{} numbers and claims, each recalculated and compared with the paper’s. {some} of them \
             differ for no known reason.",
            all.total()
        ),
    };
    let _ = writeln!(html, "{}", element("p", "class=\"lead\"", &lead));
    html.push_str(&key(&all));
    html.push_str(&summary(reports, &all));
    html.push_str("</header>\n");
    html
}

/// What the verdicts mean.
fn key(all: &Counts) -> String {
    let mut html = String::from("<dl class=\"key\">\n");
    for verdict in Verdict::ALL {
        let _ = writeln!(
            html,
            "<div><dt>{} <b>{}</b></dt>{}</div>",
            badge(verdict),
            all.of(verdict),
            element("dd", "", verdict.about())
        );
    }
    html.push_str("</dl>\n");
    html
}

/// Returns one line per report, with its verdict counts.
fn summary(reports: &[Report], all: &Counts) -> String {
    let mut html = String::from(
        "<div class=\"scroll\"><table class=\"summary\">\n<caption>All experiments</caption>\n\
         <thead><tr><th scope=\"col\">paper</th><th scope=\"col\">item</th>\
         <th scope=\"col\">quantity</th>",
    );
    for verdict in Verdict::ALL {
        html.push_str(&element("th", "scope=\"col\" class=\"count\"", verdict.name()));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    let mut last = None;
    for report in reports {
        let experiment = report.experiment;
        let paper = if last == Some(experiment.paper) { "" } else { experiment.paper.name() };
        let first = if paper.is_empty() { "" } else { " class=\"first\"" };
        last = Some(experiment.paper);
        let link = element("a", &format!("href=\"#{}\"", experiment.name), experiment.item);
        let _ = writeln!(
            html,
            "<tr{first}>{}{}{}{}</tr>",
            element("td", "", paper),
            wrap("th", "scope=\"row\"", &link),
            element("td", "", experiment.about),
            numbers(&report.outcome.counts())
        );
    }
    let _ = writeln!(
        html,
        "</tbody>\n<tfoot><tr><td></td><th scope=\"row\">all</th><td></td>{}</tr></tfoot>\n\
         </table></div>",
        numbers(all)
    );
    html
}

fn numbers(counts: &Counts) -> String {
    let cell = |verdict: Verdict| match counts.of(verdict) {
        0 => "<td class=\"count none\">·</td>".to_owned(),
        some => element("td", &format!("class=\"count {}\"", verdict.key()), &some.to_string()),
    };
    Verdict::ALL.map(cell).concat()
}

/// Returns all of one paper.
fn section(paper: Paper, reports: &[&Report]) -> String {
    let id = paper.key();
    let mut html = format!("<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n");
    let _ = writeln!(html, "{}", element("h2", &format!("id=\"{id}-title\""), paper.name()));
    let _ = writeln!(html, "{}", element("p", "class=\"source\"", paper.full()));
    for report in reports {
        html.push_str(&article(report));
    }
    html.push_str("</section>\n");
    html
}

/// One experiment.
fn article(report: &Report) -> String {
    let (experiment, outcome) = (report.experiment, &report.outcome);
    let name = experiment.name;
    let mut html = format!("<article id=\"{name}\" aria-labelledby=\"{name}-title\">\n");
    let counts = outcome.counts();
    let _ = writeln!(
        html,
        "<h3 id=\"{name}-title\">{} <small>{}</small></h3>",
        escape_markup(experiment.item),
        escape_markup(experiment.section)
    );
    let badges: Vec<String> = Verdict::ALL
        .iter()
        .filter(|&&verdict| counts.of(verdict) > 0)
        .map(|&verdict| format!("{} {}", counts.of(verdict), badge(verdict)))
        .collect();
    let _ = writeln!(html, "<p class=\"badges\">{}</p>", badges.join(" "));
    let _ = writeln!(html, "{}", element("p", "", &sentence(experiment.about)));
    if let Some(picture) = &outcome.picture {
        let _ = writeln!(html, "<figure>{}</figure>", picture.svg.trim());
    }
    for table in &outcome.tables {
        html.push_str(&comparisons::html(table, table.claimant(experiment.paper)));
    }
    if !outcome.note.is_empty() {
        let _ = writeln!(html, "{}", element("p", "class=\"note\"", &outcome.note));
    }
    let mut files = vec![format!("<a href=\"{name}.csv\">numbers (CSV)</a>")];
    if outcome.picture.is_some() {
        files.push(format!("<a href=\"{name}.svg\">picture (SVG)</a>"));
        files.push(format!("<a href=\"{name}-picture.csv\">plotted data (CSV)</a>"));
    }
    let _ = writeln!(
        html,
        "<p class=\"files\"><code>freshet lab {name}</code><span class=\"links\"> · {}</span></p>\n\
         </article>",
        files.join(" · ")
    );
    html
}

/// Returns the name of a verdict with its symbol, so that colour is not needed.
fn badge(verdict: Verdict) -> String {
    let sign = element("span", "aria-hidden=\"true\"", verdict.sign());
    format!(
        "<span class=\"badge {}\">{sign} {}</span>",
        verdict.key(),
        escape_markup(verdict.name())
    )
}

/// Formats as a sentence.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), characters.as_str())
}
