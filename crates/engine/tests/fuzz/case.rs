//! Test cases: steps that happen to an engine, as text, one line per step.
//!
//! ```text
//! from 20000                      day on which the engine is created
//! set budget=100 burst=20         settings; omitted ones have their default
//! + 3 host=1 importance=2         adds a source; `+ 100..3100 hosts=7`: many, spread over 7 hosts
//! - 3                             removes a source, or `100..3100`
//! answer 0 changed                result of the n-th oldest fetch in flight
//! fetched 3 gone                  result of a source's fetch, whether or not it is in flight
//! report 0 0.5 changed            as `answer`, for a fetch made so many days ago
//! put-off 0 0.5                   defers a fetch by days; `put-off 0 0.5 unsent`: no request was sent
//! visit 1 0.01                    request to a host outside its sources, in so many days
//! visited 1 failed                end of that request; `finish_host_request 1 fine 0.5`: with a requested pause
//! signal 3                        an observed source has changed
//! signal-source 1 3               adds a signal source, optionally read through a source
//! remove-signal-source 1          removes it
//! signal-received 3 1 0.5         a signal about a source, optionally with the age of the change
//! read 1 4                        a signal source was read and found so many sources
//! capacity 5                      adds capacity; `all`: unlimited
//! tick                            time has passed
//! clock -2                        moves the caller's clock; `NaN`: the next event has no day
//! wait 0.5                        ticks when they are requested; `wait 0`: until nothing is left to do
//! run 0.5 7                       the same, with answers generated from a seed
//! snapshot                        continues with a restored engine beside the original
//! reopen                          continues with an engine that resumes from checkpoints
//! ```

use std::fmt;
use std::str::FromStr;

use freshet_engine::{
    BudgetProfile, EngineSettings, FailureCause, FetchResult, Goal, SourceDescription,
};
use freshet_estimate::{Belief, CaptureObjective, Penalty, UpdateLifetime, Urgency};

/// A step of a test case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// `count` sources with consecutive numbers, spread over `hosts` hosts. The day of the copy is
    /// its age until the step runs.
    Describe {
        first: SourceDescription,
        count: u32,
        hosts: u32,
    },
    Remove {
        first: u32,
        count: u32,
    },
    Answer {
        index: usize,
        outcome: FetchResult,
    },
    Fetched {
        id: u32,
        outcome: FetchResult,
    },
    Report {
        index: usize,
        ago: f64,
        outcome: FetchResult,
    },
    PutOff {
        index: usize,
        days: f64,
        unsent: bool,
    },
    Visit {
        host: u32,
        days: f64,
    },
    Visited {
        host: u32,
        retry_after: Option<f64>,
        failed: bool,
    },
    Signal(u32),
    SignalSource {
        number: u32,
        source: Option<u32>,
    },
    RemoveSignalSource(u32),
    SignalReceived {
        id: u32,
        signal_source: u32,
        change_time: Option<f64>,
    },
    Read {
        signal_source: u32,
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
    Set(EngineSettings),
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
    pub(crate) settings: EngineSettings,
    pub(crate) steps: Vec<Step>,
}

/// The output of a failing case can be replayed.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "from {:?}", self.from)?;
        writeln!(f, "{}", Step::Set(self.settings))?;
        self.steps.iter().try_for_each(|it| writeln!(f, "{it}"))
    }
}

fn capture(life: UpdateLifetime, urgency: Urgency) -> Goal {
    Goal::Capture(CaptureObjective { life, urgency })
}

