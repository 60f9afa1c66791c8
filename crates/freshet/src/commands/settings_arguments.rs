//! Command-line arguments for the settings of a source.

use clap::Args;
use freshet_daemon::SourceSettings;
use freshet_detect::RawDetectSettings;
use freshet_store::Source;

use crate::failure::Failure;

/// Settings of a source.
#[derive(Debug, Default, Args)]
pub(crate) struct SourceSettingsArguments {
    /// Relative importance: 2 counts as much as two sources with 1 [default: 1]
    #[arg(
        long,
        value_name = "NUMBER",
        allow_negative_numbers = true,
        help_heading = "Source settings"
    )]
    pub(crate) importance: Option<f64>,

    /// Budget that one fetch takes, in fetches [default: 1]
    #[arg(
        long,
        value_name = "NUMBER",
        allow_negative_numbers = true,
        help_heading = "Source settings"
    )]
    pub(crate) cost: Option<f64>,

    /// Minimum time between fetches: 10min, 1h, 2d, 1w or none
    #[arg(long, value_name = "TIME", value_parser = parse_interval, help_heading = "Source settings")]
    pub(crate) min_interval: Option<Interval>,

    /// Maximum time between fetches, whatever their value: 10min, 1h, 2d, 1w or none
    #[arg(long, value_name = "TIME", value_parser = parse_interval, help_heading = "Source settings")]
    pub(crate) max_interval: Option<Interval>,

    /// Objective: harmonic, freshness, age, `capture LIFE URGENCY` or default
    ///
    /// harmonic: no change is missed for long; freshness: up to date for as much of the time as possible;
    /// age: out of date for a short time; capture: short-lived versions are fetched in time, with LIFE and
    /// URGENCY as in `freshet simulate --help`; default: the objective of the configuration.
    #[arg(long, value_name = "OBJECTIVE", help_heading = "Source settings")]
    pub(crate) objective: Option<String>,

    /// Tag to add; may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Source settings")]
    pub(crate) tag: Vec<String>,

    /// Compare only content that matches this selector, such as `#main`; may be repeated
    ///
    /// A CSS selector (`#main`), a JSON pointer (`/items/0/price`) or a JSON path (`$.items[*].price`).
    #[arg(long, value_name = "SELECTOR", help_heading = "Change detection")]
    pub(crate) select: Vec<String>,

    /// Ignore content that matches this selector; may be repeated
    #[arg(long, value_name = "SELECTOR", help_heading = "Change detection")]
    pub(crate) drop: Vec<String>,

    /// Ignore differences of these kinds: case, space, numbers, dates, order
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', help_heading = "Change detection")]
    pub(crate) ignore: Vec<String>,

    /// Ignore text that matches this expression; may be repeated
    #[arg(
        long,
        value_name = "REGEX",
        allow_hyphen_values = true,
        help_heading = "Change detection"
    )]
    pub(crate) ignore_text: Vec<String>,

    /// Compare only lines that match this expression; may be repeated
    #[arg(
        long,
        value_name = "REGEX",
        allow_hyphen_values = true,
        help_heading = "Change detection"
    )]
    pub(crate) keep_text: Vec<String>,

    /// Ignore changes to less than this share of the words, such as 5% or 0.05
    #[arg(long, value_name = "SHARE", help_heading = "Change detection")]
    pub(crate) below: Option<crate::commands::detect::Share>,
}

/// Interval in days; 0 for no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval(pub(crate) f64);

fn parse_interval(text: &str) -> Result<Interval, String> {
    freshet_daemon::parse_days(text)
        .map(Interval)
        .ok_or_else(|| "give a time such as 30s, 10min, 1h, 2d, 1w or none".to_owned())
}

impl SourceSettingsArguments {
    /// Returns all settings except tags and change detection.
    pub(crate) fn simple_settings(&self) -> SourceSettings {
        SourceSettings {
            importance: self.importance,
            cost: self.cost,
            min_interval: self.min_interval.map(|it| it.0),
            max_interval: self.max_interval.map(|it| it.0),
            goal: self.objective.as_ref().map(|text| match text.as_str() {
                "default" => String::new(),
                text => text.to_owned(),
            }),
            ..SourceSettings::default()
        }
    }

