//! Queries for sources. Sources of signal sources are found by id only.

use std::borrow::Cow;

use rusqlite::{Row, ToSql};

use crate::add::find_by_url;
use crate::error::StoreError;
use crate::meta::counter;
use crate::outcome::SourceState;
use crate::reader::Reader;
use crate::source::{OBSERVED, PAUSED, SIGNAL_SOURCE, Source, split_tags};

/// Filter for sources. A field that is `None` matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceQuery {
    /// Hosts; empty for all.
    pub hosts: Vec<u32>,
    /// Prefix of the URL, such as `https://`.
    pub url_prefix: Option<&'static str>,
    /// Tag.
    pub tag: Option<String>,
    /// State.
    pub state: Option<SourceState>,
    /// Paused, or not paused.
    pub paused: Option<bool>,
    /// Substring of the URL.
    pub url_contains: Option<String>,
    /// Only larger ids: the last id of the previous page.
    pub after: Option<u32>,
    /// Only ids up to this one: bounds the work of a query with few matches.
    pub max_id: Option<u32>,
    /// Maximum number of sources; 0 for 100.
    pub limit: usize,
}

/// One page of the result of a query, in order of ids.
#[derive(Clone, Debug, PartialEq)]
pub struct SourcePage {
    /// Sources.
    pub sources: Vec<Source>,
    /// [`SourceQuery::after`] of the next page; `None` if this is the last one.
    pub next_after: Option<u32>,
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

/// Clauses of a `SELECT` statement, with the values of its parameters.
struct Clauses<'a> {
    from: &'static str,
    /// Column to sort by: the source id of the leading table.
    order: &'static str,
    conditions: Vec<Cow<'static, str>>,
    values: Vec<(&'static str, &'a dyn ToSql)>,
}

impl SourceQuery {
    /// Builds the clauses with the most selective table first.
    fn clauses(&self) -> Clauses<'_> {
        let (from, range) = if self.tag.is_some() {
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
        let order = range.0;
        let mut clauses = Clauses { from, order, conditions: Vec::new(), values: Vec::new() };
        if let Some(tag) = &self.tag {
            clauses.add("t.tag = :tag", ":tag", tag);
        }
        let host = if self.tag.is_none() { "h.host" } else { "c.host" };
        match self.hosts.as_slice() {
            [] => {}
            // Rows come in the order of the table: nothing is sorted.
            [one] => clauses.conditions.push(format!("{host} = {one}").into()),
            ids => {
                let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
                let ids = ids.join(", ");
                clauses.conditions.push(format!("{host} IN ({ids})").into());
            }
        }
        if let Some(scheme) = &self.url_prefix {
            clauses.add("substr(s.url, 1, length(:scheme)) = :scheme", ":scheme", scheme);
        }
        if let Some(state) = &self.state {
            clauses.add("c.state = :state", ":state", state);
            // SQLite uses the partial index of rare states only if this condition is present.
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
        if let Some(text) = &self.url_contains {
            clauses.add("instr(s.url, :text) > 0", ":text", text);
        }
        // Sources of signal sources are in the index of no tag and no host.
        if self.tag.is_none() && self.hosts.is_empty() {
            clauses.conditions.push("NOT c.flags & 4".into());
        }
        if let Some(after) = &self.after {
            clauses.add(range.1, ":after", after);
        }
        if let Some(until) = &self.max_id {
            clauses.add(range.2, ":until", until);
        }
        clauses
    }
}

impl<'a> Clauses<'a> {
    fn add(&mut self, condition: &'static str, name: &'static str, value: &'a dyn ToSql) {
        self.conditions.push(condition.into());
        self.values.push((name, value));
    }

    /// Drops the tables that only the selected columns come from.
    fn drop_unfiltered_tables(&mut self, query: &SourceQuery) {
        let SourceQuery { tag, hosts, url_prefix, url_contains, state, paused, .. } = query;
        let is_scheduled = state.is_some() || paused.is_some();
        self.from = match (tag, hosts.is_empty()) {
            _ if url_contains.is_some() || url_prefix.is_some() => return,
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
    /// Returns a source by its id.
    pub fn source(&self, id: u32) -> Result<Option<Source>, StoreError> {
        let sql =
            format!("SELECT {COLUMNS} FROM source s JOIN schedule c USING (id) WHERE s.id = ?1");
        self.row(&sql, [id], read)
    }

    /// The number of the source with a URL.
    pub fn find_source(&self, url: &str) -> Result<Option<u32>, StoreError> {
        self.run(|connection| find_by_url(connection, url))
    }

    /// Returns one page of the sources that match a query.
    pub fn list_sources(&self, query: &SourceQuery) -> Result<SourcePage, StoreError> {
        let limit = if query.limit == 0 { 100 } else { query.limit };
        let mut clauses = query.clauses();
        let row_limit = i64::try_from(limit).unwrap_or(i64::MAX);
        clauses.values.push((":limit", &row_limit));
        let sources = self.rows(&clauses.select(), clauses.values.as_slice(), read)?;
        let is_full = sources.len() == limit;
        let next_after = sources.last().filter(|_| is_full).map(|source| source.id);
        Ok(SourcePage { sources, next_after })
    }

    /// Returns the ids of the sources that match a query, in order, up to its limit.
    pub fn source_ids(&self, query: &SourceQuery) -> Result<Vec<u32>, StoreError> {
        let mut clauses = query.clauses();
        clauses.drop_unfiltered_tables(query);
        let limit = if query.limit == 0 { 100 } else { query.limit };
        let row_limit = i64::try_from(limit).unwrap_or(i64::MAX);
        clauses.values.push((":limit", &row_limit));
        let (from, filter, order) = (clauses.from, clauses.filter(), clauses.order);
        let sql = format!("SELECT {order} FROM {from} {filter} ORDER BY {order} LIMIT :limit");
        self.rows(&sql, clauses.values.as_slice(), |row| row.get(0))
    }

    /// Returns the id that the next new source gets.
    pub fn next_source_id(&self) -> Result<u32, StoreError> {
        let next = self.run(|connection| counter(connection, "next_source"))?;
        Ok(u32::try_from(next).unwrap_or(u32::MAX))
    }

    /// Returns the number of sources that match a query, whatever its limit. Without a filter the answer is a counter.
    pub fn count_sources(&self, query: &SourceQuery) -> Result<u64, StoreError> {
        if (&SourceQuery { limit: query.limit, ..SourceQuery::default() }) == query {
            return self.run(|connection| counter(connection, "sources")).map(|count| count as u64);
        }
        let mut clauses = query.clauses();
        clauses.drop_unfiltered_tables(query);
        let sql = format!("SELECT count(*) FROM {} {}", clauses.from, clauses.filter());
        let count = self.row(&sql, clauses.values.as_slice(), |row| row.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::schema::{MIGRATIONS, migrate};

    #[track_caller]
    fn check(query: &SourceQuery, expect: &str) {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, 0, MIGRATIONS).unwrap();
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
    fn the_most_selective_table_leads_and_nothing_is_sorted() {
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
