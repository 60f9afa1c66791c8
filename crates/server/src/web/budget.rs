//! The page that previews another budget and sets it.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;

use super::chart::{Annotation, Chart, ChartMarkup, Scale, Series};
use super::flash::{FlashMessage, redirect_with_flash};
use super::forecast::{self, BudgetPoint, Forecast};
use super::form_fields::FormFields;
use super::format;
use super::frame::{Frame, render_page};
use crate::app::App;
use crate::extractors::QueryParams;
use crate::problem::Problem;

/// Freshness goals listed by default.
const DEFAULT_GOALS: [f64; 6] = [0.5, 0.7, 0.8, 0.9, 0.95, 0.99];
/// Range of budgets that can be entered, in fetches per day.
const MIN_BUDGET: f64 = 1e-3;
const MAX_BUDGET: f64 = 1e12;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/what-if", get(show).post(apply))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BudgetQuery {
    budget: Option<String>,
    goal: Option<String>,
}

#[derive(Template)]
#[template(path = "budget.html")]
struct BudgetPage {
    frame: Frame,
    is_empty: bool,
    error: Option<String>,
    objective: String,
    about: String,
    now: BudgetRow,
    selected: BudgetRow,
    /// Slider position of the selected budget.
    slider_position: usize,
    /// Largest slider position.
    last: usize,
    rows: Vec<BudgetRow>,
    goals: Vec<GoalRow>,
    goal: String,
    freshness: Option<ChartMarkup>,
    hosts: Vec<(String, String, String)>,
}

/// Effect of a budget, formatted for the page and the script.
#[derive(Default)]
struct BudgetRow {
    budget: String,
    /// Fetches per day, as submitted.
    value: String,
    spent: String,
    freshness: String,
    age: String,
    price: String,
    /// Gain in freshness from 10% more budget.
    gain: String,
    never_fetched: String,
    saturated: String,
    hosts: String,
    /// X position in the chart, in percent.
    x: f64,
}

struct GoalRow {
    name: String,
    needed: String,
    value: Option<String>,
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    QueryParams(asked): QueryParams<BudgetQuery>,
) -> Result<Response, Problem> {
    let frame = frame.with_section("budget");
    let forecast = match forecast::current_forecast(&app).await {
        Ok(forecast) => forecast,
        // No sources yet.
        Err(problem) if problem.status == 409 => {
            return render_page(&BudgetPage::empty(frame));
        }
        Err(problem) => return Err(problem),
    };
    let (requested, mut error) = match asked.budget.as_deref().map(parse_budget).transpose() {
        Ok(requested) => (requested, None),
        Err(error) => (None, Some(error)),
    };
    let goal = match asked
        .goal
        .as_deref()
        .filter(|it| !it.trim().is_empty())
        .map(parse_percent)
        .transpose()
    {
        Ok(goal) => goal,
        Err(reason) => {
            error = Some(reason);
            None
        }
    };
    let names = host_names(&app, &forecast).await?;
    let view = tokio::task::spawn_blocking(move || {
        BudgetPage::new(frame, &forecast, &names, requested, goal, error)
    });
    render_page(&view.await.map_err(|_| crate::app::timeout_problem())??)
}

/// Returns the names of the hosts that are saturated at some budget, those with the highest price.
async fn host_names(
    app: &App,
    forecast: &Forecast,
) -> Result<std::collections::HashMap<u32, String>, Problem> {
    let some = forecast
        .points
        .iter()
        .chain([&forecast.now])
        .flat_map(|it| it.saturated_hosts.iter().take(10));
    let mut ids: Vec<u32> = some.map(|(id, _)| *id).collect();
    ids.sort_unstable();
    ids.dedup();
    app.read(move |reader| {
        let mut names = std::collections::HashMap::new();
        for id in ids {
            if let Some(host) = reader.host(id)? {
                names.insert(id, host.name);
            }
        }
        Ok(names)
    })
    .await
}

impl BudgetPage {
    fn empty(frame: Frame) -> Self {
        Self {
            frame,
            is_empty: true,
            error: None,
            objective: String::new(),
            about: String::new(),
            now: BudgetRow::default(),
            selected: BudgetRow::default(),
            slider_position: 0,
            last: 0,
            rows: Vec::new(),
            goals: Vec::new(),
            goal: String::new(),
            freshness: None,
            hosts: Vec::new(),
        }
    }

