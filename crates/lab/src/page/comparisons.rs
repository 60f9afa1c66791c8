//! A table of comparisons for a browser.

use std::fmt::Write as _;

use crate::comparison::Comparison;
use crate::html::{element, escape, wrap};
use crate::page::badge;
use crate::table::Table;

pub(super) fn html(table: &Table) -> String {
    if table.is_list() { list(table) } else { grid(table) }
}

fn caption(table: &Table) -> String {
    if table.title.is_empty() { String::new() } else { element("caption", "", &table.title) }
}

/// One comparison a line, with its verdict in words.
fn list(table: &Table) -> String {
    let mut html = format!(
        "<div class=\"scroll\"><table class=\"list\">\n{}\n<thead><tr><td></td>\
         <th scope=\"col\">paper</th><th scope=\"col\">ours</th><th scope=\"col\">verdict</th>\
         <th scope=\"col\">remark</th></tr></thead>\n<tbody>\n",
        caption(table)
    );
    for (label, comparison) in table.comparisons() {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            html,
            "<tr>{}{}{}{}{}</tr>",
            element("th", "scope=\"row\"", &label),
            element("td", "class=\"paper\"", comparison.paper()),
            element("td", "class=\"ours\"", comparison.found()),
            wrap("td", "class=\"verdict\"", &badge(comparison.verdict())),
            element("td", "class=\"remark\"", comparison.remark())
        );
    }
    html.push_str("</tbody>\n</table></div>\n");
    html
}

/// As in the paper: its number above, ours below. Remarks are numbered and follow the table.
fn grid(table: &Table) -> String {
    let mut html = format!(
        "<div class=\"scroll\"><table class=\"grid\">\n{}\n<thead><tr>{}",
        caption(table),
        element("th", "scope=\"col\"", &table.corner)
    );
    for column in &table.columns {
        html.push_str(&element("th", "scope=\"col\"", column));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    let mut remarks: Vec<(String, &str)> = Vec::new();
    for line in &table.lines {
        let _ = write!(html, "<tr>{}", element("th", "scope=\"row\"", &line.label));
        for (cell, column) in line.cells.iter().zip(&table.columns) {
            let Some(comparison) = cell else {
                html.push_str("<td></td>");
                continue;
            };
            let remark = comparison.remark();
            if !remark.is_empty() {
                remarks.push((format!("{}, {column}", line.label), remark));
            }
            let number = (!remark.is_empty()).then_some(remarks.len());
            html.push_str(&pair(comparison, number));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
    html.push_str("<p class=\"reading\">In each cell the paper’s number stands above ours.</p>\n");
    if !remarks.is_empty() {
        html.push_str("<ol class=\"remarks\">\n");
        for (place, remark) in remarks {
            let _ = writeln!(html, "<li>{} {}</li>", element("b", "", &place), escape(remark));
        }
        html.push_str("</ol>\n");
    }
    html
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
