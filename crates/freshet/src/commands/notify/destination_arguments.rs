//! Command-line arguments for the settings of a destination.

use clap::Args;
use freshet_notify::{EntryKind, RawChannel, RawTarget};

use crate::failure::Failure;

/// Returns `None` for an empty value, which removes a setting.
fn non_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Kind of entries; an empty value removes the filter, so that all kinds are delivered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindArgument(Option<EntryKind>);

fn parse_kind(text: &str) -> Result<KindArgument, String> {
    match text {
        "" => Ok(KindArgument(None)),
        text => text.parse().map(|kind| KindArgument(Some(kind))),
    }
}

/// A number; an empty value removes the filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberArgument(Option<f64>);

fn parse_number(text: &str) -> Result<NumberArgument, String> {
    match text {
        "" => Ok(NumberArgument(None)),
        text => match text.parse() {
            Ok(number) => Ok(NumberArgument(Some(number))),
            Err(_) => Err(format!("`{text}` is not a number")),
        },
    }
}

#[derive(Debug, Args)]
pub(crate) struct DestinationArguments {
    /// Deliver only entries of sources with this tag
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    pub(crate) tag: Option<String>,

    /// Deliver only entries of this host, at all ports unless one is given
    #[arg(long, value_name = "HOST", help_heading = "Filters")]
    pub(crate) host: Option<String>,

    /// Deliver only entries whose URL begins with this pattern, such as example.com/news/*
    #[arg(long, value_name = "PATTERN", help_heading = "Filters")]
    pub(crate) url: Option<String>,

    /// Minimum importance of the source
    #[arg(long, value_name = "NUMBER", help_heading = "Filters", value_parser = parse_number)]
    pub(crate) min_importance: Option<NumberArgument>,

    /// Maximum similarity of the versions, 0 to 1: 0.9 skips changes of less than 10%
    #[arg(long, value_name = "SHARE", help_heading = "Filters", value_parser = parse_number)]
    pub(crate) max_similarity: Option<NumberArgument>,

    /// Kind of entries: changed, failing, recovered, quiet or gone; may be repeated [default: all]
    #[arg(long, value_name = "KIND", help_heading = "Filters", value_parser = parse_kind)]
    pub(crate) kind: Vec<KindArgument>,

    /// Collect entries for this time into one message, such as 1h [default: one message per entry]
    #[arg(long, value_name = "TIME", help_heading = "Delivery")]
    pub(crate) digest: Option<String>,

    /// Template of the mail subject: '{{host}}: {{summary}}'
    #[arg(long, value_name = "TEMPLATE", help_heading = "Delivery")]
    pub(crate) subject: Option<String>,

    /// Template of the mail text or the command's input, per entry: '{{url}} {{summary}}'
    #[arg(long, value_name = "TEMPLATE", help_heading = "Delivery")]
    pub(crate) text: Option<String>,

    /// Sender address of mail [default: `from` under `[mail]`]
    #[arg(long, value_name = "ADDRESS", help_heading = "Delivery")]
    pub(crate) from: Option<String>,

    /// Webhook header as 'Name: value', or 'Name:' to remove it; may be repeated
    #[arg(long, value_name = "HEADER", help_heading = "Delivery")]
    pub(crate) header: Vec<String>,
}

impl DestinationArguments {
    /// Writes the given settings to a destination; an empty value removes a setting.
    pub(crate) fn apply_to(&self, raw: &mut RawTarget) -> Result<(), Failure> {
        let texts = [
            (&self.tag, &mut raw.filter.tag),
            (&self.host, &mut raw.filter.host),
            (&self.url, &mut raw.filter.url),
            (&self.digest, &mut raw.digest),
            (&self.subject, &mut raw.subject),
            (&self.text, &mut raw.text),
        ];
        for (argument, setting) in texts {
            if let Some(text) = argument {
                *setting = non_empty(text);
            }
        }
        let numbers = [
            (self.min_importance, &mut raw.filter.min_importance),
            (self.max_similarity, &mut raw.filter.max_similarity),
        ];
        for (argument, setting) in numbers {
            if let Some(NumberArgument(number)) = argument {
                *setting = number;
            }
        }
        if !self.kind.is_empty() {
            raw.filter.kinds = self.kind.iter().filter_map(|kind| kind.0).collect();
        }
        match &mut raw.to {
            RawChannel::Email(email) => {
                if let Some(from) = &self.from {
                    email.from = non_empty(from);
                }
            }
            _ if self.from.is_some() => {
                return Err(Failure::new("--from requires a mail destination"));
            }
            _ => {}
        }
        match &mut raw.to {
            RawChannel::Webhook(hook) => {
                for header in &self.header {
                    let parts = header.split_once(':');
                    let (name, value) =
                        parts.ok_or_else(|| Failure::new("a header has the form 'Name: value'"))?;
                    let name = name.trim();
                    match value.trim() {
                        "" => hook.headers.retain(|it, _| !it.eq_ignore_ascii_case(name)),
                        value => {
                            // Header names are case-insensitive.
                            hook.headers.retain(|it, _| !it.eq_ignore_ascii_case(name));
                            hook.headers.insert(name.to_owned(), value.to_owned());
                        }
                    }
                }
            }
            _ if !self.header.is_empty() => {
                return Err(Failure::new("--header requires a webhook"));
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        let Self { tag, host, url, min_importance, max_similarity, kind, .. } = self;
        let Self { digest, subject, text, from, header, .. } = self;
        let texts = [tag, host, url, digest, subject, text, from];
        texts.iter().all(|it| it.is_none())
            && min_importance.is_none()
            && max_similarity.is_none()
            && kind.is_empty()
            && header.is_empty()
    }
}
