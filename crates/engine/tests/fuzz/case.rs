//! A case: what happens to an engine, as text, one line for each happening.
//!
//! ```text
//! from 20000                      the day on which the engine is made
//! set budget=100 burst=20         its settings, and later ones; what is not said is the default
//! + 3 host=1 importance=2         a source, described; `+ 100..3100 hosts=7`: many, on 7 hosts in turn
//! - 3                             a source, or `100..3100`, removed
//! answer 0 changed                what a fetch brought, the oldest that is under way
//! fetched 3 gone                  the same by number, whether or not it is under way
//! report 0 0.5 changed            the same as `answer`, made so many days ago by somebody else
//! put-off 0 0.5                   it did not come to its end; `put-off 0 0.5 unasked`: nothing was asked
//! visit 1 0.01                    somebody asks a host for something else, in so many days
//! visited 1 failed                that is over; `visited 1 fine 0.5`: and it wants to be left alone
//! signal 3                        a source says that it has changed
//! capacity 5                      fetches that somebody can make; `all`: any number
//! tick                            time has passed
//! clock -2                        the caller's clock moves; `NaN`: the next event has no day
//! wait 0.5                        ticks when they are asked for; `wait 0`: until nothing is left to do
//! run 0.5 7                       the same, with answers that the seed decides
//! snapshot                        from here on a restored engine runs beside
//! ```

use std::fmt;
use std::str::FromStr;

use freshet_engine::{Blame, Description, Goal, Outcome, Profile, Settings};
use freshet_estimate::{Belief, Capture, Life, Penalty, Urgency};

/// Something that happens to an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Happening {
    /// `count` sources with numbers in sequence, on `hosts` hosts in turn. The day of the copy is
    /// its age, until it is told.
    Describe {
        first: Description,
        count: u32,
        hosts: u32,
    },
    Remove {
        first: u32,
        count: u32,
    },
    Answer {
        which: usize,
        outcome: Outcome,
    },
    Fetched {
        id: u32,
        outcome: Outcome,
    },
    Report {
        which: usize,
        ago: f64,
        outcome: Outcome,
    },
    PutOff {
        which: usize,
        days: f64,
        unasked: bool,
    },
    Visit {
        host: u32,
        days: f64,
    },
    Visited {
        host: u32,
        rest: Option<f64>,
        failed: bool,
    },
    Signal(u32),
    Herald {
        number: u32,
        source: Option<u32>,
    },
    Dismiss(u32),
    Heard {
        id: u32,
        herald: u32,
        said: Option<f64>,
    },
    Read {
        herald: u32,
        found: u32,
    },
    Fetch(u32),
    Gap {
        host: u32,
        days: f64,
    },
    Capacity(u32),
    Withdraw(u32),
    Tick,
    Set(Settings),
    Clock(f64),
    Wait(f64),
    Run {
        days: f64,
        seed: u32,
    },
    Snapshot,
    Reopen,
}

#[derive(Clone, PartialEq)]
pub(crate) struct Case {
    pub(crate) from: f64,
    pub(crate) settings: Settings,
    pub(crate) happenings: Vec<Happening>,
}

/// What proptest prints when a case fails is what `replay` reads.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "from {:?}", self.from)?;
        writeln!(f, "{}", Happening::Set(self.settings))?;
        self.happenings.iter().try_for_each(|it| writeln!(f, "{it}"))
    }
}

fn capture(life: Life, urgency: Urgency) -> Goal {
    Goal::Capture(Capture { life, urgency })
}