/// Goals by name; the last two are invalid.
pub(crate) fn goals() -> [(&'static str, Goal); 9] {
    [
        ("harmonic", Goal::KeepFresh(Penalty::Harmonic)),
        ("freshness", Goal::KeepFresh(Penalty::Freshness)),
        ("age", Goal::KeepFresh(Penalty::Age)),
        ("append", capture(UpdateLifetime::Append, Urgency::Uniform)),
        ("overwrite", capture(UpdateLifetime::OVERWRITE, Urgency::Decay(0.5))),
        ("news", capture(UpdateLifetime::Changes(20), Urgency::Uniform)),
        ("window", capture(UpdateLifetime::Window(3.0), Urgency::Window(1.0))),
        ("no-life", capture(UpdateLifetime::Changes(0), Urgency::Uniform)),
        ("no-urgency", capture(UpdateLifetime::Append, Urgency::Decay(f32::NAN))),
    ]
}

/// Budget profiles by name.
pub(crate) fn profiles() -> [(&'static str, BudgetProfile); 4] {
    let of = |weight: fn(usize) -> f64| {
        BudgetProfile::new(std::array::from_fn(weight)).expect("valid weights")
    };
    [
        ("even", BudgetProfile::EVEN),
        ("night", of(|hour| f64::from(u8::from(hour < 6)))),
        ("hour", of(|hour| f64::from(u8::from(hour == 13)))),
        ("slope", of(|hour| hour as f64)),
    ]
}

fn same_goal(one: Goal, other: Goal) -> bool {
    // One of them contains a NaN.
    format!("{one:?}") == format!("{other:?}")
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Describe { first, count, hosts } => {
                f.write_str("+ ")?;
                write_range(f, first.id, count)?;
                if hosts > 1 {
                    write!(f, " hosts={hosts}")?;
                }
                description(f, &first)
            }
            Self::Remove { first, count } => {
                f.write_str("- ")?;
                write_range(f, first, count)
            }
            Self::Answer { index, outcome } => {
                write!(f, "answer {index} ")?;
                write_outcome(f, outcome)
            }
            Self::Fetched { id, outcome } => {
                write!(f, "fetched {id} ")?;
                write_outcome(f, outcome)
            }
            Self::Report { index, ago, outcome } => {
                write!(f, "report {index} {ago:?} ")?;
                write_outcome(f, outcome)
            }
            Self::PutOff { index, days, unsent } => {
                write!(f, "put-off {index} {days:?}{}", if unsent { " unsent" } else { "" })
            }
            Self::Visit { host, days } => write!(f, "visit {host} {days:?}"),
            Self::Visited { host, retry_after, failed } => {
                write!(f, "visited {host} {}", if failed { "failed" } else { "fine" })?;
                retry_after.map_or(Ok(()), |days| write!(f, " {days:?}"))
            }
            Self::Signal(id) => write!(f, "signal {id}"),
            Self::SignalSource { number, source } => {
                write!(f, "signal-source {number}")?;
                source.map_or(Ok(()), |id| write!(f, " {id}"))
            }
            Self::RemoveSignalSource(number) => write!(f, "remove-signal-source {number}"),
            Self::SignalReceived { id, signal_source, change_time } => {
                write!(f, "signal-received {id} {signal_source}")?;
                change_time.map_or(Ok(()), |day| write!(f, " {day:?}"))
            }
            Self::Read { signal_source, found } => write!(f, "read {signal_source} {found}"),
            Self::Fetch(id) => write!(f, "fetch {id}"),
            Self::Gap { host, days } => write!(f, "gap {host} {days:?}"),
            Self::Capacity(u32::MAX) => f.write_str("capacity all"),
            Self::Capacity(items) => write!(f, "capacity {items}"),
            Self::Withdraw(items) => write!(f, "withdraw {items}"),
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

fn write_range(f: &mut fmt::Formatter<'_>, first: u32, count: u32) -> fmt::Result {
    match count {
        1 => write!(f, "{first}"),
        _ => write!(f, "{first}..{}", first.saturating_add(count)),
    }
}

fn write_outcome(f: &mut fmt::Formatter<'_>, outcome: FetchResult) -> fmt::Result {
    match outcome {
        FetchResult::Changed => f.write_str("changed"),
        FetchResult::Unchanged => f.write_str("unchanged"),
        FetchResult::Uncompared => f.write_str("copied"),
        FetchResult::Gone => f.write_str("gone"),
        FetchResult::Failed { cause, retry_after } => {
            let cause = match cause {
                FailureCause::Host => "host",
                FailureCause::Source => "source",
                FailureCause::Us => "us",
            };
            write!(f, "failed:{cause}")?;
            retry_after.map_or(Ok(()), |days| write!(f, ":{days:?}"))
        }
    }
}

fn description(f: &mut fmt::Formatter<'_>, it: &SourceDescription) -> fmt::Result {
    let default = SourceDescription::new(it.id);
    if it.host != default.host {
        write!(f, " host={}", it.host)?;
    }
    let amounts = [
        ("importance", it.importance, default.importance),
        ("cost", it.cost, default.cost),
        ("min", it.min_interval, default.min_interval),
        ("max", it.max_interval, default.max_interval),
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
    if let Some(age) = it.last_fetch {
        write!(f, " copy={age:?}")?;
    }
    it.belief.map_or(Ok(()), |it| write!(f, " belief={:?}/{:?}", it.shape(), it.days()))
}

fn goal(f: &mut fmt::Formatter<'_>, goal: Option<Goal>) -> fmt::Result {
    let name = goal.and_then(|goal| goals().into_iter().find(|it| same_goal(it.1, goal)));
    name.map_or(Ok(()), |(name, _)| write!(f, " goal={name}"))
}

fn settings(f: &mut fmt::Formatter<'_>, it: &EngineSettings) -> fmt::Result {
    let default = EngineSettings::default();
    write!(f, "set budget={:?}", it.budget)?;
    if let Some((name, _)) = profiles().into_iter().skip(1).find(|other| other.1 == it.profile) {
        write!(f, " profile={name}")?;
    }
    if let Some(burst) = it.burst {
        write!(f, " burst={burst:?}")?;
    }
    if it.host_gap != default.host_gap {
        write!(f, " gap={:?}", it.host_gap)?;
    }
    if it.host_connections != default.host_connections {
        write!(f, " connections={}", it.host_connections)?;
    }
    if let Some(days) = it.half_life {
        write!(f, " half-life={days:?}")?;
    }
    goal(f, Some(it.goal).filter(|&goal| !same_goal(goal, default.goal)))?;
    if it.large_set_threshold != default.large_set_threshold {
        write!(f, " many={}", it.large_set_threshold)?;
    }
    if it.paused { f.write_str(" paused") } else { Ok(()) }
}

/// Words of a line.
type Words<'a> = std::str::SplitWhitespace<'a>;

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut case = Self { from: 0.0, settings: EngineSettings::default(), steps: Vec::new() };
        let mut begun = false;
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let mut words = line.split_whitespace();
            let change_time = match words.next() {
                None => continue,
                Some("from") => value(words.next().unwrap_or_default()).map(|day| case.from = day),
                Some("set") if !begun => {
                    begun = true;
                    read_settings(words).map(|it| case.settings = it)
                }
                Some(verb) => read_step(verb, words).map(|it| case.steps.push(it)),
            };
            change_time.map_err(|why| format!("line {}: `{line}`: {why}", number + 1))?;
        }
        Ok(case)
    }
}

fn value<T: FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("`{word}` cannot be read"))
}

