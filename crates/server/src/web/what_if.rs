//! What another budget would buy, and taking it.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;

use super::chart::{Chart, Drawn, Mark, Scale, Series};
use super::forecast::{self, Forecast, Point};
use super::form::Fields;
use super::frame::{Frame, page};
use super::said::{Flash, go_to};
use super::words;
use crate::app::App;
use crate::input::Query;
use crate::problem::Problem;

/// Goals that are named unless one is asked for.
const GOALS: [f64; 6] = [0.5, 0.7, 0.8, 0.9, 0.95, 0.99];
/// Budgets that can be asked for.
const LEAST: f64 = 1e-3;
const MOST: f64 = 1e12;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/what-if", get(show).post(apply))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WhatIfQuery {
    budget: Option<String>,
    goal: Option<String>,
}

#[derive(Template)]
#[template(path = "what_if.html")]
struct WhatIf {
    frame: Frame,
    is_empty: bool,
    error: Option<String>,
    objective: String,
    about: String,
    now: Row,
    chosen: Row,
    /// Where on the slider the chosen one is, and how many places it has.
    place: usize,
    last: usize,
    rows: Vec<Row>,
    goals: Vec<Goal>,
    goal: String,
    freshness: Option<Drawn>,
    hosts: Vec<(String, String, String)>,
}

/// What a budget buys, in words and for the script.
#[derive(Default)]
struct Row {
    budget: String,
    /// As it is applied.
    said: String,
    spent: String,
    freshness: String,
    age: String,
    price: String,
    never: String,
    full: String,
    hosts: String,
    /// Per cent along the picture.
    x: f64,
}

struct Goal {
    name: String,
    takes: String,
    said: Option<String>,
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    Query(asked): Query<WhatIfQuery>,
) -> Result<Response, Problem> {
    let frame = frame.at("what-if");
    let forecast = match forecast::forecast(&app).await {
        Ok(forecast) => forecast,
        // There is nothing to plan for yet.
        Err(problem) if problem.status == 409 => {
            return page(&WhatIf::empty(frame));
        }
        Err(problem) => return Err(problem),
    };
    let (wanted, mut error) = match asked.budget.as_deref().map(budget).transpose() {
        Ok(wanted) => (wanted, None),
        Err(why) => (None, Some(why)),
    };
    let goal = match asked.goal.as_deref().filter(|it| !it.trim().is_empty()).map(share).transpose()
    {
        Ok(goal) => goal,
        Err(why) => {
            error = Some(why);
            None
        }
    };
    let named = names(&app, &forecast).await?;
    let view = tokio::task::spawn_blocking(move || {
        WhatIf::of(frame, &forecast, &named, wanted, goal, error)
    });
    page(&view.await.map_err(|_| crate::app::too_long())??)
}

