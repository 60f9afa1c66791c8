//! The URLs and hosts of the data set.

use freshet_model::PackedStrings;

use crate::error::TableError;
use crate::names::Names;
use crate::polite::files::Files;
use crate::polite::known::{UrlColumns, repeated, required};
use crate::polite::{HOSTS, URLS};
use crate::value;

/// URL and host of each usable source.
pub(super) struct Addresses {
    urls: PackedStrings,
    lines: Vec<u64>,
    host_of_url: Vec<u32>,
    /// Index of each source in `urls`, if any.
    of_row: Vec<Option<u32>>,
    host_ids: Names,
}

/// URL and host of one source.
#[derive(Clone, Copy)]
pub(super) struct Address<'a> {
    pub(super) url: &'a str,
    pub(super) line: u64,
    pub(super) host: u32,
}

impl Addresses {
    pub(super) fn read(
        files: &mut Files<'_>,
        known: &UrlColumns,
    ) -> Result<Option<Self>, TableError> {
        if !files.has(URLS) {
            return Ok(None);
        }
        let mut all = Self {
            urls: PackedStrings::new(),
            lines: Vec::new(),
            host_of_url: Vec::new(),
            of_row: vec![None; known.ids.len()],
            host_ids: Names::new(),
        };
        let is_row =
            |[_, id, _]: &[&str; 3]| id.parse::<f64>().is_ok() || known.ids.get(id).is_some();
        files.each(URLS, is_row, |line, [url, id, host]| {
            required("URL", url)?;
            required("Host_ID", host)?;
            let row = known.ids.get(id).map(|row| row as usize);
            let Some(row) = row.filter(|&row| !known.rate[row].is_nan()) else {
                return Ok(());
            };
            if let Some(first) = all.of_row[row] {
                return Err(repeated(id, all.lines[first as usize]));
            }
            all.of_row[row] = Some(all.lines.len() as u32);
            all.urls.push(url);
            all.lines.push(line);
            let (Ok(host) | Err(host)) = all.host_ids.insert(host);
            all.host_of_url.push(host);
            Ok(())
        })?;
        Ok(Some(all))
    }

    pub(super) fn of(&self, row: usize) -> Option<Address<'_>> {
        let place = self.of_row[row]? as usize;
        let url = self.urls.get(place)?;
        Some(Address { url, line: self.lines[place], host: self.host_of_url[place] })
    }

    pub(super) fn host_id(&self, host: u32) -> &str {
        self.host_ids.text(host)
    }
}

/// Host names, and whether they have a crawl limit.
pub(super) struct Hosts {
    names: PackedStrings,
    /// Index of each host in `names`.
    of_host: Vec<Option<u32>>,
    constrained: Vec<bool>,
}

impl Hosts {
    pub(super) fn read(
        files: &mut Files<'_>,
        addresses: Option<&Addresses>,
    ) -> Result<Option<Self>, TableError> {
        let Some(addresses) = addresses.filter(|_| files.has(HOSTS)) else {
            return Ok(None);
        };
        let hosts = addresses.host_ids.len();
        let mut all = Self {
            names: PackedStrings::new(),
            of_host: vec![None; hosts],
            constrained: vec![false; hosts],
        };
        let is_row = |[_, _, flag]: &[&str; 3]| value::parse_bool(flag).is_ok();
        files.each(HOSTS, is_row, |_, [name, id, flag]| {
            required("Host_URL", name)?;
            let flag = value::parse_bool(flag).map_err(|fault| ("is_constrained", fault))?;
            if let Some(host) = addresses.host_ids.get(id) {
                all.of_host[host as usize] = Some(all.names.len() as u32);
                all.names.push(name);
                all.constrained[host as usize] |= flag;
            }
            Ok(())
        })?;
        Ok(Some(all))
    }

    pub(super) fn name(&self, host: u32) -> Option<&str> {
        self.names.get(self.of_host[host as usize]? as usize)
    }

    pub(super) fn constrained(&self, host: u32) -> bool {
        self.constrained[host as usize]
    }
}
