//! The PoliteCrawling data set: tab-separated files about the same URLs.
//!
//! From Kolobov et al. 2019. The rows of the importance file are the sources; the other files
//! describe them. A source without a change rate or history cannot be planned for and is
//! skipped and counted, as is one that is not in the URL file, if there is one.

mod addresses;
mod files;
mod known;

use std::path::Path;

use freshet_model::SourceTable;

use crate::column::Column;
use crate::columns::{Columns, Refused};
use crate::error::{Position, TableError};
use crate::input::Progress;
use crate::read::{Estimate, Sources};
use addresses::{Addresses, Hosts};
use files::Files;
use known::UrlColumns;

const URLS: &str = "url_urlid_hostid.txt";
const HOSTS: &str = "host_hostid_isconstrained.txt";
const IMPORTANCE: &str = "urlid_imp.txt";
const HISTORY: &str = "urlid_offset_history.txt";
const COMPLETE: &str = "urlid_chrate_compl_obs_hist.txt";

/// Counts of used and skipped rows of a PoliteCrawling directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoliteNotes {
    /// Sources with complete observations; their rate is given.
    pub complete: usize,
    /// Sources whose rate was estimated from their fetch history.
    pub estimated: usize,
    /// Skipped sources without a rate or a history.
    pub without_rate: usize,
    /// Skipped sources that are not in the URL file.
    pub without_url: usize,
    /// Skipped rates and histories of sources that are not in the importance file.
    pub without_importance: usize,
    /// True for hosts with a crawl limit, according to the host file; false for hosts that are not in it.
    pub constrained: Option<Vec<bool>>,
}

pub(crate) fn read(
    directory: &Path,
    estimate: Estimate<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Sources, TableError> {
    let missing = |names| TableError::MissingFile { directory: directory.to_owned(), names };
    let mut files = Files::open(directory, &[URLS, HOSTS, IMPORTANCE, HISTORY, COMPLETE], progress);
    if !files.has(IMPORTANCE) {
        return Err(missing(&[IMPORTANCE]));
    }
    if !files.has(COMPLETE) && !files.has(HISTORY) {
        return Err(missing(&[COMPLETE, HISTORY]));
    }
    let mut notes = PoliteNotes::default();
    let mut known = UrlColumns::read(&mut files)?;
    if files.has(COMPLETE) {
        known.read_complete(&mut files, &mut notes)?;
    }
    if files.has(HISTORY) {
        known.read_histories(&mut files, estimate, &mut notes)?;
    }
    let addresses = Addresses::read(&mut files, &known)?;
    let hosts = Hosts::read(&mut files, addresses.as_ref())?;
    let ids = directory.join(if addresses.is_some() { URLS } else { IMPORTANCE });
    let ids = ids.display().to_string();
    let table = join(&ids, &known, addresses.as_ref(), hosts.as_ref(), &mut notes)?;
    Ok(Sources { table, polite: Some(notes) })
}

/// Sources in the order of the importance file.
fn join(
    file: &str,
    known: &UrlColumns,
    addresses: Option<&Addresses>,
    hosts: Option<&Hosts>,
    notes: &mut PoliteNotes,
) -> Result<SourceTable, TableError> {
    let mut lines: Vec<u64> = Vec::new();
    let mut hosts_used: Vec<u32> = Vec::new();
    let with_host = addresses.is_some();
    let declared = [Column::Id, Column::Importance, Column::ChangeRate, Column::Complete];
    let mut columns = Columns::with(declared.into_iter().chain(with_host.then_some(Column::Host)));
    for row in 0..known.ids.len() {
        if known.rate[row].is_nan() {
            notes.without_rate += 1;
            continue;
        }
        let mut id = known.ids.text(row as u32);
        let mut host = None;
        if let Some(addresses) = addresses {
            let Some(address) = addresses.of(row) else {
                notes.without_url += 1;
                continue;
            };
            id = address.url;
            lines.push(address.line);
            hosts_used.push(address.host);
            let name = hosts.and_then(|hosts| hosts.name(address.host));
            host = Some(name.unwrap_or_else(|| addresses.host_id(address.host)));
        }
        if known.complete[row] {
            notes.complete += 1
        } else {
            notes.estimated += 1
        }
        add(&mut columns, known, row, id, host).map_err(|refused| at(refused, file, &lines))?;
    }
    columns.settle().map_err(|refused| at(refused, file, &lines))?;
    let table = columns.into_table();
    if let (Some(of_source), Some(hosts)) = (&table.hosts, hosts) {
        let mut constrained = vec![false; of_source.names.len()];
        for (&place, &host) in of_source.index_by_source.iter().zip(&hosts_used) {
            constrained[place as usize] |= hosts.constrained(host);
        }
        notes.constrained = Some(constrained);
    }
    Ok(table)
}

fn at(refused: Refused, file: &str, lines: &[u64]) -> TableError {
    let position = |row: usize| Position::Line(lines.get(row).copied().unwrap_or_default());
    refused.at(file, position(lines.len().saturating_sub(1)), position)
}

/// Values were validated when read; only a duplicate URL can still be an error.
fn add(
    columns: &mut Columns,
    known: &UrlColumns,
    row: usize,
    id: &str,
    host: Option<&str>,
) -> Result<(), Refused> {
    columns.push_name(Column::Id, id)?;
    columns.push_number(Column::Importance, known.importance[row])?;
    columns.push_number(Column::ChangeRate, known.rate[row])?;
    columns.push_bool(known.complete[row]);
    if let Some(host) = host {
        columns.push_name(Column::Host, host)?;
    }
    columns.end_row()
}