/// The names of all hosts that are full at some budget: those that are dearest there.
async fn names(
    app: &App,
    forecast: &Forecast,
) -> Result<std::collections::HashMap<u32, String>, Problem> {
    let some = forecast.points.iter().chain([&forecast.now]).flat_map(|it| it.full.iter().take(10));
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

impl WhatIf {
    fn empty(frame: Frame) -> Self {
        Self {
            frame,
            is_empty: true,
            error: None,
            objective: String::new(),
            about: String::new(),
            now: Row::default(),
            chosen: Row::default(),
            place: 0,
            last: 0,
            rows: Vec::new(),
            goals: Vec::new(),
            goal: String::new(),
            freshness: None,
            hosts: Vec::new(),
        }
    }

    fn of(
        frame: Frame,
        forecast: &Forecast,
        names: &std::collections::HashMap<u32, String>,
        wanted: Option<f64>,
        goal: Option<f64>,
        error: Option<String>,
    ) -> Result<Self, Problem> {
        let chosen = match wanted {
            Some(budget) => forecast.at(budget)?,
            // Without a budget, one that would do something is shown.
            None if forecast.now.budget <= 0.0 => {
                forecast.points[forecast.points.len() / 2].clone()
            }
            None => forecast.now.clone(),
        };
        let (first, last) = (&forecast.points[0], &forecast.points[forecast.points.len() - 1]);
        let x = Scale::log(first.budget, last.budget, words::figure);
        let row = |point: &Point| Row::of(point, names, &x);
        let near = |a: &&Point, b: &&Point| {
            let far = |it: &Point| (it.budget / chosen.budget.max(1e-9)).ln().abs();
            far(a).total_cmp(&far(b))
        };
        let place = forecast
            .points
            .iter()
            .min_by(near)
            .and_then(|near| forecast.points.iter().position(|it| std::ptr::eq(it, near)));
        let goals: Vec<f64> = match goal {
            Some(goal) => vec![goal],
            None => GOALS.into_iter().filter(|it| *it > forecast.now.freshness).take(4).collect(),
        };
        let hosts = chosen.full.iter().take(10).filter_map(|(id, price)| {
            let name = names.get(id)?.clone();
            Some((format!("/hosts?name={}", super::encoded(&name)), name, words::figure(*price)))
        });
        let few = if forecast.sampled < forecast.sources {
            format!(", calculated for {} of them", words::count(forecast.sampled as u64))
        } else {
            String::new()
        };
        // What somebody has typed, or set before, is meant to the last digit.
        let exact = (1e6 * wanted.unwrap_or(chosen.budget)).round() / 1e6;
        let shown = Row {
            budget: format!("{} a day", words::figure(exact)),
            said: exact.to_string(),
            ..row(&chosen)
        };
        Ok(Self {
            is_empty: false,
            error,
            objective: forecast.objective(),
            about: format!("{} sources{few}", words::count(forecast.sources as u64)),
            now: row(&forecast.now),
            chosen: shown,
            place: place.unwrap_or(0),
            last: forecast.points.len() - 1,
            rows: forecast.points.iter().map(row).collect(),
            goals: goals.into_iter().map(|goal| Goal::of(forecast, goal)).collect(),
            goal: goal.map(|it| words::figure(100.0 * it)).unwrap_or_default(),
            freshness: Some(draw(forecast, &chosen, x)),
            hosts: hosts.collect(),
            frame,
        })
    }
}

impl Row {
    fn of(point: &Point, names: &std::collections::HashMap<u32, String>, x: &Scale) -> Self {
        let hosts: Vec<_> = point
            .full
            .iter()
            .take(5)
            .filter_map(|(id, _)| names.get(id).map(String::as_str))
            .collect();
        let more = point.full.len().saturating_sub(hosts.len());
        let mut listed = hosts.join(", ");
        if more > 0 && !hosts.is_empty() {
            listed.push_str(&format!(" and {more} more"));
        }
        let spent = if point.is_enough {
            format!("{} of them can be used", words::count(point.spent.round() as u64))
        } else {
            "all of them are used".to_owned()
        };
        Self {
            budget: format!("{} a day", words::figure(rounded(point.budget))),
            said: rounded(point.budget).to_string(),
            spent,
            freshness: words::percent(point.freshness),
            age: if point.age.is_finite() {
                words::days(point.age)
            } else {
                "some never fetched".to_owned()
            },
            price: words::figure(point.price),
            never: words::count(point.never.round() as u64),
            full: words::count(point.full.len() as u64),
            hosts: listed,
            x: 100.0 * x.share(point.budget),
        }
    }
}

/// Three digits that count: nobody means more by moving a slider.
fn rounded(budget: f64) -> f64 {
    if budget <= 0.0 || !budget.is_finite() {
        return 0.0;
    }
    let unit = 10f64.powi(budget.log10().floor() as i32 - 2);
    let whole = (budget / unit).round();
    // Divided by a whole number, so that no digits come from nowhere.
    if unit < 1.0 { whole / (1.0 / unit).round() } else { whole * unit }
}

impl Goal {
    fn of(forecast: &Forecast, goal: f64) -> Self {
        let name = words::percent(goal);
        let found = forecast.reach(goal);
        let now = forecast.now.budget;
        let takes = match &found {
            None => "no budget is large enough: hosts, or owners, allow no more".to_owned(),
            Some(it) if it.budget <= now => {
                format!("{} fetches a day: less than now", words::figure(rounded(it.budget)))
            }
            Some(it) if now <= 0.0 => {
                format!("{} fetches a day", words::figure(rounded(it.budget)))
            }
            Some(it) => format!(
                "{} fetches a day: {} times as many as now",
                words::figure(rounded(it.budget)),
                words::figure((100.0 * it.budget / now).round() / 100.0)
            ),
        };
        Self { name, takes, said: found.map(|it| rounded(it.budget).to_string()) }
    }
}

fn draw(forecast: &Forecast, chosen: &Point, x: Scale) -> Drawn {
    let column = |pick: fn(&Point) -> f64| -> Vec<Option<f64>> {
        forecast.points.iter().map(|it| Some(pick(it)).filter(|it| it.is_finite())).collect()
    };
    let mut marks = vec![Mark::Vertical(forecast.now.budget, "now".to_owned())];
    let is_other = (chosen.budget / forecast.now.budget.max(1e-9)).ln().abs() > 1e-3;
    if is_other {
        marks.push(Mark::Dot(chosen.budget, chosen.freshness, words::percent(chosen.freshness)));
    }
    let chart = Chart {
        title: "Freshness by budget".to_owned(),
        summary: format!(
            "{} at {} fetches a day",
            words::percent(forecast.now.freshness),
            words::figure(forecast.now.budget)
        ),
        x,
        y: Scale::linear(0.0, 1.0, words::whole_percent),
        x_name: "Fetches a day",
        y_name: "of copies fresh, by importance",
        at: forecast.points.iter().map(|it| it.budget).collect(),
        series: vec![
            Series::line("Fresh", column(|it| it.freshness)).write(words::percent),
            Series::line("Mean age", column(|it| it.age))
                .write(words::days)
                .form(super::chart::Form::Untold),
            Series::line("Price of a fetch", column(|it| it.price))
                .form(super::chart::Form::Untold),
            Series::line("Never fetched", column(|it| it.never.round()))
                .form(super::chart::Form::Untold),
            Series::line("Full hosts", column(|it| it.full.len() as f64))
                .form(super::chart::Form::Untold),
        ],
        marks,
    };
    chart.draw()
}

/// A budget as it is typed: fetches a day.
fn budget(text: &str) -> Result<f64, String> {
    let text = text.trim().trim_end_matches("/day").replace(',', "");
    let number = text.trim().parse::<f64>().ok().filter(|it| (LEAST..=MOST).contains(it));
    number.ok_or_else(|| format!("“{text}” is not a number of fetches a day"))
}

/// A share as it is typed: in per cent.
fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    let number = number.filter(|it| *it > 0.0 && *it < 100.0).map(|it| it / 100.0);
    number.ok_or_else(|| format!("“{text}” is not a share between 0 and 100 %"))
}

