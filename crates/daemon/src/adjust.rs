//! Settings that are changed while the daemon runs. They hold over restarts until they are taken back.

use std::fmt;

use freshet_model::{Budget, InvalidBudget};
use freshet_store::{Reader, StoreError};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::goal::goal;

/// What was said since the configuration was written. What is `None` is as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Adjusted {
    /// How many fetches there may be: `500/day`, `20 %/day`, `0.2/source/day`.
    pub budget: Option<String>,
    /// What copies are to be good for, where a source does not say.
    pub objective: Option<String>,
}

/// What holds, what is written, and what was said since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// The budget that holds.
    pub budget: String,
    /// The objective that holds.
    pub objective: String,
    /// The budget in the configuration.
    pub written_budget: String,
    /// The objective in the configuration.
    pub written_objective: String,
    /// What was said since.
    pub adjusted: Adjusted,
}

/// What cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// In which field.
    pub field: &'static str,
    /// Why.
    pub what: String,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.what)
    }
}

impl std::error::Error for Unfit {}

impl Adjusted {
    pub(crate) const KEY: &'static str = "adjusted";

    /// What a store keeps.
    pub(crate) fn read(reader: &Reader) -> Result<Self, StoreError> {
        let text = reader.meta(Self::KEY)?.unwrap_or_default();
        // What cannot be read is from another version: the file counts.
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Lets it hold.
    ///
    /// # Errors
    /// What cannot be meant. The rest holds.
    pub fn apply(&self, config: &mut Config) -> Result<(), Unfit> {
        let budget = self.budget.as_deref().map(|text| {
            let read = text.parse::<Budget>();
            read.map_err(|why: InvalidBudget| Unfit { field: "budget", what: why.to_string() })
        });
        let objective = self
            .objective
            .as_deref()
            .map(|text| goal(text).map_err(|what| Unfit { field: "objective", what }));
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
    /// How many fetches there may be, with what was said since it was written.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn budget_in_force(&self, reader: &Reader) -> Result<Budget, StoreError> {
        let said = Adjusted::read(reader)?.budget;
        Ok(said.and_then(|text| text.parse().ok()).unwrap_or(self.budget))
    }
}

impl InForce {
    pub(crate) fn of(config: &Config, file: &Config, adjusted: &Adjusted) -> Self {
        Self {
            budget: config.budget.to_string(),
            objective: config.objective.to_string(),
            written_budget: file.budget.to_string(),
            written_objective: file.objective.to_string(),
            adjusted: adjusted.clone(),
        }
    }
}
