//! Pages of a web: URLs, importances, change times.

use std::sync::Arc;

use freshet_model::{ChangeTrace, PackedStrings, TimeRange};
use freshet_sim::{Distribution, Origin};
use rand::seq::SliceRandom;

use crate::changes::Changes;
use crate::clock::DAY;
use crate::error::DemoError;
use crate::mix::{KINDS, draw};
use crate::seed::{Purpose, random};

/// Exponent of importance: the r-th page of a synthetic web has importance `r^(−0.9)`.
const IMPORTANCE: Distribution = Distribution::Zipf(0.9);
/// Largest number of pages.
const MOST_PAGES: usize = 1_000_000;
/// Hosts per kind in a synthetic web.
const HOSTS_OF_A_KIND: usize = 5;

/// A web of one seed.
#[derive(Clone, Debug)]
pub struct World {
    seed: u64,
    hosts: Vec<String>,
    pages: Vec<Page>,
    importance: Distribution,
    /// Recorded changes, and the time of day 0 in seconds since 1970.
    record: Option<(Arc<ChangeTrace>, f64)>,
}

#[derive(Clone, Debug)]
struct Page {
    host: u32,
    path: String,
    importance: f64,
    rate: f64,
}

/// Window of a record, with the pages that existed throughout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Start in seconds since 1970.
    pub start: f64,
    /// Length in days.
    pub days: f64,
}

impl World {
    /// Creates a synthetic web with several kinds of sites and random change times.
    ///
    /// # Errors
    /// Returns an error if there are no pages, or too many.
    pub fn made(seed: u64, pages: usize) -> Result<Self, DemoError> {
        check_size(pages)?;
        let drawn = draw(seed, pages, HOSTS_OF_A_KIND);
        let place = |at: &crate::mix::Draw| {
            let kind = &KINDS[at.kind];
            (format!("{}-{}.localhost", kind.name, at.host + 1), kind.section.to_owned(), at.rate)
        };
        Self::new(seed, drawn.iter().map(place).collect(), IMPORTANCE)
    }

    /// Creates a web from the pages of a record that existed throughout a window, with hosts named after the
    /// first part of the path.
    ///
    /// # Errors
    /// Returns an error if there are none, or too many.
    pub fn recorded(
        seed: u64,
        history: &ChangeTrace,
        window: Window,
        importance: Distribution,
    ) -> Result<Self, DemoError> {
        let end = window.days.mul_add(DAY, window.start);
        if !(window.days > 0.0 && end.is_finite()) {
            return Err(DemoError::Window { days: window.days });
        }
        let through = |life: &TimeRange| life.start <= window.start && life.end >= end;
        let mut places = Vec::new();
        let mut changes = Vec::new();
        for (page, id) in history.ids.iter().enumerate() {
            if !through(&history.lifetimes[page]) {
                continue;
            }
            let times = history.change_times(page).iter().copied();
            let times = times.filter(|&time| time > window.start && time < end);
            let number = places.len() as u32;
            let before = changes.len();
            changes.extend(times.map(|time| (number, time)));
            let rate = (changes.len() - before) as f64 / window.days;
            let (host, rest) = id.split_once('/').unwrap_or((id, ""));
            let section = rest.split('/').next().unwrap_or_default();
            places.push((format!("{}.localhost", label(host)), label(section), rate));
        }
        check_size(places.len())?;
        let mut world = Self::new(seed, places, importance)?;
        let lives = vec![TimeRange { start: window.start, end }; world.len()];
        let ids = world.ids();
        world.record = Some((Arc::new(ChangeTrace::new(ids, lives, &changes)), window.start));
        Ok(world)
    }

    fn new(
        seed: u64,
        places: Vec<(String, String, f64)>,
        importance: Distribution,
    ) -> Result<Self, DemoError> {
        let mut hosts: Vec<String> = Vec::new();
        let mut pages = Vec::with_capacity(places.len());
        let mut known = std::collections::HashMap::new();
        for (number, (host, section, rate)) in places.into_iter().enumerate() {
            let next = hosts.len() as u32;
            let host = *known.entry(host).or_insert_with_key(|name| {
                hosts.push(name.clone());
                next
            });
            let path = format!("/{section}/page-{number}");
            pages.push(Page { host, path, importance: 1.0, rate });
        }
        let mut world = Self { seed, hosts, pages, importance, record: None };
        // Draws as the simulator does, so that the same seed gives the same web.
        let drawn = freshet_sim::Web::new(&world.origin(1.0), &[], 1.0, seed)?;
        for (page, importance) in world.pages.iter_mut().zip(drawn.population.importance) {
            page.importance = importance;
        }
        Ok(world)
    }

