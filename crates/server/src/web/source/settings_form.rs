//! The settings form of a source.

use freshet_daemon::{SourceSettings, format_days, parse_days};
use freshet_store::Source;

use crate::problem::Problem;
use crate::routes::SourceSettingsInput;
use crate::web::form_fields::FormFields;

const DAY: f64 = 86_400.0;

/// Values of the form, and its error.
#[derive(Default)]
pub(super) struct SettingsForm {
    pub(super) importance: String,
    pub(super) cost: String,
    pub(super) min_interval: String,
    pub(super) max_interval: String,
    pub(super) tags: String,
    pub(super) objective: String,
    pub(super) paused: bool,
    pub(super) observed: bool,
    error: Option<(String, String)>,
}

impl SettingsForm {
    pub(super) fn from_source(source: &Source) -> Self {
        let limit = |days: f64| {
            if days > 0.0 && days.is_finite() { format_days(days) } else { String::new() }
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
            error: None,
        }
    }

    pub(super) fn from_fields(fields: &FormFields) -> Self {
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
            error: None,
        }
    }

    /// True if there is no error.
    pub(super) fn is_valid(&self) -> bool {
        self.error.is_none()
    }

    /// Returns the error of a field.
    pub(super) fn error(&self, field: &str) -> Option<&str> {
        let (at, what) = self.error.as_ref()?;
        let at = at.split(['[', '.']).next().unwrap_or(at);
        (at == field).then_some(what.as_str())
    }

    /// Returns the error if it belongs to none of the fields.
    pub(super) fn other_error(&self) -> Option<&str> {
        const FIELDS: [&str; 6] =
            ["importance", "cost", "min_interval", "max_interval", "tags", "objective"];
        let (_, what) = self.error.as_ref()?;
        let has_field = FIELDS.iter().any(|field| self.error(field).is_some());
        (!has_field).then_some(what.as_str())
    }

    pub(super) fn set_error(&mut self, problem: Problem) {
        self.error = Some((problem.field.unwrap_or_default(), problem.detail));
    }

    /// Converts the form to settings.
    pub(super) fn to_settings(&self) -> Result<SourceSettings, Problem> {
        let number = |field: &str, text: &str, usual: f64| match text {
            "" => Ok(usual),
            text => text
                .parse::<f64>()
                .ok()
                .filter(|it| it.is_finite())
                .ok_or_else(|| Problem::invalid(field, format!("“{text}” is not a number"))),
        };
        let seconds = |field: &str, text: &str| {
            let days = if text.is_empty() { Some(0.0) } else { parse_days(text) };
            days.map(|days| days * DAY).ok_or_else(|| {
                let what =
                    format!("“{text}” is not a duration such as 30s, 10min, 1h, 2d, 1w or none");
                Problem::invalid(field, what)
            })
        };
        let tags = self.tags.lines().map(str::trim).filter(|it| !it.is_empty());
        let view = SourceSettingsInput {
            importance: Some(number("importance", &self.importance, 1.0)?),
            cost: Some(number("cost", &self.cost, 1.0)?),
            min_interval: Some(seconds("min_interval", &self.min_interval)?),
            max_interval: Some(seconds("max_interval", &self.max_interval)?),
            paused: Some(self.paused),
            observed: Some(self.observed),
            tags: Some(tags.map(ToOwned::to_owned).collect()),
            objective: Some(self.objective.clone()),
            ..SourceSettingsInput::default()
        };
        view.into_settings()
    }
}
