//! Settings overridden at run time. They persist over restarts until they are removed.

use std::fmt;

use freshet_model::{Budget, InvalidBudget};
use freshet_store::{Reader, StoreError};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::goal::parse_goal;

/// Overrides of the configuration; `None` keeps the configured value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SettingsOverrides {
    /// Budget: `500/day`, `20 %/day`, `0.2/source/day`.
    pub budget: Option<String>,
    /// Objective of sources that do not set their own.
    pub objective: Option<String>,
}

/// Settings in effect, as configured and as overridden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveSettings {
    /// Budget in effect.
    pub budget: String,
    /// Objective in effect.
    pub objective: String,
    /// Budget in the configuration.
    pub configured_budget: String,
    /// Objective in the configuration.
    pub configured_objective: String,
    /// Overrides.
    pub overrides: SettingsOverrides,
}

/// An invalid override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidOverride {
    /// Field name.
    pub field: &'static str,
    /// Reason.
    pub reason: String,
}

impl fmt::Display for InvalidOverride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)
    }
}

impl std::error::Error for InvalidOverride {}

impl SettingsOverrides {
    pub(crate) const KEY: &'static str = "adjusted";

    /// Loads the overrides from the store.
    pub(crate) fn load(reader: &Reader) -> Result<Self, StoreError> {
        let text = reader.meta(Self::KEY)?.unwrap_or_default();
        // Overrides written by another version are ignored.
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Applies the overrides to a configuration.
    ///
    /// # Errors
    /// Returns [`InvalidOverride`] for the first invalid value; valid ones are applied all the
    /// same.
    pub fn apply(&self, config: &mut Config) -> Result<(), InvalidOverride> {
        let budget = self.budget.as_deref().map(|text| {
            let read = text.parse::<Budget>();
            read.map_err(|error: InvalidBudget| InvalidOverride {
                field: "budget",
                reason: error.to_string(),
            })
        });
        let objective = self.objective.as_deref().map(|text| {
            parse_goal(text).map_err(|reason| InvalidOverride { field: "objective", reason })
        });
        if let Some(Ok(budget)) = budget {
            config.budget = budget;
        }
        if let Some(Ok(objective)) = objective {
            config.objective = objective;
        }
        budget.transpose()?;
        objective.transpose()?;
        Ok(())
    }
}

impl Config {
    /// Returns the budget with the override applied.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the store cannot be read.
    pub fn effective_budget(&self, reader: &Reader) -> Result<Budget, StoreError> {
        let overridden = SettingsOverrides::load(reader)?.budget;
        Ok(overridden.and_then(|text| text.parse().ok()).unwrap_or(self.budget))
    }
}

impl EffectiveSettings {
    pub(crate) fn new(config: &Config, file: &Config, adjusted: &SettingsOverrides) -> Self {
        Self {
            budget: config.budget.to_string(),
            objective: config.objective.to_string(),
            configured_budget: file.budget.to_string(),
            configured_objective: file.objective.to_string(),
            overrides: adjusted.clone(),
        }
    }
}