/// The goals that cases know by name; the last two cannot be meant.
pub(crate) fn goals() -> [(&'static str, Goal); 9] {
    [
        ("harmonic", Goal::Keep(Penalty::Harmonic)),
        ("freshness", Goal::Keep(Penalty::Freshness)),
        ("age", Goal::Keep(Penalty::Age)),
        ("append", capture(Life::Append, Urgency::Uniform)),
        ("overwrite", capture(Life::OVERWRITE, Urgency::Decay(0.5))),
        ("news", capture(Life::Changes(20), Urgency::Uniform)),
        ("window", capture(Life::Days(3.0), Urgency::Days(1.0))),
        ("no-life", capture(Life::Changes(0), Urgency::Uniform)),
        ("no-urgency", capture(Life::Append, Urgency::Decay(f32::NAN))),
    ]
}

/// The profiles that cases know by name.
pub(crate) fn profiles() -> [(&'static str, Profile); 4] {
    let of = |weight: fn(usize) -> f64| {
        Profile::new(std::array::from_fn(weight)).expect("weights that can be meant")
    };
    [
        ("even", Profile::EVEN),
        ("night", of(|hour| f64::from(u8::from(hour < 6)))),
        ("hour", of(|hour| f64::from(u8::from(hour == 13)))),
        ("slope", of(|hour| hour as f64)),
    ]
}

fn same_goal(one: Goal, other: Goal) -> bool {
    // One of them has a number that is none.
    format!("{one:?}") == format!("{other:?}")
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Describe { first, count, hosts } => {
                f.write_str("+ ")?;
                numbers(f, first.id, count)?;
                if hosts > 1 {
                    write!(f, " hosts={hosts}")?;
                }
                description(f, &first)
            }
            Self::Remove { first, count } => {
                f.write_str("- ")?;
                numbers(f, first, count)
            }
            Self::Answer { which, outcome } => {
                write!(f, "answer {which} ")?;
                brought(f, outcome)
            }
            Self::Fetched { id, outcome } => {
                write!(f, "fetched {id} ")?;
                brought(f, outcome)
            }
            Self::Report { which, ago, outcome } => {
                write!(f, "report {which} {ago:?} ")?;
                brought(f, outcome)
            }
            Self::PutOff { which, days, unasked } => {
                write!(f, "put-off {which} {days:?}{}", if unasked { " unasked" } else { "" })
            }
            Self::Visit { host, days } => write!(f, "visit {host} {days:?}"),
            Self::Visited { host, rest, failed } => {
                write!(f, "visited {host} {}", if failed { "failed" } else { "fine" })?;
                rest.map_or(Ok(()), |days| write!(f, " {days:?}"))
            }
            Self::Signal(id) => write!(f, "signal {id}"),
            Self::Herald { number, source } => {
                write!(f, "herald {number}")?;
                source.map_or(Ok(()), |id| write!(f, " {id}"))
            }
            Self::Dismiss(number) => write!(f, "dismiss {number}"),
            Self::Heard { id, herald, said } => {
                write!(f, "heard {id} {herald}")?;
                said.map_or(Ok(()), |day| write!(f, " {day:?}"))
            }
            Self::Read { herald, found } => write!(f, "read {herald} {found}"),
            Self::Fetch(id) => write!(f, "fetch {id}"),
            Self::Gap { host, days } => write!(f, "gap {host} {days:?}"),
            Self::Capacity(u32::MAX) => f.write_str("capacity all"),
            Self::Capacity(some) => write!(f, "capacity {some}"),
            Self::Withdraw(some) => write!(f, "withdraw {some}"),
            Self::Tick => f.write_str("tick"),
            Self::Set(it) => settings(f, &it),
            Self::Clock(days) => write!(f, "clock {days:?}"),
            Self::Wait(days) => write!(f, "wait {days:?}"),
            Self::Run { days, seed } => write!(f, "run {days:?} {seed}"),
            Self::Snapshot => f.write_str("snapshot"),
            Self::Reopen => f.write_str("reopen"),
        }
    }
}

fn numbers(f: &mut fmt::Formatter<'_>, first: u32, count: u32) -> fmt::Result {
    match count {
        1 => write!(f, "{first}"),
        _ => write!(f, "{first}..{}", first.saturating_add(count)),
    }
}

fn brought(f: &mut fmt::Formatter<'_>, outcome: Outcome) -> fmt::Result {
    match outcome {
        Outcome::Changed => f.write_str("changed"),
        Outcome::Unchanged => f.write_str("unchanged"),
        Outcome::Copied => f.write_str("copied"),
        Outcome::Gone => f.write_str("gone"),
        Outcome::Failed { blame, retry_after } => {
            let blame = match blame {
                Blame::Host => "host",
                Blame::Source => "source",
                Blame::Us => "us",
            };
            write!(f, "failed:{blame}")?;
            retry_after.map_or(Ok(()), |days| write!(f, ":{days:?}"))
        }
    }
}

