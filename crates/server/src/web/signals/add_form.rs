//! The form that adds a sitemap or feed.

use freshet_daemon::{DiscoveryRule, NewSignalSourceRequest, SignalSourcePatch};

use crate::problem::Problem;
use crate::routes::{check_tags, check_url};
use crate::web::form_fields::FormFields;

/// Values of the form, and its error.
#[derive(Default)]
pub(super) struct AddForm {
    pub(super) url: String,
    pub(super) is_feed: bool,
    pub(super) discover: bool,
    pub(super) other_hosts: bool,
    pub(super) include: String,
    pub(super) exclude: String,
    pub(super) most: String,
    pub(super) tags: String,
    error: Option<(String, String)>,
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|it| !it.is_empty()).map(ToOwned::to_owned).collect()
}

impl AddForm {
    pub(super) fn from_fields(fields: &FormFields) -> Self {
        let text = |name| fields.text(name).trim().to_owned();
        Self {
            url: text("url"),
            is_feed: fields.get("kind") == Some("feed"),
            discover: fields.has("discover"),
            other_hosts: fields.has("other_hosts"),
            include: text("include"),
            exclude: text("exclude"),
            most: text("most"),
            tags: text("tags"),
            error: None,
        }
    }

    pub(super) fn is_valid(&self) -> bool {
        self.error.is_none()
    }

    pub(super) fn set_error(&mut self, problem: Problem) {
        let hint = problem.hint.map_or_else(String::new, |hint| format!(": {hint}"));
        self.error = Some((problem.field.unwrap_or_default(), format!("{}{hint}", problem.detail)));
    }

    /// Returns the error of a field.
    pub(super) fn error(&self, field: &str) -> Option<&str> {
        let (at, what) = self.error.as_ref()?;
        (at.split(['[', '.']).next() == Some(field)).then_some(what.as_str())
    }

    /// Returns the error if it belongs to none of the fields.
    pub(super) fn other_error(&self) -> Option<&str> {
        let (_, what) = self.error.as_ref()?;
        let fields = ["url", "include", "exclude", "most", "tags"];
        fields.iter().all(|field| self.error(field).is_none()).then_some(what.as_str())
    }

    /// Converts the form to a request to the daemon.
    pub(super) fn to_request(&self) -> Result<NewSignalSourceRequest, Problem> {
        check_url(&self.url)?;
        let max_sources = match self.most.as_str() {
            "" => DiscoveryRule::DEFAULT_MAX_PAGES,
            text => text.parse().map_err(|_| {
                Problem::invalid("most", format!("`{text}` is not a number, such as 1000"))
            })?,
        };
        let tags = lines(&self.tags);
        check_tags(&tags)?;
        let rule = DiscoveryRule {
            discover: self.discover,
            include: lines(&self.include),
            exclude: lines(&self.exclude),
            max_pages: max_sources,
            tags,
            other_hosts: self.other_hosts,
            ..DiscoveryRule::default()
        };
        let (url, feed) = (self.url.clone(), self.is_feed);
        Ok(NewSignalSourceRequest { url, is_feed: feed, rule, patch: SignalSourcePatch::default() })
    }
}