    fn new(
        frame: Frame,
        forecast: &Forecast,
        names: &std::collections::HashMap<u32, String>,
        requested: Option<f64>,
        goal: Option<f64>,
        error: Option<String>,
    ) -> Result<Self, Problem> {
        let selected = match requested {
            Some(budget) => forecast.at_budget(budget)?,
            // If the budget is 0, show the middle of the curve.
            None if forecast.now.budget <= 0.0 => {
                forecast.points[forecast.points.len() / 2].clone()
            }
            None => forecast.now.clone(),
        };
        let (first, last) = (&forecast.points[0], &forecast.points[forecast.points.len() - 1]);
        let x = Scale::log(first.budget, last.budget, format::number);
        let row = |point: &BudgetPoint| {
            BudgetRow::new(point, forecast.gain_of_10_percent(point), names, &x)
        };
        let nearest = |a: &&BudgetPoint, b: &&BudgetPoint| {
            let distance = |it: &BudgetPoint| (it.budget / selected.budget.max(1e-9)).ln().abs();
            distance(a).total_cmp(&distance(b))
        };
        let slider_position =
            forecast.points.iter().min_by(nearest).and_then(|nearest| {
                forecast.points.iter().position(|it| std::ptr::eq(it, nearest))
            });
        let goals: Vec<f64> = match goal {
            Some(goal) => vec![goal],
            None => DEFAULT_GOALS
                .into_iter()
                .filter(|it| *it > forecast.now.freshness)
                .take(4)
                .collect(),
        };
        let hosts = selected.saturated_hosts.iter().take(10).filter_map(|(id, price)| {
            let name = names.get(id)?.clone();
            Some((
                format!("/hosts?name={}", super::url_encode(&name)),
                name,
                format::ratio(*price / selected.price),
            ))
        });
        let sample_note = if forecast.sampled < forecast.sources {
            format!(", computed from a sample of {}", format::count(forecast.sampled as u64))
        } else {
            String::new()
        };
        // A budget that was typed in is shown exactly.
        let exact = (1e6 * requested.unwrap_or(selected.budget)).round() / 1e6;
        let shown = BudgetRow {
            budget: format!("{} per day", format::number(exact)),
            value: exact.to_string(),
            ..row(&selected)
        };
        Ok(Self {
            is_empty: false,
            error,
            objective: forecast.objective(),
            about: format!(
                "{}{sample_note}",
                format::plural(forecast.sources as u64, "source", "sources")
            ),
            now: row(&forecast.now),
            selected: shown,
            slider_position: slider_position.unwrap_or(0),
            last: forecast.points.len() - 1,
            rows: forecast.points.iter().map(row).collect(),
            goals: goals.into_iter().map(|goal| GoalRow::new(forecast, goal)).collect(),
            goal: goal.map(|it| format::number(100.0 * it)).unwrap_or_default(),
            freshness: Some(freshness_chart(forecast, &selected, x)),
            hosts: hosts.collect(),
            frame,
        })
    }
}

impl BudgetRow {
    fn new(
        point: &BudgetPoint,
        gain: Option<f64>,
        names: &std::collections::HashMap<u32, String>,
        x: &Scale,
    ) -> Self {
        let hosts: Vec<_> = point
            .saturated_hosts
            .iter()
            .take(5)
            .filter_map(|(id, _)| names.get(id).map(String::as_str))
            .collect();
        let more = point.saturated_hosts.len().saturating_sub(hosts.len());
        let mut listed = hosts.join(", ");
        if more > 0 && !hosts.is_empty() {
            listed.push_str(&format!(" and {more} more"));
        }
        let spent = if point.is_enough {
            format!(
                "no effect: only {} fetches are worth making",
                format::count(point.spent.round() as u64)
            )
        } else {
            "gain in freshness".to_owned()
        };
        Self {
            budget: format!("{} per day", format::number(round_to_3_digits(point.budget))),
            value: round_to_3_digits(point.budget).to_string(),
            spent,
            freshness: format::percent(point.freshness),
            age: if point.age.is_finite() {
                format::duration(point.age)
            } else {
                "unlimited".to_owned()
            },
            price: format::number(point.price),
            gain: match gain {
                Some(gain) if !point.is_enough => format::signed_points(gain),
                Some(_) => "none".to_owned(),
                None => "–".to_owned(),
            },
            never_fetched: format::count(point.never_fetched.round() as u64),
            saturated: format::count(point.saturated_hosts.len() as u64),
            hosts: listed,
            x: 100.0 * x.share(point.budget),
        }
    }
}

/// Rounds a slider value to three significant digits.
fn round_to_3_digits(budget: f64) -> f64 {
    if budget <= 0.0 || !budget.is_finite() {
        return 0.0;
    }
    let unit = 10f64.powi(budget.log10().floor() as i32 - 2);
    let whole = (budget / unit).round();
    // Dividing by an integer avoids rounding noise in the decimals.
    if unit < 1.0 { whole / (1.0 / unit).round() } else { whole * unit }
}