fn read_step(verb: &str, mut words: Words<'_>) -> Result<Step, String> {
    let mut word = || words.next().ok_or("missing word");
    Ok(match verb {
        "+" => {
            let (first, count) = range(word()?)?;
            read_description(first, count, words)?
        }
        "-" => {
            let (first, count) = range(word()?)?;
            Step::Remove { first, count }
        }
        "answer" => Step::Answer { index: value(word()?)?, outcome: outcome(word()?)? },
        "fetched" => Step::Fetched { id: value(word()?)?, outcome: outcome(word()?)? },
        "report" => Step::Report {
            index: value(word()?)?,
            ago: value(word()?)?,
            outcome: outcome(word()?)?,
        },
        "put-off" => Step::PutOff {
            index: value(word()?)?,
            days: value(word()?)?,
            unsent: words.next() == Some("unsent"),
        },
        "visit" => Step::Visit { host: value(word()?)?, days: value(word()?)? },
        "visited" => Step::Visited {
            host: value(word()?)?,
            failed: word()? == "failed",
            retry_after: words.next().map(value).transpose()?,
        },
        "signal" => Step::Signal(value(word()?)?),
        "signal-source" => Step::SignalSource {
            number: value(word()?)?,
            source: words.next().map(value).transpose()?,
        },
        "remove-signal-source" => Step::RemoveSignalSource(value(word()?)?),
        "signal-received" => Step::SignalReceived {
            id: value(word()?)?,
            signal_source: value(word()?)?,
            change_time: words.next().map(value).transpose()?,
        },
        "read" => Step::Read { signal_source: value(word()?)?, found: value(word()?)? },
        "fetch" => Step::Fetch(value(word()?)?),
        "gap" => Step::Gap { host: value(word()?)?, days: value(word()?)? },
        "capacity" => Step::Capacity(match word()? {
            "all" => u32::MAX,
            items => value(items)?,
        }),
        "withdraw" => Step::Withdraw(value(word()?)?),
        "tick" => Step::Tick,
        "set" => Step::Set(read_settings(words)?),
        "clock" => Step::Clock(value(word()?)?),
        "wait" => Step::Wait(value(word()?)?),
        "run" => Step::Run { days: value(word()?)?, seed: value(word()?)? },
        "snapshot" => Step::Snapshot,
        "reopen" => Step::Reopen,
        _ => return Err("unknown step".to_owned()),
    })
}

