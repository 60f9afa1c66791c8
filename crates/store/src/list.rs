//! Finding sources. Those that are read to hear heralds are found by their numbers only.

use std::borrow::Cow;

use rusqlite::{Row, ToSql};

use crate::add::look_up;
use crate::error::StoreError;
use crate::meta::counter;
use crate::outcome::SourceState;
use crate::reader::Reader;
use crate::source::{OBSERVED, PAUSED, SIGNAL_SOURCE, Source, split_tags};

/// Which sources. What is `None` does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceQuery {
    /// Of one of these hosts, if some are named.
    pub hosts: Vec<u32>,
    /// With a URL that begins so.
    pub scheme: Option<&'static str>,
    /// With this tag.
    pub tag: Option<String>,
    /// In this state.
    pub state: Option<SourceState>,
    /// Left alone, or not.
    pub paused: Option<bool>,
    /// With this in the URL.
    pub text: Option<String>,
    /// With a larger number: where the page before ended.
    pub after: Option<u32>,
    /// With no larger number than this: whoever looks for what is rare looks at some at a time.
    pub up_to: Option<u32>,
    /// At most so many; 0 for 100.
    pub limit: usize,
}

/// Some of the sources that were asked for, in order of their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct SourcePage {
    /// The sources.
    pub sources: Vec<Source>,
    /// Where the next page begins, as [`SourceQuery::after`]; `None` if this is the last.
    pub next: Option<u32>,
}

const COLUMNS: &str = "s.id, s.url, c.host, c.importance, c.cost, c.min_interval, c.max_interval,
    c.flags, s.tags, s.settings, c.goal, s.added, c.state, c.fetched, c.tried, c.changed, c.due,
    c.fetches, c.failures, s.version";

fn read(row: &Row<'_>) -> rusqlite::Result<Source> {
    let flags: i64 = row.get(7)?;
    Ok(Source {
        id: row.get(0)?,
        url: row.get(1)?,
        host: row.get(2)?,
        importance: row.get(3)?,
        cost: row.get(4)?,
        min_interval: row.get(5)?,
        max_interval: row.get::<_, Option<f64>>(6)?.unwrap_or(f64::INFINITY),
        paused: flags & PAUSED != 0,
        observed: flags & OBSERVED != 0,
        is_signal_source: flags & SIGNAL_SOURCE != 0,
        tags: split_tags(row.get_ref(8)?.as_str()?),
        settings: row.get(9)?,
        goal: row.get::<_, Option<String>>(10)?.unwrap_or_default(),
        added_at: row.get(11)?,
        state: row.get(12)?,
        fetched_at: row.get(13)?,
        attempted_at: row.get(14)?,
        changed_at: row.get(15)?,
        due_at: row.get(16)?,
        fetches: row.get::<_, i64>(17)? as u64,
        failures: row.get(18)?,
        version: row.get(19)?,
    })
}

/// A condition and its value, as long as both live.
struct Clauses<'a> {
    from: &'static str,
    /// The column with the numbers of sources that leads.
    order: &'static str,
    conditions: Vec<Cow<'static, str>>,
    values: Vec<(&'static str, &'a dyn ToSql)>,
}

impl SourceQuery {
    /// The narrowest table leads; the others are looked up.
    fn clauses(&self) -> Clauses<'_> {
        let (from, place) = if self.tag.is_some() {
            let from = "tag_source t CROSS JOIN source s ON s.id = t.source
                CROSS JOIN schedule c ON c.id = t.source";
            (from, ("t.source", "t.source > :after", "t.source <= :until"))
        } else if !self.hosts.is_empty() {
            let from = "host_source h CROSS JOIN source s ON s.id = h.source
                CROSS JOIN schedule c ON c.id = h.source";
            (from, ("h.source", "h.source > :after", "h.source <= :until"))
        } else if self.state.is_some() || self.paused.is_some() {
            let from = "schedule c CROSS JOIN source s ON s.id = c.id";
            (from, ("c.id", "c.id > :after", "c.id <= :until"))
        } else {
            let from = "source s CROSS JOIN schedule c ON c.id = s.id";
            (from, ("s.id", "s.id > :after", "s.id <= :until"))
        };
        let order = place.0;
        let mut clauses = Clauses { from, order, conditions: Vec::new(), values: Vec::new() };
        if let Some(tag) = &self.tag {
            clauses.add("t.tag = :tag", ":tag", tag);
        }
        let host = if self.tag.is_none() { "h.host" } else { "c.host" };
        match self.hosts.as_slice() {
            [] => {}
            // In the order of the table: nothing is sorted.
            [one] => clauses.conditions.push(format!("{host} = {one}").into()),
            some => {
                let numbers: Vec<String> = some.iter().map(u32::to_string).collect();
                let numbers = numbers.join(", ");
                clauses.conditions.push(format!("{host} IN ({numbers})").into());
            }
        }
        if let Some(scheme) = &self.scheme {
            clauses.add("substr(s.url, 1, length(:scheme)) = :scheme", ":scheme", scheme);
        }
        if let Some(state) = &self.state {
            clauses.add("c.state = :state", ":state", state);
            // SQLite takes the index of rare states only if it can see that this is one.
            match state {
                SourceState::New | SourceState::Good => {}
                _ => clauses.conditions.push("c.state > 1".into()),
            }
        }
        match self.paused {
            Some(true) => clauses.conditions.push("c.flags & 1".into()),
            Some(false) => clauses.conditions.push("NOT c.flags & 1".into()),
            None => {}
        }
        if let Some(text) = &self.text {
            clauses.add("instr(s.url, :text) > 0", ":text", text);
        }
        // What is read to hear heralds stands under no tag and no host.
        if self.tag.is_none() && self.hosts.is_empty() {
            clauses.conditions.push("NOT c.flags & 4".into());
        }
        if let Some(after) = &self.after {
            clauses.add(place.1, ":after", after);
        }
        if let Some(until) = &self.up_to {
            clauses.add(place.2, ":until", until);
        }
        clauses
    }
}