    /// Returns a synthetic web of the same kind with at most the given number of pages.
    pub(crate) fn smaller(&self, pages: usize) -> Result<Option<Self>, DemoError> {
        let is_large = self.record.is_none() && self.len() > pages;
        is_large.then(|| Self::made(self.seed, pages)).transpose()
    }

    /// Returns the same web for the simulator.
    #[must_use]
    pub fn origin(&self, days: f64) -> Origin {
        Origin::Recorded(self.history(days), self.importance)
    }

    /// Returns all changes of a number of days as a record.
    #[must_use]
    pub fn history(&self, days: f64) -> Arc<ChangeTrace> {
        if let Some((history, _)) = &self.record {
            return Arc::clone(history);
        }
        let mut changes = Vec::new();
        for page in 0..self.len() {
            let before = self.changes(page).take_while(|&day| day < days);
            changes.extend(before.map(|day| (page as u32, day * DAY)));
        }
        let lives = vec![TimeRange { start: 0.0, end: days * DAY }; self.len()];
        Arc::new(ChangeTrace::new(self.ids(), lives, &changes))
    }

    /// Names begin with the host, so that the simulator can group by host.
    fn ids(&self) -> PackedStrings {
        let mut ids = PackedStrings::default();
        for page in &self.pages {
            ids.push(&format!("{}{}", self.hosts[page.host as usize], page.path));
        }
        ids
    }

    /// Returns the seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Returns true if there are no pages, which never happens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Returns the names of the hosts.
    #[must_use]
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Returns the number of a page's host.
    #[must_use]
    pub fn host(&self, page: u32) -> u32 {
        self.pages[page as usize].host
    }

    /// Returns the importance of each page.
    pub fn importance(&self) -> impl Iterator<Item = f64> {
        self.pages.iter().map(|page| page.importance)
    }

    /// Returns the expected or recorded changes per day of a page.
    #[must_use]
    pub fn rate(&self, page: u32) -> f64 {
        self.pages[page as usize].rate
    }

    /// Returns the time of day 0 in seconds since 1970.
    #[must_use]
    pub fn epoch(&self) -> f64 {
        /// First of January 2026.
        const MADE: f64 = 1_767_225_600.0;
        self.record.as_ref().map_or(MADE, |(_, start)| *start)
    }

    /// Returns the URL of a page, at a port.
    #[must_use]
    pub fn url(&self, page: u32, port: u16) -> String {
        let Page { host, path, .. } = &self.pages[page as usize];
        format!("http://{}:{port}{path}", self.hosts[*host as usize])
    }

    /// Returns the page of a host and a path, if there is one.
    pub(crate) fn find(&self, host: &str, path: &str) -> Option<u32> {
        let number: u32 = path.rsplit('-').next()?.parse().ok()?;
        let page = self.pages.get(number as usize)?;
        (page.path == path && self.hosts[page.host as usize] == host).then_some(number)
    }

    /// Returns all pages in the order of the first round.
    #[must_use]
    pub fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.shuffle(&mut random(self.seed, Purpose::Order, 0));
        order
    }

    pub(crate) fn changes(&self, page: usize) -> Changes {
        match &self.record {
            Some((history, start)) => Changes::recorded(history, page, *start),
            None => Changes::poisson(self.seed, page, self.pages[page].rate),
        }
    }
}

fn check_size(pages: usize) -> Result<(), DemoError> {
    if (1..=MOST_PAGES).contains(&pages) {
        Ok(())
    } else {
        Err(DemoError::Pages { pages, most: MOST_PAGES })
    }
}

/// Converts a text to a slug: lower-case letters, digits and single hyphens.
fn label(text: &str) -> String {
    let mut out = String::new();
    for it in text.chars() {
        if it.is_ascii_alphanumeric() {
            out.push(it.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() == 40 {
            break;
        }
    }
    let out = out.trim_end_matches('-');
    if out.is_empty() { "pages".to_owned() } else { out.to_owned() }
}