impl GoalRow {
    fn new(forecast: &Forecast, goal: f64) -> Self {
        let name = format::whole_percent(goal);
        let found = forecast.budget_for_freshness(goal);
        let now = forecast.now.budget;
        let needed = match &found {
            None => "no budget suffices: rate limits and minimum intervals allow no more fetches"
                .to_owned(),
            Some(it) if it.budget <= now => {
                format!(
                    "{} fetches per day: less than now",
                    format::number(round_to_3_digits(it.budget))
                )
            }
            Some(it) if now <= 0.0 => {
                format!("{} fetches per day", format::number(round_to_3_digits(it.budget)))
            }
            Some(it) => format!(
                "{} fetches per day: {} as many as now",
                format::number(round_to_3_digits(it.budget)),
                format::ratio(it.budget / now)
            ),
        };
        Self { name, needed, value: found.map(|it| round_to_3_digits(it.budget).to_string()) }
    }
}

fn freshness_chart(forecast: &Forecast, selected: &BudgetPoint, x: Scale) -> ChartMarkup {
    let column = |pick: fn(&BudgetPoint) -> f64| -> Vec<Option<f64>> {
        forecast.points.iter().map(|it| Some(pick(it)).filter(|it| it.is_finite())).collect()
    };
    let mut annotations = vec![Annotation::Vertical(forecast.now.budget, "now".to_owned())];
    let is_different = (selected.budget / forecast.now.budget.max(1e-9)).ln().abs() > 1e-3;
    if is_different {
        annotations.push(Annotation::Vertical(selected.budget, "selected".to_owned()));
        let tooltip = format::percent(selected.freshness);
        annotations.push(Annotation::Dot(selected.budget, selected.freshness, tooltip));
    }
    let chart = Chart {
        title: "Freshness by budget".to_owned(),
        summary: format!(
            "{} at {} fetches per day",
            format::percent(forecast.now.freshness),
            format::number(forecast.now.budget)
        ),
        x,
        y: Scale::linear(0.0, 1.0, format::whole_percent),
        x_name: "Fetches per day",
        y_name: "Fresh copies, weighted by importance, over fetches per day",
        at: forecast.points.iter().map(|it| it.budget).collect(),
        series: vec![
            Series::line("Freshness", column(|it| it.freshness)).write(format::percent),
            Series::line("Mean age", column(|it| it.age))
                .write(format::duration)
                .style(super::chart::SeriesStyle::TableOnly),
            Series::line("Price of a fetch", column(|it| it.price))
                .style(super::chart::SeriesStyle::TableOnly),
            Series::line("Sources never fetched", column(|it| it.never_fetched.round()))
                .style(super::chart::SeriesStyle::TableOnly),
            Series::line("Saturated hosts", column(|it| it.saturated_hosts.len() as f64))
                .style(super::chart::SeriesStyle::TableOnly),
        ],
        annotations,
    };
    chart.render()
}

/// Parses a number of fetches per day.
fn parse_budget(text: &str) -> Result<f64, String> {
    let text = text.trim().trim_end_matches("/day").replace(',', "");
    let number =
        text.trim().parse::<f64>().ok().filter(|it| (MIN_BUDGET..=MAX_BUDGET).contains(it));
    number.ok_or_else(|| format!("“{text}” is not a number of fetches per day"))
}

/// Parses a percentage into a share.
fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    let number = number.filter(|it| *it > 0.0 && *it < 100.0).map(|it| it / 100.0);
    number.ok_or_else(|| format!("“{text}” is not a percentage between 0 and 100"))
}

async fn apply(State(app): State<Arc<App>>, fields: FormFields) -> Result<Response, Problem> {
    let requested = fields.get("budget").unwrap_or_default();
    let requested = parse_budget(requested).map_err(|error| Problem::invalid("budget", error))?;
    let _guard = app.settings_lock.lock().await;
    let mut adjusted = app.handle.effective_settings().await?.overrides;
    adjusted.budget = Some(format!("{requested}/day"));
    app.handle.override_settings(adjusted).await?;
    app.web.forecasts.clear().await;
    let flash = format!("Budget set to {} fetches per day.", format::number(requested));
    Ok(redirect_with_flash(&app, "/what-if", FlashMessage::success(flash)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_parsed_and_rounded() {
        assert_eq!(parse_budget(" 1,500/day "), Ok(1500.0));
        assert!(
            parse_budget("lots").is_err()
                && parse_budget("-1").is_err()
                && parse_budget("inf").is_err()
        );
        assert_eq!((parse_percent("90 %"), parse_percent("99.5")), (Ok(0.9), Ok(0.995)));
        assert!(parse_percent("100").is_err() && parse_percent("0").is_err());
        let cases = [(1234.5, 1230.0), (0.123_45, 0.123), (99_950.0, 100_000.0), (0.0, 0.0)];
        for (value, expect) in cases {
            assert!((round_to_3_digits(value) - expect).abs() <= 1e-9 * expect, "{value}");
        }
        assert_eq!(round_to_3_digits(0.1).to_string(), "0.1");
    }
}
