//! What can be said of a source, as it is typed.

use clap::Args;
use freshet_daemon::SourceSettings;
use freshet_detect::RawSettings;
use freshet_store::Source;

use crate::failure::Failure;

/// What can be said of a source.
#[derive(Debug, Default, Args)]
pub(crate) struct GivenArguments {
    /// How much it matters: 2 counts as much as two others [default: 1]
    #[arg(
        long,
        value_name = "NUMBER",
        allow_negative_numbers = true,
        help_heading = "What is said of it"
    )]
    pub(crate) importance: Option<f64>,

    /// How many fetches of the budget one fetch of it takes [default: 1]
    #[arg(
        long,
        value_name = "NUMBER",
        allow_negative_numbers = true,
        help_heading = "What is said of it"
    )]
    pub(crate) cost: Option<f64>,

    /// Fetch it no more often than this: 10min, 1h, 2d, 1w; none for no limit
    #[arg(long, value_name = "TIME", value_parser = interval, help_heading = "What is said of it")]
    pub(crate) min_interval: Option<Interval>,

    /// Fetch it at least this often, whatever it is worth; none for no limit
    #[arg(long, value_name = "TIME", value_parser = interval, help_heading = "What is said of it")]
    pub(crate) max_interval: Option<Interval>,

    /// What its copy is to be good for: harmonic (no change is missed for long), freshness (it is up to
    /// date as often as can be), age (it is out of date for a short time), or `capture LIFE URGENCY`
    /// (what comes and goes is seen in time); default for what the configuration says
    #[arg(long, value_name = "OBJECTIVE", help_heading = "What is said of it")]
    pub(crate) objective: Option<String>,

    /// A name to find it by; may be given more than once
    #[arg(long, value_name = "NAME", help_heading = "What is said of it")]
    pub(crate) tag: Vec<String>,

    /// Only what this selects counts: `#main`, `/items/0/price`; may be given more than once
    #[arg(long, value_name = "SELECTOR", help_heading = "What counts of it")]
    pub(crate) select: Vec<String>,

    /// What this selects does not count; may be given more than once
    #[arg(long, value_name = "SELECTOR", help_heading = "What counts of it")]
    pub(crate) drop: Vec<String>,

    /// What makes no difference: case, space, numbers, dates, order
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', help_heading = "What counts of it")]
    pub(crate) ignore: Vec<String>,

    /// Text that matches this does not count; may be given more than once
    #[arg(
        long,
        value_name = "REGEX",
        allow_hyphen_values = true,
        help_heading = "What counts of it"
    )]
    pub(crate) ignore_text: Vec<String>,

    /// Only lines that match this count; may be given more than once
    #[arg(
        long,
        value_name = "REGEX",
        allow_hyphen_values = true,
        help_heading = "What counts of it"
    )]
    pub(crate) keep_text: Vec<String>,

    /// Changes of a smaller share of the words than this do not count: 5%, 0.05
    #[arg(long, value_name = "SHARE", help_heading = "What counts of it")]
    pub(crate) below: Option<crate::commands::detect::Share>,
}

/// Days; 0 for no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval(pub(crate) f64);

fn interval(text: &str) -> Result<Interval, String> {
    freshet_daemon::days_in(text)
        .map(Interval)
        .ok_or_else(|| "give a time such as 30s, 10min, 1h, 2d, 1w or none".to_owned())
}

impl GivenArguments {
    /// All but tags and what counts.
    pub(crate) fn plain(&self) -> SourceSettings {
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

    /// All of it, over what was said of a source before: tags and what counts are said in part.
    pub(crate) fn over(&self, source: Option<&Source>) -> Result<SourceSettings, Failure> {
        let mut settings = source.map_or(Ok(RawSettings::default()), said)?;
        let says = self.settle(&mut settings);
        let tags = source.map_or(&[][..], |source| &source.tags);
        Ok(SourceSettings {
            tags: (!self.tag.is_empty()).then(|| joined(tags, &self.tag)),
            settings: says.then(|| written(&settings)),
            ..self.plain()
        })
    }

    /// Writes what is said of what counts over what was said before; an empty text takes that away. Says
    /// whether anything is said.
    pub(crate) fn settle(&self, settings: &mut RawSettings) -> bool {
        let lists = [
            (&self.select, &mut settings.select),
            (&self.drop, &mut settings.drop),
            (&self.ignore, &mut settings.ignore),
            (&self.ignore_text, &mut settings.ignore_text),
            (&self.keep_text, &mut settings.keep_text),
        ];
        let mut says = false;
        for (said, list) in lists {
            if !said.is_empty() {
                let said: Vec<_> = said.iter().filter(|text| !text.is_empty()).cloned().collect();
                *list = (!said.is_empty()).then_some(said);
                says = true;
            }
        }
        if let Some(share) = self.below {
            settings.below = Some(share.0);
            says = true;
        }
        says
    }
}

/// What was said of what counts of a source.
pub(crate) fn said(source: &Source) -> Result<RawSettings, Failure> {
    match source.settings.as_str() {
        "" => Ok(RawSettings::default()),
        text => serde_json::from_str(text).map_err(|error| {
            Failure::new(format!("{}: its settings cannot be read: {error}", source.url))
                .hint("add it anew with `freshet rm` and `freshet add`")
        }),
    }
}

/// Tags with more of them, each once.
pub(crate) fn joined(tags: &[String], more: &[String]) -> Vec<String> {
    let mut tags: Vec<String> = tags.iter().chain(more).cloned().collect();
    tags.sort();
    tags.dedup();
    tags
}

/// What counts, as the store has it: empty for nothing special.
pub(crate) fn written(settings: &RawSettings) -> String {
    if *settings == RawSettings::default() {
        return String::new();
    }
    let value = serde_json::to_value(settings).unwrap_or_default();
    // What is not said needs no words.
    let said = value.as_object().map(|fields| {
        let said = fields.iter().filter(|(_, value)| !value.is_null());
        said.map(|(name, value)| (name.clone(), value.clone())).collect()
    });
    said.map_or_else(String::new, |said| serde_json::Value::Object(said).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(interval("1w"), Ok(Interval(7.0)));
        assert_eq!(interval("12h"), Ok(Interval(0.5)));
        assert_eq!(interval("none"), Ok(Interval(0.0)));
        assert!(interval("often").is_err() && interval("-1w").is_err());
    }

    #[test]
    fn what_is_said_anew_replaces_what_it_is_about() {
        let mut settings = RawSettings {
            select: Some(vec!["#a".to_owned()]),
            drop: Some(vec![".b".to_owned()]),
            ..RawSettings::default()
        };
        let said = GivenArguments { select: vec!["#c".to_owned()], ..GivenArguments::default() };
        assert!(said.settle(&mut settings));
        assert_eq!(written(&settings), r##"{"drop":[".b"],"select":["#c"]}"##);
        let said = GivenArguments {
            select: vec![String::new()],
            drop: vec![String::new()],
            ..GivenArguments::default()
        };
        said.settle(&mut settings);
        assert_eq!(written(&settings), "");
    }
}