fn description(f: &mut fmt::Formatter<'_>, it: &Description) -> fmt::Result {
    let usual = Description::new(it.id);
    if it.host != usual.host {
        write!(f, " host={}", it.host)?;
    }
    let amounts = [
        ("importance", it.importance, usual.importance),
        ("cost", it.cost, usual.cost),
        ("min", it.min_interval, usual.min_interval),
        ("max", it.max_interval, usual.max_interval),
    ];
    for (name, value, _) in amounts.into_iter().filter(|it| it.1 != it.2) {
        write!(f, " {name}={value:?}")?;
    }
    goal(f, it.goal)?;
    if it.observed {
        f.write_str(" observed")?;
    }
    if it.paused {
        f.write_str(" paused")?;
    }
    if let Some(age) = it.fetched {
        write!(f, " copy={age:?}")?;
    }
    it.belief.map_or(Ok(()), |it| write!(f, " belief={:?}/{:?}", it.shape(), it.days()))
}

fn goal(f: &mut fmt::Formatter<'_>, goal: Option<Goal>) -> fmt::Result {
    let name = goal.and_then(|goal| goals().into_iter().find(|it| same_goal(it.1, goal)));
    name.map_or(Ok(()), |(name, _)| write!(f, " goal={name}"))
}

fn settings(f: &mut fmt::Formatter<'_>, it: &Settings) -> fmt::Result {
    let usual = Settings::default();
    write!(f, "set budget={:?}", it.budget)?;
    if let Some((name, _)) = profiles().into_iter().skip(1).find(|other| other.1 == it.profile) {
        write!(f, " profile={name}")?;
    }
    if let Some(burst) = it.burst {
        write!(f, " burst={burst:?}")?;
    }
    if it.host_gap != usual.host_gap {
        write!(f, " gap={:?}", it.host_gap)?;
    }
    if it.host_connections != usual.host_connections {
        write!(f, " connections={}", it.host_connections)?;
    }
    if let Some(days) = it.half_life {
        write!(f, " half-life={days:?}")?;
    }
    goal(f, Some(it.goal).filter(|&goal| !same_goal(goal, usual.goal)))?;
    if it.many != usual.many {
        write!(f, " many={}", it.many)?;
    }
    if it.paused { f.write_str(" paused") } else { Ok(()) }
}

/// Words of a line that is read.
type Words<'a> = std::str::SplitWhitespace<'a>;

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut case = Self { from: 0.0, settings: Settings::default(), happenings: Vec::new() };
        let mut begun = false;
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let mut words = line.split_whitespace();
            let said = match words.next() {
                None => continue,
                Some("from") => value(words.next().unwrap_or_default()).map(|day| case.from = day),
                Some("set") if !begun => {
                    begun = true;
                    read_settings(words).map(|it| case.settings = it)
                }
                Some(verb) => happening(verb, words).map(|it| case.happenings.push(it)),
            };
            said.map_err(|why| format!("line {}: `{line}`: {why}", number + 1))?;
        }
        Ok(case)
    }
}

fn value<T: FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("`{word}` cannot be read"))
}

fn happening(verb: &str, mut words: Words<'_>) -> Result<Happening, String> {
    let mut word = || words.next().ok_or("a word is missing");
    Ok(match verb {
        "+" => {
            let (first, count) = range(word()?)?;
            read_description(first, count, words)?
        }
        "-" => {
            let (first, count) = range(word()?)?;
            Happening::Remove { first, count }
        }
        "answer" => Happening::Answer { which: value(word()?)?, outcome: outcome(word()?)? },
        "fetched" => Happening::Fetched { id: value(word()?)?, outcome: outcome(word()?)? },
        "report" => Happening::Report {
            which: value(word()?)?,
            ago: value(word()?)?,
            outcome: outcome(word()?)?,
        },
        "put-off" => Happening::PutOff {
            which: value(word()?)?,
            days: value(word()?)?,
            unasked: words.next() == Some("unasked"),
        },
        "visit" => Happening::Visit { host: value(word()?)?, days: value(word()?)? },
        "visited" => Happening::Visited {
            host: value(word()?)?,
            failed: word()? == "failed",
            rest: words.next().map(value).transpose()?,
        },
        "signal" => Happening::Signal(value(word()?)?),
        "herald" => Happening::Herald {
            number: value(word()?)?,
            source: words.next().map(value).transpose()?,
        },
        "dismiss" => Happening::Dismiss(value(word()?)?),
        "heard" => Happening::Heard {
            id: value(word()?)?,
            herald: value(word()?)?,
            said: words.next().map(value).transpose()?,
        },
        "read" => Happening::Read { herald: value(word()?)?, found: value(word()?)? },
        "fetch" => Happening::Fetch(value(word()?)?),
        "gap" => Happening::Gap { host: value(word()?)?, days: value(word()?)? },
        "capacity" => Happening::Capacity(match word()? {
            "all" => u32::MAX,
            some => value(some)?,
        }),
        "withdraw" => Happening::Withdraw(value(word()?)?),
        "tick" => Happening::Tick,
        "set" => Happening::Set(read_settings(words)?),
        "clock" => Happening::Clock(value(word()?)?),
        "wait" => Happening::Wait(value(word()?)?),
        "run" => Happening::Run { days: value(word()?)?, seed: value(word()?)? },
        "snapshot" => Happening::Snapshot,
        "reopen" => Happening::Reopen,
        _ => return Err("nothing of that name happens".to_owned()),
    })
}

