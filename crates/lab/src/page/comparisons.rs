//! HTML table of comparisons.

use std::fmt::Write as _;

use crate::comparison::Comparison;
use crate::html::{element, wrap};
use crate::page::badge;
use crate::table::Table;

/// `claim` is the heading of the paper's column.
pub(super) fn html(table: &Table, claim: &str) -> String {
    if table.is_list() { list(table, claim) } else { grid(table, claim) }
}

fn caption(table: &Table) -> String {
    if table.title.is_empty() { String::new() } else { element("caption", "", &table.title) }
}

/// One comparison a line, with its verdict in words.
fn list(table: &Table, claim: &str) -> String {
    let remarks = table.comparisons().any(|(_, comparison)| !comparison.remark().is_empty());
    let mut heads = vec![claim, "ours", "verdict"];
    if remarks {
        heads.push("remark");
    }
    let heads: String = heads.iter().map(|head| element("th", "scope=\"col\"", head)).collect();
    let mut html = format!(
        "<div class=\"scroll\"><table class=\"list\">\n{}\n<thead><tr><td></td>{heads}</tr></thead>\n\
         <tbody>\n",
        caption(table)
    );
    for (label, comparison) in table.comparisons() {
        let remark = element("td", "class=\"remark\"", comparison.remark());
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            html,
            "<tr>{}{}{}{}{}</tr>",
            element("th", "scope=\"row\"", &label),
            element("td", "class=\"paper\"", comparison.paper()),
            element("td", "class=\"ours\"", comparison.found()),
            wrap("td", "class=\"verdict\"", &badge(comparison.verdict())),
            if remarks { &remark } else { "" }
        );
    }
    html.push_str("</tbody>\n</table></div>\n");
    html
}

/// Layout of the paper: printed number above, computed one below. Numbered remarks follow the table.
fn grid(table: &Table, claim: &str) -> String {
    let mut html = format!(
        "<div class=\"scroll\"><table class=\"grid\">\n{}\n<thead><tr>{}",
        caption(table),
        element("th", "scope=\"col\"", &table.corner)
    );
    for column in &table.columns {
        html.push_str(&element("th", "scope=\"col\"", column));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    let mut remarks: Vec<&str> = Vec::new();
    for line in &table.lines {
        let _ = write!(html, "<tr>{}", element("th", "scope=\"row\"", &line.label));
        for cell in &line.cells {
            let Some(comparison) = cell else {
                html.push_str("<td></td>");
                continue;
            };
            html.push_str(&pair(comparison, number(&mut remarks, comparison.remark())));
        }
        html.push_str("</tr>\n");
    }
    let _ = writeln!(
        html,
        "</tbody>\n</table></div>\n<p class=\"reading\">In each cell: {claim} above, ours below.</p>"
    );
    if !remarks.is_empty() {
        let items: String = remarks.iter().map(|remark| element("li", "", remark)).collect();
        let _ = writeln!(html, "{}", wrap("ol", "class=\"remarks\"", &items));
    }
    html
}

/// Returns the number of a remark, new or seen before.
fn number<'a>(remarks: &mut Vec<&'a str>, remark: &'a str) -> Option<usize> {
    if remark.is_empty() {
        return None;
    }
    let place = remarks.iter().position(|other| *other == remark).unwrap_or_else(|| {
        remarks.push(remark);
        remarks.len() - 1
    });
    Some(place + 1)
}

fn pair(comparison: &Comparison, remark: Option<usize>) -> String {
    let verdict = comparison.verdict();
    let number = remark.map(|number| wrap("sup", "", &number.to_string())).unwrap_or_default();
    let sign = element("span", "class=\"sign\" aria-hidden=\"true\"", verdict.sign());
    let said = element("span", "class=\"said\"", &format!(" {verdict}"));
    wrap(
        "td",
        &format!("class=\"{}\" title=\"{verdict}\"", verdict.key()),
        &format!(
            "{}{}{sign}{number}{said}",
            element("span", "class=\"paper\"", comparison.paper()),
            element("span", "class=\"ours\"", comparison.found())
        ),
    )
}
