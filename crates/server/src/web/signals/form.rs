//! The form that adds a sitemap or feed.

use freshet_daemon::{DiscoveryRule, NewSignalSourceRequest, SignalSourcePatch};

use crate::problem::Problem;
use crate::routes::{check_tags, check_url};
use crate::web::form::Fields;

/// What stands in the form, and what is wrong with it.
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
    wrong: Option<(String, String)>,
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|it| !it.is_empty()).map(ToOwned::to_owned).collect()
}

impl AddForm {
    pub(super) fn typed(fields: &Fields) -> Self {
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
            wrong: None,
        }
    }

    pub(super) fn is_good(&self) -> bool {
        self.wrong.is_none()
    }

    pub(super) fn refuse(&mut self, problem: Problem) {
        let hint = problem.hint.map_or_else(String::new, |hint| format!(": {hint}"));
        self.wrong = Some((problem.field.unwrap_or_default(), format!("{}{hint}", problem.detail)));
    }

    /// What is wrong with a field.
    pub(super) fn error(&self, field: &str) -> Option<&str> {
        let (at, what) = self.wrong.as_ref()?;
        (at.split(['[', '.']).next() == Some(field)).then_some(what.as_str())
    }

    /// What is wrong, if that is in none of the fields.
    pub(super) fn other_error(&self) -> Option<&str> {
        let (_, what) = self.wrong.as_ref()?;
        let fields = ["url", "include", "exclude", "most", "tags"];
        fields.iter().all(|field| self.error(field).is_none()).then_some(what.as_str())
    }

    /// As the daemon takes it.
    pub(super) fn wanted(&self) -> Result<NewSignalSourceRequest, Problem> {
        check_url(&self.url)?;
        let most = match self.most.as_str() {
            "" => DiscoveryRule::MOST,
            text => text.parse().map_err(|_| {
                Problem::field("most", format!("`{text}` is not a number of pages, such as 1000"))
            })?,
        };
        let tags = lines(&self.tags);
        check_tags(&tags)?;
        let rule = DiscoveryRule {
            discover: self.discover,
            include: lines(&self.include),
            exclude: lines(&self.exclude),
            most,
            tags,
            other_hosts: self.other_hosts,
            ..DiscoveryRule::default()
        };
        let (url, feed) = (self.url.clone(), self.is_feed);
        Ok(NewSignalSourceRequest { url, feed, rule, given: SignalSourcePatch::default() })
    }
}