fn range(word: &str) -> Result<(u32, u32), String> {
    let Some((first, final_engine)) = word.split_once("..") else { return Ok((value(word)?, 1)) };
    let (first, final_engine): (u32, u32) = (value(first)?, value(final_engine)?);
    Ok((first, final_engine.saturating_sub(first)))
}

fn outcome(word: &str) -> Result<FetchResult, String> {
    let mut parts = word.split(':');
    Ok(match (parts.next(), parts.next()) {
        (Some("changed"), None) => FetchResult::Changed,
        (Some("unchanged"), None) => FetchResult::Unchanged,
        (Some("copied"), None) => FetchResult::Uncompared,
        (Some("gone"), None) => FetchResult::Gone,
        (Some("failed"), Some(cause)) => {
            let cause = match cause {
                "host" => FailureCause::Host,
                "source" => FailureCause::Source,
                "us" => FailureCause::Us,
                _ => return Err(format!("unknown cause: `{cause}`")),
            };
            FetchResult::Failed { cause, retry_after: parts.next().map(value).transpose()? }
        }
        _ => return Err(format!("unknown fetch result: `{word}`")),
    })
}

fn read_description(id: u32, count: u32, words: Words<'_>) -> Result<Step, String> {
    let mut it = SourceDescription::new(id);
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
            ("copy", x) => it.last_fetch = Some(value(x)?),
            ("belief", x) => {
                let (shape, days) = x.split_once('/').ok_or("a belief is shape/days")?;
                let belief = Belief::new(value(shape)?, value(days)?);
                it.belief = Some(belief.map_err(|why| why.to_string())?);
            }
            _ => return Err(format!("unknown source option: `{word}`")),
        }
    }
    Ok(Step::Describe { first: it, count, hosts })
}

fn read_goal(name: &str) -> Result<Goal, String> {
    let goal = goals().into_iter().find(|it| it.0 == name);
    goal.map(|it| it.1).ok_or_else(|| format!("unknown goal: `{name}`"))
}

fn read_settings(words: Words<'_>) -> Result<EngineSettings, String> {
    let mut it = EngineSettings::default();
    for word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("budget", x) => it.budget = value(x)?,
            ("profile", x) => {
                let profile = profiles().into_iter().find(|it| it.0 == x);
                it.profile = profile.ok_or_else(|| format!("unknown profile: `{x}`"))?.1;
            }
            ("burst", x) => it.burst = Some(value(x)?),
            ("gap", x) => it.host_gap = value(x)?,
            ("connections", x) => it.host_connections = value(x)?,
            ("half-life", x) => it.half_life = Some(value(x)?),
            ("goal", x) => it.goal = read_goal(x)?,
            ("many", x) => it.large_set_threshold = value(x)?,
            ("paused", _) => it.paused = true,
            _ => return Err(format!("unknown setting: `{word}`")),
        }
    }
    Ok(it)
}
