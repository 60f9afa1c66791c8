//! `freshet ls`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use freshet_daemon::{beliefs, host_filter};
use freshet_store::{Reader, Source, SourceQuery, SourceState};
use serde::Serialize;

use crate::clock;
use crate::commands::instance::{ConfigArguments, Home};
use crate::failure::Failure;
use crate::number::{plural, significant};
use crate::output::{json_line, note, print_line, print_text};
use crate::time_format::{last, next, rfc3339};

/// List sources
///
/// In the order in which they were added. With --json, one object on a line for each.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet ls
  freshet ls --tag news --state failing
  freshet ls --host example.com --limit 0 --json")]
pub(crate) struct LsArguments {
    /// Only those with this tag
    #[arg(long, value_name = "NAME")]
    pub(crate) tag: Option<String>,

    /// Only those of this host: at all its ports, unless one is given
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,

    /// Only those in this state
    #[arg(long, value_name = "STATE", value_enum)]
    pub(crate) state: Option<StateName>,

    /// Only those with this in their URL
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,

    /// How many at most; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,

    /// Print them as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateName {
    /// Never fetched
    New,
    /// The last fetch brought a copy, or confirmed it
    Good,
    /// The last fetch failed
    Failing,
    /// It does not exist any more
    Gone,
    /// The host does not want it fetched, or the guard does not
    Disallowed,
    /// Left alone by its owner
    Paused,
}

/// What a source is called in a column.
pub(crate) fn state_name(source: &Source) -> &'static str {
    if source.paused {
        return "paused";
    }
    match source.state {
        SourceState::New => "new",
        SourceState::Good => "good",
        SourceState::Failing => "failing",
        SourceState::Gone => "gone",
        SourceState::Disallowed => "disallowed",
    }
}

/// A source as programs read it.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) url: String,
    host: String,
    importance: f64,
    cost: f64,
    min_interval_days: Option<f64>,
    max_interval_days: Option<f64>,
    tags: Vec<String>,
    objective: Option<String>,
    settings: Option<serde_json::Value>,
    state: &'static str,
    paused: bool,
    observed: bool,
    added: String,
    fetched: Option<String>,
    tried: Option<String>,
    changed: Option<String>,
    next: Option<String>,
    host_rests_until: Option<String>,
    fetches: u64,
    failures: u32,
    versions: u32,
    changes_a_day: Option<f64>,
}

impl Row {
    pub(crate) fn of(source: &Source, host: &HostOf, changes_a_day: Option<f64>, now: i64) -> Self {
        let text = |text: &String| (!text.is_empty()).then(|| text.clone());
        Self {
            url: source.url.clone(),
            host: host.name.clone(),
            importance: source.importance,
            cost: source.cost,
            min_interval_days: Some(source.min_interval).filter(|days| *days > 0.0),
            max_interval_days: Some(source.max_interval).filter(|days| days.is_finite()),
            tags: source.tags.clone(),
            objective: text(&source.goal),
            settings: serde_json::from_str(&source.settings).ok(),
            state: state_name(source),
            paused: source.paused,
            observed: source.observed,
            added: rfc3339(source.added_at),
            fetched: source.fetched_at.map(rfc3339),
            tried: source.attempted_at.map(rfc3339),
            changed: source.changed_at.map(rfc3339),
            next: host.next(source).or(host.rests(source, now)).map(rfc3339),
            host_rests_until: host.rests(source, now).map(rfc3339),
            fetches: source.fetches,
            failures: source.failures,
            versions: source.version,
            changes_a_day,
        }
    }
}

/// The host of a source, and until when it is left alone.
#[derive(Clone, Default)]
pub(crate) struct HostOf {
    pub(crate) name: String,
    pub(crate) until: Option<i64>,
    /// Whether nothing is fetched but by hand.
    pub(crate) idle: bool,
}

impl HostOf {
    pub(crate) fn find(reader: &Reader, host: u32) -> Result<Self, Failure> {
        let host = reader.host(host)?.map(|it| Self {
            name: it.name,
            until: it.cooldown_until,
            idle: false,
        });
        Ok(host.unwrap_or_default())
    }

    /// When a source is fetched next: when it is due and its host may be asked.
    pub(crate) fn next(&self, source: &Source) -> Option<i64> {
        let due = source.due_at.filter(|_| !source.paused && !self.idle)?;
        Some(self.until.map_or(due, |until| due.max(until)))
    }

    /// Until when the host is left alone, if that is what the source waits for.
    pub(crate) fn rests(&self, source: &Source, now: i64) -> Option<i64> {
        let until = self.until.filter(|until| *until > now + SHORT)?;
        (!source.paused && !self.idle && source.due_at.is_none_or(|due| until >= due))
            .then_some(until)
    }
}

/// A rest that is nothing to tell of: the usual gap between two fetches, in milliseconds.
const SHORT: i64 = 5_000;

/// Sources that are looked up at once.
const PAGE: usize = 1000;