async fn apply(State(app): State<Arc<App>>, fields: Fields) -> Result<Response, Problem> {
    let wanted = fields.get("budget").unwrap_or_default();
    let wanted = budget(wanted).map_err(|why| Problem::field("budget", why))?;
    let _turn = app.adjusting.lock().await;
    let mut adjusted = app.handle.settings().await?.adjusted;
    adjusted.budget = Some(format!("{wanted}/day"));
    app.handle.adjust(adjusted).await?;
    app.web.forecasts.forget().await;
    let told = format!("The budget is {} fetches a day from now on.", words::figure(wanted));
    Ok(go_to(&app, "/what-if", Flash::good(told)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_and_rounded() {
        assert_eq!(budget(" 1,500/day "), Ok(1500.0));
        assert!(budget("lots").is_err() && budget("-1").is_err() && budget("inf").is_err());
        assert_eq!((share("90 %"), share("99.5")), (Ok(0.9), Ok(0.995)));
        assert!(share("100").is_err() && share("0").is_err());
        let cases = [(1234.5, 1230.0), (0.123_45, 0.123), (99_950.0, 100_000.0), (0.0, 0.0)];
        for (value, expect) in cases {
            assert!((rounded(value) - expect).abs() <= 1e-9 * expect, "{value}");
        }
        assert_eq!(rounded(0.1).to_string(), "0.1");
    }
}
