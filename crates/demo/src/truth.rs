//! What the copies of each client are really worth: the web knows when its pages changed, and what
//! it answered to whom.

use crate::changes::Changes;
use crate::world::World;

/// Who looks at the web. Each sees it at an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// freshet itself.
    Freshet,
    /// All pages equally often.
    Equal,
    /// Apache Nutch's adaptive rule.
    Nutch,
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Freshet, Self::Equal, Self::Nutch];

    /// Its name in tables and pictures.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Freshet => "freshet",
            Self::Equal => "equal polling",
            Self::Nutch => "Nutch's rule",
        }
    }

    /// Its name for programs.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Freshet => "freshet",
            Self::Equal => "equal",
            Self::Nutch => "nutch",
        }
    }
}

/// What a page is at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Version {
    /// How often it has changed.
    pub number: u32,
    /// The day of the last change; 0 before the first.
    pub since: f64,
}

/// What a client asked for and got so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests for pages.
    pub requests: u64,
    /// Those of them that were answered with a page, or with the word that it is as it was.
    pub answered: u64,
    /// Answers that were another version than the one before, the first of each page left aside.
    pub changes: u64,
    /// Requests for robots.txt.
    pub robots: u64,
    /// Requests for what robots.txt forbids.
    pub forbidden: u64,
}

/// A fetch that was answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fetched {
    /// The page.
    pub page: u32,
    /// The day.
    pub day: f64,
}

/// The versions of all pages and the copies of all clients, as time goes by.
#[derive(Clone, Debug)]
pub struct Truth {
    pages: Vec<Page>,
    weight: f64,
    clients: [Copies; 3],
    record: bool,
}

#[derive(Clone, Debug)]
struct Page {
    importance: f64,
    version: Version,
    next: f64,
    changes: Changes,
}

#[derive(Clone, Debug, Default)]
struct Copies {
    copies: Vec<Held>,
    /// Importance times days that copies were fresh, of those that are not any more.
    fresh_days: f64,
    tally: Tally,
    fetched: Vec<Fetched>,
}

/// A copy: of which version, and if that is the page's, since when.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    version: Option<u32>,
    fresh_since: Option<f64>,
}

impl Truth {
    /// Day 0: nobody has a copy. With `record`, all answered fetches are kept.
    #[must_use]
    pub fn new(world: &World, record: bool) -> Self {
        let page = |(page, importance): (usize, f64)| {
            let mut changes = world.changes(page);
            let next = changes.next().unwrap_or(f64::INFINITY);
            Page { importance, version: Version { number: 0, since: 0.0 }, next, changes }
        };
        let pages: Vec<Page> = world.importance().enumerate().map(page).collect();
        let copies = vec![Held::default(); pages.len()];
        let clients = [(); 3].map(|()| Copies { copies: copies.clone(), ..Copies::default() });
        Self { weight: pages.iter().map(|it| it.importance).sum(), pages, clients, record }
    }

    /// Gives all clients a copy of every page as it is: what a simulation starts with.
    pub fn copy_all(&mut self, now: f64) {
        for page in 0..self.pages.len() as u32 {
            let number = self.version(page, now).number;
            for client in &mut self.clients {
                let held = &mut client.copies[page as usize];
                *held = Held { version: Some(number), fresh_since: Some(now) };
            }
        }
    }

    /// What a page is now. Time does not go back.
    pub fn version(&mut self, page: u32, now: f64) -> Version {
        let at = page as usize;
        while let Some(it) = self.pages.get_mut(at).filter(|it| it.next <= now) {
            let day = it.next;
            it.version = Version { number: it.version.number.saturating_add(1), since: day };
            it.next = it.changes.next().unwrap_or(f64::INFINITY);
            for client in &mut self.clients {
                if let Some(since) = client.copies[at].fresh_since.take() {
                    client.fresh_days += it.importance * (day - since).max(0.0);
                }
            }
        }
        self.pages.get(at).map_or(Version { number: 0, since: 0.0 }, |it| it.version)
    }

    /// Notes a request for a page.
    pub fn asked(&mut self, client: Client) {
        self.clients[client as usize].tally.requests += 1;
    }

    /// Notes a request for robots.txt.
    pub(crate) fn asked_robots(&mut self, client: Client) {
        self.clients[client as usize].tally.robots += 1;
    }

    /// Notes a request for what robots.txt forbids.
    pub(crate) fn trespassed(&mut self, client: Client) {
        self.clients[client as usize].tally.forbidden += 1;
    }

    /// Notes that a page was answered as it is now: so is the client's copy.
    pub fn answered(&mut self, client: Client, page: u32, now: f64) -> Version {
        let version = self.version(page, now);
        let it = &mut self.clients[client as usize];
        it.tally.answered += 1;
        if self.record {
            it.fetched.push(Fetched { page, day: now });
        }
        if let Some(held) = it.copies.get_mut(page as usize) {
            if held.version.is_some_and(|old| old != version.number) {
                it.tally.changes += 1;
            }
            held.version = Some(version.number);
            held.fresh_since.get_or_insert(now);
        }
        version
    }

    /// What a client asked for and got.
    #[must_use]
    pub fn tally(&self, client: Client) -> Tally {
        self.clients[client as usize].tally
    }

    /// The answered fetches of a client, in order; nothing without a record.
    #[must_use]
    pub fn fetched(&self, client: Client) -> &[Fetched] {
        &self.clients[client as usize].fetched
    }

    /// How the clients stand now.
    pub fn standing(&mut self, now: f64) -> Standing {
        for page in 0..self.pages.len() as u32 {
            self.version(page, now);
        }
        let of = |client: &Copies| {
            let (mut fresh, mut days) = (0.0, client.fresh_days);
            for (page, held) in self.pages.iter().zip(&client.copies) {
                if let Some(since) = held.fresh_since {
                    fresh += page.importance;
                    days += page.importance * (now - since).max(0.0);
                }
            }
            (fresh / self.weight, days / self.weight)
        };
        let both = self.clients.each_ref().map(of);
        Standing {
            day: now,
            fresh: both.map(|it| it.0),
            fresh_days: both.map(|it| it.1),
            tallies: self.clients.each_ref().map(|it| it.tally),
        }
    }
}

/// How the clients stand at a moment, in the order of [`Client::ALL`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The moment.
    pub day: f64,
    /// The share of copies that are fresh, weighted by importance.
    pub fresh: [f64; 3],
    /// The days that copies were fresh so far, weighted by importance: the integral of `fresh`.
    pub fresh_days: [f64; 3],
    /// What they asked for and got.
    pub tallies: [Tally; 3],
}

impl Standing {
    /// Before anything happened.
    pub(crate) const START: Self = Self {
        day: 0.0,
        fresh: [0.0; 3],
        fresh_days: [0.0; 3],
        tallies: [Tally { requests: 0, answered: 0, changes: 0, robots: 0, forbidden: 0 }; 3],
    };

    /// A client's mean freshness since the start.
    #[must_use]
    pub fn mean(&self, client: Client) -> f64 {
        self.mean_since(&Self::START, client)
    }

    /// A client's mean freshness since an earlier moment; that of the moment if no time has passed.
    #[must_use]
    pub fn mean_since(&self, earlier: &Self, client: Client) -> f64 {
        let days = self.day - earlier.day;
        let at = client as usize;
        if days > 0.0 {
            (self.fresh_days[at] - earlier.fresh_days[at]) / days
        } else {
            self.fresh[at]
        }
    }
}
