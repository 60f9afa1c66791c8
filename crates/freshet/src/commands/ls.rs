//! `freshet ls`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use freshet_daemon::{explain_each_offline, parse_host_filter};
use freshet_store::{Reader, Source, SourceQuery, SourceState};
use serde::Serialize;

use crate::clock;
use crate::commands::instance::{ConfigArguments, Instance};
use crate::failure::Failure;
use crate::number::{format_significant, pluralize};
use crate::output::{print_line, print_note, print_text, to_json_line};
use crate::time_format::{format_duration, format_last, format_next, rfc3339};

/// List sources
///
/// Sources are listed in the order in which they were added.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet ls
  freshet ls --tag news --state failing
  freshet ls --host example.com --limit 0 --json")]
pub(crate) struct LsArguments {
    /// List only sources with this tag
    #[arg(long, value_name = "NAME")]
    pub(crate) tag: Option<String>,

    /// List only sources of this host, at all ports unless one is given
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,

    /// List only sources in this state
    #[arg(long, value_name = "STATE", value_enum)]
    pub(crate) state: Option<StateName>,

    /// List only sources with this text in their URL
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,

    /// Maximum number of sources; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,

    /// Print the sources as JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateName {
    /// Never fetched
    New,
    /// The last fetch returned or confirmed the copy
    Good,
    /// The last fetch failed
    Failing,
    /// The source no longer exists
    Gone,
    /// Not allowed by robots.txt or by the address guard
    Disallowed,
    /// Paused by the user
    Paused,
}

/// Returns the name of the state of a source.
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

/// JSON object of a source.
#[derive(Serialize)]
pub(crate) struct SourceRow {
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

impl SourceRow {
    pub(crate) fn new(
        source: &Source,
        host: &SourceHost,
        changes_a_day: Option<f64>,
        now: i64,
    ) -> Self {
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
            next: host.next_fetch(source).or(host.cooldown(source, now)).map(rfc3339),
            host_rests_until: host.cooldown(source, now).map(rfc3339),
            fetches: source.fetches,
            failures: source.failures,
            versions: source.version,
            changes_a_day,
        }
    }
}

/// Host of a source, with its cooldown.
#[derive(Clone, Default)]
pub(crate) struct SourceHost {
    pub(crate) name: String,
    pub(crate) cooldown_until: Option<i64>,
    /// True if the budget is 0, so that nothing is fetched automatically.
    pub(crate) idle: bool,
}

impl SourceHost {
    pub(crate) fn find(reader: &Reader, host: u32) -> Result<Self, Failure> {
        let host = reader.host(host)?.map(|it| Self {
            name: it.name,
            cooldown_until: it.cooldown_until,
            idle: false,
        });
        Ok(host.unwrap_or_default())
    }

    /// Returns the time of the next fetch of a source: when it is due and the cooldown has ended.
    pub(crate) fn next_fetch(&self, source: &Source) -> Option<i64> {
        let due = source.due_at.filter(|_| !source.paused && !self.idle)?;
        Some(self.cooldown_until.map_or(due, |until| due.max(until)))
    }

    /// Returns the end of the cooldown of the host, if the source is due before it.
    pub(crate) fn cooldown(&self, source: &Source, now: i64) -> Option<i64> {
        let until = self.cooldown_until.filter(|until| *until > now + MIN_SHOWN_COOLDOWN)?;
        (!source.paused && !self.idle && source.due_at.is_none_or(|due| until >= due))
            .then_some(until)
    }
}

/// Minimum cooldown that is shown, in milliseconds; shorter ones are gaps between fetches.
const MIN_SHOWN_COOLDOWN: i64 = 5_000;

/// Number of sources that are read at once.
const PAGE_SIZE: usize = 1000;