fn range(word: &str) -> Result<(u32, u32), String> {
    let Some((first, end)) = word.split_once("..") else { return Ok((value(word)?, 1)) };
    let (first, end): (u32, u32) = (value(first)?, value(end)?);
    Ok((first, end.saturating_sub(first)))
}

fn outcome(word: &str) -> Result<Outcome, String> {
    let mut parts = word.split(':');
    Ok(match (parts.next(), parts.next()) {
        (Some("changed"), None) => Outcome::Changed,
        (Some("unchanged"), None) => Outcome::Unchanged,
        (Some("copied"), None) => Outcome::Copied,
        (Some("gone"), None) => Outcome::Gone,
        (Some("failed"), Some(blame)) => {
            let blame = match blame {
                "host" => Blame::Host,
                "source" => Blame::Source,
                "us" => Blame::Us,
                _ => return Err(format!("nobody is called `{blame}`")),
            };
            Outcome::Failed { blame, retry_after: parts.next().map(value).transpose()? }
        }
        _ => return Err(format!("no fetch brings `{word}`")),
    })
}

fn read_description(id: u32, count: u32, words: Words<'_>) -> Result<Happening, String> {
    let mut it = Description::new(id);
    let mut hosts = 1;
    for word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("host", x) => it.host = value(x)?,
            ("hosts", x) => hosts = value(x)?,
            ("importance", x) => it.importance = value(x)?,
            ("cost", x) => it.cost = value(x)?,
            ("min", x) => it.min_interval = value(x)?,
            ("max", x) => it.max_interval = value(x)?,
            ("goal", x) => it.goal = Some(read_goal(x)?),
            ("observed", _) => it.observed = true,
            ("paused", _) => it.paused = true,
            ("copy", x) => it.fetched = Some(value(x)?),
            ("belief", x) => {
                let (shape, days) = x.split_once('/').ok_or("a belief is shape/days")?;
                let belief = Belief::new(value(shape)?, value(days)?);
                it.belief = Some(belief.map_err(|why| why.to_string())?);
            }
            _ => return Err(format!("a source has no `{word}`")),
        }
    }
    Ok(Happening::Describe { first: it, count, hosts })
}

fn read_goal(name: &str) -> Result<Goal, String> {
    let goal = goals().into_iter().find(|it| it.0 == name);
    goal.map(|it| it.1).ok_or_else(|| format!("no goal is called `{name}`"))
}

fn read_settings(words: Words<'_>) -> Result<Settings, String> {
    let mut it = Settings::default();
    for word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("budget", x) => it.budget = value(x)?,
            ("profile", x) => {
                let profile = profiles().into_iter().find(|it| it.0 == x);
                it.profile = profile.ok_or_else(|| format!("no profile is called `{x}`"))?.1;
            }
            ("burst", x) => it.burst = Some(value(x)?),
            ("gap", x) => it.host_gap = value(x)?,
            ("connections", x) => it.host_connections = value(x)?,
            ("half-life", x) => it.half_life = Some(value(x)?),
            ("goal", x) => it.goal = read_goal(x)?,
            ("many", x) => it.many = value(x)?,
            ("paused", _) => it.paused = true,
            _ => return Err(format!("there is no setting `{word}`")),
        }
    }
    Ok(it)
}