impl<'a> Clauses<'a> {
    fn add(&mut self, condition: &'static str, name: &'static str, value: &'a dyn ToSql) {
        self.conditions.push(condition.into());
        self.values.push((name, value));
    }

    /// Leaves out the tables that only what is shown comes from.
    fn narrow(&mut self, query: &SourceQuery) {
        let SourceQuery { tag, hosts, scheme, text, state, paused, .. } = query;
        let is_scheduled = state.is_some() || paused.is_some();
        self.from = match (tag, hosts.is_empty()) {
            _ if text.is_some() || scheme.is_some() => return,
            (Some(_), true) if !is_scheduled => "tag_source t",
            (None, false) if !is_scheduled => "host_source h",
            (None, true) if is_scheduled => "schedule c",
            _ => return,
        };
    }

    fn select(&self) -> String {
        let (from, filter, order) = (self.from, self.filter(), self.order);
        format!("SELECT {COLUMNS} FROM {from} {filter} ORDER BY {order} LIMIT :limit")
    }

    fn filter(&self) -> String {
        if self.conditions.is_empty() {
            return String::new();
        }
        format!("WHERE {}", self.conditions.join(" AND "))
    }
}

impl Reader {
    /// A source by its number.
    pub fn source(&self, id: u32) -> Result<Option<Source>, StoreError> {
        let sql =
            format!("SELECT {COLUMNS} FROM source s JOIN schedule c USING (id) WHERE s.id = ?1");
        self.row(&sql, [id], read)
    }

    /// The number of the source with a URL.
    pub fn find_source(&self, url: &str) -> Result<Option<u32>, StoreError> {
        self.run(|connection| look_up(connection, url))
    }

    /// A page of the sources that a query asks for.
    pub fn list_sources(&self, query: &SourceQuery) -> Result<SourcePage, StoreError> {
        let limit = if query.limit == 0 { 100 } else { query.limit };
        let mut clauses = query.clauses();
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        clauses.values.push((":limit", &most));
        let sources = self.rows(&clauses.select(), clauses.values.as_slice(), read)?;
        let full = sources.len() == limit;
        let next = sources.last().filter(|_| full).map(|source| source.id);
        Ok(SourcePage { sources, next })
    }

    /// The numbers of the sources that a query asks for, in order, as many as its limit.
    pub fn source_ids(&self, query: &SourceQuery) -> Result<Vec<u32>, StoreError> {
        let mut clauses = query.clauses();
        clauses.narrow(query);
        let most = if query.limit == 0 { 100 } else { query.limit };
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        clauses.values.push((":limit", &most));
        let (from, filter, order) = (clauses.from, clauses.filter(), clauses.order);
        let sql = format!("SELECT {order} FROM {from} {filter} ORDER BY {order} LIMIT :limit");
        self.rows(&sql, clauses.values.as_slice(), |row| row.get(0))
    }

    /// The number after the largest that a source has or had.
    pub fn next_source_id(&self) -> Result<u32, StoreError> {
        let next = self.run(|connection| counter(connection, "next_source"))?;
        Ok(u32::try_from(next).unwrap_or(u32::MAX))
    }

    /// How many sources a query asks for, whatever its limit. For all of them it takes no time.
    pub fn count_sources(&self, query: &SourceQuery) -> Result<u64, StoreError> {
        if (&SourceQuery { limit: query.limit, ..SourceQuery::default() }) == query {
            return self.run(|connection| counter(connection, "sources")).map(|all| all as u64);
        }
        let mut clauses = query.clauses();
        clauses.narrow(query);
        let sql = format!("SELECT count(*) FROM {} {}", clauses.from, clauses.filter());
        let count = self.row(&sql, clauses.values.as_slice(), |row| row.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::schema::{STEPS, migrate};

    #[track_caller]
    fn check(query: &SourceQuery, expect: &str) {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, 0, STEPS).unwrap();
        let mut clauses = query.clauses();
        clauses.values.push((":limit", &10));
        let sql = format!("EXPLAIN QUERY PLAN {}", clauses.select());
        let mut statement = connection.prepare(&sql).unwrap();
        let plan = statement.query_map(clauses.values.as_slice(), |row| row.get(3)).unwrap();
        let plan: Vec<String> = plan.map(Result::unwrap).collect();
        assert_eq!(plan[0], expect);
        assert_eq!(plan.iter().find(|step| step.contains("TEMP")), None);
    }

    #[test]
    fn what_is_rare_leads_and_nothing_is_sorted() {
        let all = SourceQuery { after: Some(7), ..SourceQuery::default() };
        check(&all, "SEARCH s USING INTEGER PRIMARY KEY (rowid>?)");
        let tagged = SourceQuery { tag: Some(String::new()), hosts: vec![1], ..all.clone() };
        check(&tagged, "SEARCH t USING PRIMARY KEY (tag=? AND source>?)");
        let hosted = SourceQuery { hosts: vec![1], state: Some(SourceState::Good), ..all.clone() };
        check(&hosted, "SEARCH h USING PRIMARY KEY (host=? AND source>?)");
        let gone = SourceQuery { state: Some(SourceState::Gone), ..all.clone() };
        check(&gone, "SEARCH c USING INDEX schedule_state (state=? AND rowid>?)");
        let paused = SourceQuery { paused: Some(true), ..all };
        check(&paused, "SEARCH c USING INDEX schedule_paused (id>?)");
    }
}