pub(crate) fn run(arguments: &LsArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let reader = instance.reader()?;
    let now = clock::now_millis();
    let Some(mut query) = new_query(arguments, &reader)? else {
        let host = arguments.host.as_deref().unwrap_or_default();
        print_note(&format!("there are no sources of the host `{host}`"));
        return Ok(ExitCode::SUCCESS);
    };
    let idle = instance.has_zero_budget(&reader)?;
    let mut remaining = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    let mut shown = 0;
    // Reading the estimates of one page takes as long as reading all of them.
    let all_rates = match remaining > PAGE_SIZE {
        true => Some(ChangeRates::for_all(&instance, &reader, now)?),
        false => None,
    };
    loop {
        query.limit = remaining.min(PAGE_SIZE);
        let page = reader.list_sources(&query)?;
        let page_rates = match all_rates {
            Some(_) => None,
            None => Some(ChangeRates::for_sources(&instance, &reader, &page.sources, now)?),
        };
        let rates = all_rates.as_ref().or(page_rates.as_ref());
        let rate = |source: &Source| rates.and_then(|rates| rates.get(source));
        let mut hosts: HashMap<u32, SourceHost> = HashMap::new();
        for source in &page.sources {
            if let Entry::Vacant(place) = hosts.entry(source.host) {
                place.insert(SourceHost { idle, ..SourceHost::find(&reader, source.host)? });
            }
        }
        if arguments.json {
            let mut lines = Vec::with_capacity(page.sources.len());
            for source in &page.sources {
                lines.push(to_json_line(&SourceRow::new(
                    source,
                    &hosts[&source.host],
                    rate(source),
                    now,
                ))?);
            }
            if !lines.is_empty() && !print_line(&lines.join("\n"))? {
                return Ok(ExitCode::SUCCESS);
            }
        } else if !page.sources.is_empty() {
            print_text(&table(&page.sources, rate, &hosts, now, shown == 0))?;
        }
        shown += page.sources.len();
        remaining -= page.sources.len();
        query.after = page.next_after;
        if query.after.is_none() || remaining == 0 {
            break;
        }
    }
    if !arguments.json {
        let all = reader.count_sources(&SourceQuery { after: None, ..query })? as usize;
        match (all, shown) {
            (0, _) if reader.count_sources(&SourceQuery::default())? == 0 => {
                print_note(
                    "no sources yet\n\nhint: add some with `freshet add https://example.com/`",
                );
            }
            (0, _) => print_note("no matching sources"),
            _ if shown < all => {
                let all = pluralize(all, "source", "sources");
                print_note(&format!("{shown} of {all}; more with --limit 0"));
            }
            _ => print_note(&pluralize(all, "source", "sources")),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Restricts a query to the sources of a host. Returns false if there is no such host.
pub(crate) fn filter_by_host(
    query: &mut SourceQuery,
    reader: &Reader,
    name: &str,
) -> Result<bool, Failure> {
    let filter = parse_host_filter(name).map_err(Failure::new)?;
    query.url_prefix = filter.url_prefix;
    query.hosts = reader.find_hosts(&filter)?.iter().map(|host| host.id).collect();
    Ok(!query.hosts.is_empty())
}

/// Returns the query for the arguments, or `None` if there is no such host.
fn new_query(arguments: &LsArguments, reader: &Reader) -> Result<Option<SourceQuery>, Failure> {
    let mut query = SourceQuery {
        tag: arguments.tag.clone(),
        url_contains: arguments.text.clone(),
        ..SourceQuery::default()
    };
    if let Some(name) = &arguments.host
        && !filter_by_host(&mut query, reader, name)?
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

/// Estimated changes per day of the sources with a copy, by source id.
pub(crate) struct ChangeRates(HashMap<u32, f32>);

impl ChangeRates {
    /// Reads the estimates of all sources.
    pub(crate) fn for_all(instance: &Instance, reader: &Reader, now: i64) -> Result<Self, Failure> {
        Self::read(instance, reader, now, None)
    }

    fn for_sources(
        instance: &Instance,
        reader: &Reader,
        sources: &[Source],
        now: i64,
    ) -> Result<Self, Failure> {
        let ids: Vec<u32> = sources.iter().map(|source| source.id).collect();
        match ids.is_empty() {
            true => Ok(Self(HashMap::new())),
            false => Self::read(instance, reader, now, Some(&ids)),
        }
    }

    fn read(
        instance: &Instance,
        reader: &Reader,
        now: i64,
        ids: Option<&[u32]>,
    ) -> Result<Self, Failure> {
        let mut rates = HashMap::new();
        explain_each_offline(&instance.config, reader, now, ids, |id, explained| {
            if explained.last_fetch.is_some() {
                rates.insert(id, explained.belief.mean() as f32);
            }
        })?;
        Ok(Self(rates))
    }

    /// Returns the estimate of a source.
    pub(crate) fn get(&self, source: &Source) -> Option<f64> {
        self.0.get(&source.id).map(|rate| f64::from(*rate))
    }
}

/// Formats the mean time between changes.
fn change_interval(changes_a_day: f64) -> String {
    match 1.0 / changes_a_day {
        days if days < MAX_INTERVAL_DAYS => format_duration((days * 86_400_000.0) as i64),
        _ => "–".to_owned(),
    }
}

/// Change intervals of more days than this are not shown.
const MAX_INTERVAL_DAYS: f64 = 1e6;

fn table(
    sources: &[Source],
    rate: impl Fn(&Source) -> Option<f64>,
    hosts: &HashMap<u32, SourceHost>,
    now: i64,
    head: bool,
) -> String {
    let mut out = String::new();
    if head {
        out.push_str(
            "importance     fetched     changed  next fetch  changes every  state       URL\n",
        );
    }
    for source in sources {
        let host = &hosts[&source.host];
        let cooldown = host.cooldown(source, now);
        let due = host.next_fetch(source).filter(|_| source.state != SourceState::New).or(cooldown);
        let remark = if cooldown.is_some() { "  (host in cooldown)" } else { "" };
        let line = format!(
            "{:>10}  {:>10}  {:>10}  {:>10}  {:>13}  {:<10}  {}{remark}\n",
            format_significant(source.importance),
            format_last(source.fetched_at, now),
            format_last(source.changed_at, now),
            format_next(due, now),
            rate(source).map_or_else(|| "–".to_owned(), change_interval),
            state_name(source),
            crate::terminal::sanitize_line(&source.url),
        );
        out.push_str(&line);
    }
    out
}
