//! What an owner says of a source.

use freshet_daemon::{SourceSettings, days_in, span};
use freshet_store::Source;

use crate::problem::Problem;
use crate::routes::SourceSettingsView;
use crate::web::form::Fields;

const DAY: f64 = 86_400.0;

/// The form as it is shown: what is said, or what was typed and what is wrong with it.
#[derive(Default)]
pub(super) struct EditForm {
    pub(super) importance: String,
    pub(super) cost: String,
    pub(super) min_interval: String,
    pub(super) max_interval: String,
    pub(super) tags: String,
    pub(super) objective: String,
    pub(super) paused: bool,
    pub(super) observed: bool,
    wrong: Option<(String, String)>,
}

impl EditForm {
    pub(super) fn of(source: &Source) -> Self {
        let limit = |days: f64| {
            if days > 0.0 && days.is_finite() { span(days) } else { String::new() }
        };
        Self {
            importance: source.importance.to_string(),
            cost: source.cost.to_string(),
            min_interval: limit(source.min_interval),
            max_interval: limit(source.max_interval),
            tags: source.tags.join("\n"),
            objective: source.goal.clone(),
            paused: source.paused,
            observed: source.observed,
            wrong: None,
        }
    }

    pub(super) fn typed(fields: &Fields) -> Self {
        let text = |name| fields.get(name).unwrap_or_default().to_owned();
        Self {
            importance: text("importance"),
            cost: text("cost"),
            min_interval: text("min_interval"),
            max_interval: text("max_interval"),
            tags: text("tags"),
            objective: text("objective"),
            paused: fields.has("paused"),
            observed: fields.has("observed"),
            wrong: None,
        }
    }

    /// Whether nothing is wrong with it.
    pub(super) fn is_good(&self) -> bool {
        self.wrong.is_none()
    }

    /// What is wrong in a field.
    pub(super) fn error(&self, field: &str) -> Option<&str> {
        let (at, what) = self.wrong.as_ref()?;
        let at = at.split(['[', '.']).next().unwrap_or(at);
        (at == field).then_some(what.as_str())
    }

    /// What is wrong, if that is in none of the fields.
    pub(super) fn other_error(&self) -> Option<&str> {
        const FIELDS: [&str; 6] =
            ["importance", "cost", "min_interval", "max_interval", "tags", "objective"];
        let (_, what) = self.wrong.as_ref()?;
        let is_shown = FIELDS.iter().any(|field| self.error(field).is_some());
        (!is_shown).then_some(what.as_str())
    }

    pub(super) fn refuse(&mut self, problem: Problem) {
        self.wrong = Some((problem.field.unwrap_or_default(), problem.detail));
    }

    /// As the daemon takes it.
    pub(super) fn given(&self) -> Result<SourceSettings, Problem> {
        let number = |field: &str, text: &str, usual: f64| match text {
            "" => Ok(usual),
            text => text
                .parse::<f64>()
                .ok()
                .filter(|it| it.is_finite())
                .ok_or_else(|| Problem::field(field, format!("“{text}” is not a number"))),
        };
        let seconds = |field: &str, text: &str| {
            let days = if text.is_empty() { Some(0.0) } else { days_in(text) };
            days.map(|days| days * DAY).ok_or_else(|| {
                let what = format!("“{text}” is not a time such as 30s, 10min, 1h, 2d, 1w or none");
                Problem::field(field, what)
            })
        };
        let tags = self.tags.lines().map(str::trim).filter(|it| !it.is_empty());
        let said = SourceSettingsView {
            importance: Some(number("importance", &self.importance, 1.0)?),
            cost: Some(number("cost", &self.cost, 1.0)?),
            min_interval: Some(seconds("min_interval", &self.min_interval)?),
            max_interval: Some(seconds("max_interval", &self.max_interval)?),
            paused: Some(self.paused),
            observed: Some(self.observed),
            tags: Some(tags.map(ToOwned::to_owned).collect()),
            objective: Some(self.objective.clone()),
            ..SourceSettingsView::default()
        };
        said.given()
    }
}
