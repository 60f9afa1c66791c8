//! What is said of a destination.

use clap::Args;
use freshet_notify::{EntryKind, RawChannel, RawTarget};

use crate::failure::Failure;

/// What an empty text stands for: nothing.
fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// A kind of entries, or none of them: then all are told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind(Option<EntryKind>);

fn kind(text: &str) -> Result<Kind, String> {
    match text {
        "" => Ok(Kind(None)),
        text => text.parse().map(|kind| Kind(Some(kind))),
    }
}

/// A number, or none: then it does not matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(Option<f64>);

fn number(text: &str) -> Result<Number, String> {
    match text {
        "" => Ok(Number(None)),
        text => match text.parse() {
            Ok(number) => Ok(Number(Some(number))),
            Err(_) => Err(format!("`{text}` is not a number")),
        },
    }
}

#[derive(Debug, Args)]
pub(crate) struct GivenArguments {
    /// Only of sources with this tag
    #[arg(long, value_name = "NAME", help_heading = "Which entries")]
    pub(crate) tag: Option<String>,

    /// Only of this host: at all its ports, unless one is given
    #[arg(long, value_name = "HOST", help_heading = "Which entries")]
    pub(crate) host: Option<String>,

    /// Only of URLs that begin so, such as example.com/news/; * stands for any run of characters
    #[arg(long, value_name = "PATTERN", help_heading = "Which entries")]
    pub(crate) url: Option<String>,

    /// Only of sources that count at least so much
    #[arg(long, value_name = "NUMBER", help_heading = "Which entries", value_parser = number)]
    pub(crate) min_importance: Option<Number>,

    /// Only large changes: those that leave at most so much as it was, from 0 to 1, such as 0.9
    #[arg(long, value_name = "SHARE", help_heading = "Which entries", value_parser = number)]
    pub(crate) max_similarity: Option<Number>,

    /// Only what tells this: changed, failing, recovered, quiet, gone; may be given more than once
    /// [default: all of them]
    #[arg(long, value_name = "KIND", help_heading = "Which entries", value_parser = kind)]
    pub(crate) kind: Vec<Kind>,

    /// One message for all that comes within such a time, such as 1h; without it one for each entry
    #[arg(long, value_name = "TIME", help_heading = "How")]
    pub(crate) digest: Option<String>,

    /// The subject of mail, with places for fields: '{{host}}: {{summary}}'
    #[arg(long, value_name = "TEMPLATE", help_heading = "How")]
    pub(crate) subject: Option<String>,

    /// The text of mail, or what a command reads, for each entry: '{{url}} {{summary}}'
    #[arg(long, value_name = "TEMPLATE", help_heading = "How")]
    pub(crate) text: Option<String>,

    /// Whom mail comes from, in place of `from` under `[mail]`
    #[arg(long, value_name = "ADDRESS", help_heading = "How")]
    pub(crate) from: Option<String>,

    /// A header to send along with a webhook, as 'Name: value', or 'Name:' to take it away; may be given
    /// more than once
    #[arg(long, value_name = "HEADER", help_heading = "How")]
    pub(crate) header: Vec<String>,
}

impl GivenArguments {
    /// Says it. What is not given stays as it is; what is given empty is taken away.
    pub(crate) fn settle(&self, raw: &mut RawTarget) -> Result<(), Failure> {
        let texts = [
            (&self.tag, &mut raw.filter.tag),
            (&self.host, &mut raw.filter.host),
            (&self.url, &mut raw.filter.url),
            (&self.digest, &mut raw.digest),
            (&self.subject, &mut raw.subject),
            (&self.text, &mut raw.text),
        ];
        for (given, place) in texts {
            if let Some(text) = given {
                *place = some(text);
            }
        }
        let numbers = [
            (self.min_importance, &mut raw.filter.min_importance),
            (self.max_similarity, &mut raw.filter.max_similarity),
        ];
        for (given, place) in numbers {
            if let Some(Number(given)) = given {
                *place = given;
            }
        }
        if !self.kind.is_empty() {
            raw.filter.kinds = self.kind.iter().filter_map(|kind| kind.0).collect();
        }
        match &mut raw.to {
            RawChannel::Email(email) => {
                if let Some(from) = &self.from {
                    email.from = some(from);
                }
            }
            _ if self.from.is_some() => {
                return Err(Failure::new("--from is for mail"));
            }
            _ => {}
        }
        match &mut raw.to {
            RawChannel::Webhook(hook) => {
                for header in &self.header {
                    let parts = header.split_once(':');
                    let (name, value) = parts
                        .ok_or_else(|| Failure::new("a header is written as 'Name: value'"))?;
                    let name = name.trim();
                    match value.trim() {
                        "" => hook.headers.retain(|it, _| !it.eq_ignore_ascii_case(name)),
                        value => {
                            // Names that differ in case are one.
                            hook.headers.retain(|it, _| !it.eq_ignore_ascii_case(name));
                            hook.headers.insert(name.to_owned(), value.to_owned());
                        }
                    }
                }
            }
            _ if !self.header.is_empty() => {
                return Err(Failure::new("--header is for webhooks"));
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
