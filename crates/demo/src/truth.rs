//! True freshness of each client's copies: the web knows when its pages changed, and what
//! it returned to each client.

use crate::changes::Changes;
use crate::world::World;

/// A client of the web. Each has an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// freshet itself.
    Freshet,
    /// Equal polling.
    Equal,
    /// Apache Nutch's adaptive rule.
    Nutch,
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Freshet, Self::Equal, Self::Nutch];

    /// Returns the name in tables and charts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Freshet => "freshet",
            Self::Equal => "equal polling",
            Self::Nutch => "Nutch's rule",
        }
    }

    /// Returns the name in JSON.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Freshet => "freshet",
            Self::Equal => "equal",
            Self::Nutch => "nutch",
        }
    }
}

/// State of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Version {
    /// Number of changes so far.
    pub number: u32,
    /// Day of the last change; 0 before the first.
    pub since: f64,
}

/// Request counts of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Page requests.
    pub requests: u64,
    /// Page requests that returned the page or 304.
    pub answered: u64,
    /// Responses with another version than the previous one, without the first of each page.
    pub changes: u64,
    /// Requests for robots.txt.
    pub robots: u64,
    /// Requests for paths that robots.txt disallows.
    pub forbidden: u64,
}

/// A successful fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fetched {
    /// The page.
    pub page: u32,
    /// The day.
    pub day: f64,
}

/// Versions of all pages and copies of all clients over time.
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
    /// Importance times days of freshness of copies that are stale now.
    fresh_days: f64,
    tally: Tally,
    fetched: Vec<Fetched>,
}

/// A copy: its version, and the time since which it is fresh, if it is.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    version: Option<u32>,
    fresh_since: Option<f64>,
}

impl Truth {
    /// Creates day 0, without copies. With `record`, all fetches are recorded.
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

    /// Gives all clients a copy of every page, as at the start of a simulation.
    pub fn copy_all(&mut self, now: f64) {
        for page in 0..self.pages.len() as u32 {
            let number = self.version(page, now).number;
            for client in &mut self.clients {
                let held = &mut client.copies[page as usize];
                *held = Held { version: Some(number), fresh_since: Some(now) };
            }
        }
    }

    /// Returns the current state of a page. Time must not go back.
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

    /// Records a page request.
    pub fn asked(&mut self, client: Client) {
        self.clients[client as usize].tally.requests += 1;
    }

    /// Records a request for robots.txt.
    pub(crate) fn asked_robots(&mut self, client: Client) {
        self.clients[client as usize].tally.robots += 1;
    }

    /// Records a request for a disallowed path.
    pub(crate) fn trespassed(&mut self, client: Client) {
        self.clients[client as usize].tally.forbidden += 1;
    }

    /// Records that a client received the current version of a page.
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

    /// Returns the request counts of a client.
    #[must_use]
    pub fn tally(&self, client: Client) -> Tally {
        self.clients[client as usize].tally
    }

    /// Returns the recorded fetches of a client, in order.
    #[must_use]
    pub fn fetched(&self, client: Client) -> &[Fetched] {
        &self.clients[client as usize].fetched
    }

    /// Returns the current sample of all clients.
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

/// Sample of all clients, in the order of [`Client::ALL`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Day of the sample.
    pub day: f64,
    /// Share of fresh copies, weighted by importance.
    pub fresh: [f64; 3],
    /// Integral of `fresh` over time in days.
    pub fresh_days: [f64; 3],
    /// Request counts.
    pub tallies: [Tally; 3],
}

impl Standing {
    /// Sample at the start.
    pub(crate) const START: Self = Self {
        day: 0.0,
        fresh: [0.0; 3],
        fresh_days: [0.0; 3],
        tallies: [Tally { requests: 0, answered: 0, changes: 0, robots: 0, forbidden: 0 }; 3],
    };

    /// Returns a client's mean freshness since the start.
    #[must_use]
    pub fn mean(&self, client: Client) -> f64 {
        self.mean_since(&Self::START, client)
    }

    /// Returns the mean freshness of a client since an earlier sample, or its current freshness if no time has passed.
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