    /// Returns all settings, with tags and change detection merged with those of an existing source.
    pub(crate) fn merge_with(&self, source: Option<&Source>) -> Result<SourceSettings, Failure> {
        let mut detection = source.map_or(Ok(RawDetectSettings::default()), parse_detection)?;
        let has_detection = self.apply_detection(&mut detection);
        let tags = source.map_or(&[][..], |source| &source.tags);
        Ok(SourceSettings {
            tags: (!self.tag.is_empty()).then(|| merge_tags(tags, &self.tag)),
            detect_settings: has_detection.then(|| to_stored_json(&detection)),
            ..self.simple_settings()
        })
    }

    /// Overwrites change detection settings with the given ones; an empty value removes a setting. Returns
    /// true if any setting is given.
    pub(crate) fn apply_detection(&self, detection: &mut RawDetectSettings) -> bool {
        let lists = [
            (&self.select, &mut detection.select),
            (&self.drop, &mut detection.drop),
            (&self.ignore, &mut detection.ignore),
            (&self.ignore_text, &mut detection.ignore_text),
            (&self.keep_text, &mut detection.keep_text),
        ];
        let mut any = false;
        for (arguments, list) in lists {
            if !arguments.is_empty() {
                let values: Vec<_> =
                    arguments.iter().filter(|text| !text.is_empty()).cloned().collect();
                *list = (!values.is_empty()).then_some(values);
                any = true;
            }
        }
        if let Some(share) = self.below {
            detection.below = Some(share.0);
            any = true;
        }
        any
    }
}

/// Parses the change detection settings of a source.
pub(crate) fn parse_detection(source: &Source) -> Result<RawDetectSettings, Failure> {
    match source.settings.as_str() {
        "" => Ok(RawDetectSettings::default()),
        text => serde_json::from_str(text).map_err(|error| {
            Failure::new(format!("{}: cannot read its settings: {error}", source.url))
                .with_hint("remove it with `freshet rm` and add it again with `freshet add`")
        }),
    }
}

/// Returns the union of two lists of tags, sorted.
pub(crate) fn merge_tags(tags: &[String], more: &[String]) -> Vec<String> {
    let mut tags: Vec<String> = tags.iter().chain(more).cloned().collect();
    tags.sort();
    tags.dedup();
    tags
}

/// Formats change detection settings for the store; empty for the defaults.
pub(crate) fn to_stored_json(settings: &RawDetectSettings) -> String {
    if *settings == RawDetectSettings::default() {
        return String::new();
    }
    let value = serde_json::to_value(settings).unwrap_or_default();
    // Settings that are not set are omitted.
    let fields = value.as_object().map(|fields| {
        let set = fields.iter().filter(|(_, value)| !value.is_null());
        set.map(|(name, value)| (name.clone(), value.clone())).collect()
    });
    fields.map_or_else(String::new, |fields| serde_json::Value::Object(fields).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(parse_interval("1w"), Ok(Interval(7.0)));
        assert_eq!(parse_interval("12h"), Ok(Interval(0.5)));
        assert_eq!(parse_interval("none"), Ok(Interval(0.0)));
        assert!(parse_interval("often").is_err() && parse_interval("-1w").is_err());
    }

    #[test]
    fn given_settings_replace_existing_ones_and_empty_values_remove_them() {
        let mut settings = RawDetectSettings {
            select: Some(vec!["#a".to_owned()]),
            drop: Some(vec![".b".to_owned()]),
            ..RawDetectSettings::default()
        };
        let arguments = SourceSettingsArguments {
            select: vec!["#c".to_owned()],
            ..SourceSettingsArguments::default()
        };
        assert!(arguments.apply_detection(&mut settings));
        assert_eq!(to_stored_json(&settings), r##"{"drop":[".b"],"select":["#c"]}"##);
        let arguments = SourceSettingsArguments {
            select: vec![String::new()],
            drop: vec![String::new()],
            ..SourceSettingsArguments::default()
        };
        arguments.apply_detection(&mut settings);
        assert_eq!(to_stored_json(&settings), "");
    }
}