pub(crate) fn run(arguments: &LsArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let reader = home.reader()?;
    let now = clock::millis();
    let Some(mut query) = query(arguments, &reader)? else {
        let host = arguments.host.as_deref().unwrap_or_default();
        note(&format!("no source of the host `{host}`"));
        return Ok(ExitCode::SUCCESS);
    };
    let idle = home.rests(&reader)?;
    let mut left = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    let mut shown = 0;
    // To find some among all takes as long as to read all: once is enough.
    let of_all = match left > PAGE {
        true => Some(Rates::of_all(&home, &reader, now)?),
        false => None,
    };
    loop {
        query.limit = left.min(PAGE);
        let page = reader.list_sources(&query)?;
        let of_some = match of_all {
            Some(_) => None,
            None => Some(Rates::of_some(&home, &reader, &page.sources, now)?),
        };
        let rates = of_all.as_ref().or(of_some.as_ref());
        let rate = |source: &Source| rates.and_then(|rates| rates.of(source));
        let mut hosts: HashMap<u32, HostOf> = HashMap::new();
        for source in &page.sources {
            if let Entry::Vacant(place) = hosts.entry(source.host) {
                place.insert(HostOf { idle, ..HostOf::find(&reader, source.host)? });
            }
        }
        if arguments.json {
            let mut lines = Vec::with_capacity(page.sources.len());
            for source in &page.sources {
                lines.push(json_line(&Row::of(source, &hosts[&source.host], rate(source), now))?);
            }
            if !lines.is_empty() && !print_line(&lines.join("\n"))? {
                return Ok(ExitCode::SUCCESS);
            }
        } else if !page.sources.is_empty() {
            print_text(&table(&page.sources, rate, &hosts, now, shown == 0))?;
        }
        shown += page.sources.len();
        left -= page.sources.len();
        query.after = page.next;
        if query.after.is_none() || left == 0 {
            break;
        }
    }
    if !arguments.json {
        let all = reader.count_sources(&SourceQuery { after: None, ..query })? as usize;
        match (all, shown) {
            (0, _) if reader.count_sources(&SourceQuery::default())? == 0 => {
                note("no sources yet\n\nhint: add some with `freshet add https://example.com/`");
            }
            (0, _) => note("no such sources"),
            _ if shown < all => {
                let all = plural(all, "source", "sources");
                note(&format!("{shown} of {all}; more with --limit 0"));
            }
            _ => note(&plural(all, "source", "sources")),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks for sources of a host. Says whether there is such a one.
pub(crate) fn of_host(
    query: &mut SourceQuery,
    reader: &Reader,
    name: &str,
) -> Result<bool, Failure> {
    let filter = host_filter(name).map_err(Failure::new)?;
    query.scheme = filter.scheme;
    query.hosts = reader.find_hosts(&filter)?.iter().map(|host| host.id).collect();
    Ok(!query.hosts.is_empty())
}

/// What is asked for; nothing if there is no such host.
fn query(arguments: &LsArguments, reader: &Reader) -> Result<Option<SourceQuery>, Failure> {
    let mut query = SourceQuery {
        tag: arguments.tag.clone(),
        text: arguments.text.clone(),
        ..SourceQuery::default()
    };
    if let Some(name) = &arguments.host
        && !of_host(&mut query, reader, name)?
    {
        return Ok(None);
    }
    query.state = match arguments.state {
        None | Some(StateName::Paused) => None,
        Some(StateName::New) => Some(SourceState::New),
        Some(StateName::Good) => Some(SourceState::Good),
        Some(StateName::Failing) => Some(SourceState::Failing),
        Some(StateName::Gone) => Some(SourceState::Gone),
        Some(StateName::Disallowed) => Some(SourceState::Disallowed),
    };
    query.paused = arguments.state.map(|state| state == StateName::Paused);
    Ok(Some(query))
}

/// Changes a day, as far as is believed, by the numbers of sources that there is a copy of.
pub(crate) struct Rates(HashMap<u32, f32>);

impl Rates {
    /// Of all sources.
    pub(crate) fn of_all(home: &Home, reader: &Reader, now: i64) -> Result<Self, Failure> {
        Self::of_those(home, reader, now, None)
    }

    fn of_some(
        home: &Home,
        reader: &Reader,
        sources: &[Source],
        now: i64,
    ) -> Result<Self, Failure> {
        let ids: Vec<u32> = sources.iter().map(|source| source.id).collect();
        match ids.is_empty() {
            true => Ok(Self(HashMap::new())),
            false => Self::of_those(home, reader, now, Some(&ids)),
        }
    }

    fn of_those(
        home: &Home,
        reader: &Reader,
        now: i64,
        wanted: Option<&[u32]>,
    ) -> Result<Self, Failure> {
        let mut rates = HashMap::new();
        beliefs(&home.config, reader, now, wanted, |id, explained| {
            if explained.last.is_some() {
                rates.insert(id, explained.belief.mean() as f32);
            }
        })?;
        Ok(Self(rates))
    }

    /// Of one of them.
    pub(crate) fn of(&self, source: &Source) -> Option<f64> {
        self.0.get(&source.id).map(|rate| f64::from(*rate))
    }
}

fn table(
    sources: &[Source],
    rate: impl Fn(&Source) -> Option<f64>,
    hosts: &HashMap<u32, HostOf>,
    now: i64,
    head: bool,
) -> String {
    let mut out = String::new();
    if head {
        out.push_str(
            "importance     fetched     changed        next  changes/day  state       URL\n",
        );
    }
    for source in sources {
        let host = &hosts[&source.host];
        let rests = host.rests(source, now);
        let due = host.next(source).filter(|_| source.state != SourceState::New).or(rests);
        let why = if rests.is_some() { "  (its host rests)" } else { "" };
        let line = format!(
            "{:>10}  {:>10}  {:>10}  {:>10}  {:>11}  {:<10}  {}{why}\n",
            significant(source.importance),
            last(source.fetched_at, now),
            last(source.changed_at, now),
            next(due, now),
            rate(source).map_or_else(|| "–".to_owned(), significant),
            state_name(source),
            crate::terminal::line(&source.url),
        );
        out.push_str(&line);
    }
    out
}
