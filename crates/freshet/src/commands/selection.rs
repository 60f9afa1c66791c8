//! Selection of sources by URL, tag and host.

use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{EditResult, SourceSelector};
use freshet_store::{Reader, Source, SourceQuery};

use crate::commands::find_source::{find, unknown_source};
use crate::commands::ls::filter_by_host;
use crate::failure::Failure;
use crate::number::pluralize;
use crate::output::print_note;

#[derive(Debug, Args)]
pub(crate) struct SelectionArguments {
    /// URL of a source
    #[arg(value_name = "URL", required_unless_present_any = ["where_tag", "where_host"])]
    pub(crate) urls: Vec<String>,

    /// Select all sources with this tag
    #[arg(long, value_name = "NAME")]
    pub(crate) where_tag: Option<String>,

    /// Select all sources of this host, at all ports unless one is given
    ///
    /// With --where-tag, only sources with both the host and the tag are selected.
    #[arg(long, value_name = "HOST")]
    pub(crate) where_host: Option<String>,
}

/// Number of sources that are read at once.
const PAGE_SIZE: usize = 10_000;

impl SelectionArguments {
    pub(crate) fn selector(&self) -> SourceSelector {
        SourceSelector {
            urls: self.urls.clone(),
            tag: self.where_tag.clone(),
            host: self.where_host.clone(),
            ids: Vec::new(),
        }
    }

    /// Calls a function with the selected sources, one page at a time.
    pub(crate) fn for_each_page(
        &self,
        reader: &Reader,
        mut visit: impl FnMut(Vec<Source>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut named = Vec::new();
        for url in &self.urls {
            named.extend(reader.source(find(reader, url)?)?);
        }
        visit(named)?;
        if self.where_tag.is_none() && self.where_host.is_none() {
            return Ok(());
        }
        let mut query =
            SourceQuery { tag: self.where_tag.clone(), limit: PAGE_SIZE, ..SourceQuery::default() };
        if let Some(name) = &self.where_host
            && !filter_by_host(&mut query, reader, name)?
        {
            return Ok(());
        }
        loop {
            let page = reader.list_sources(&query)?;
            visit(page.sources)?;
            query.after = page.next_after;
            if query.after.is_none() {
                return Ok(());
            }
        }
    }
}

/// Prints how many sources were edited, and the URLs that are not sources. Returns the exit code.
pub(crate) fn print_result(
    action: &str,
    sources: u64,
    applied: &EditResult,
    reader: &Reader,
) -> Result<ExitCode, Failure> {
    if let [url, rest @ ..] = &applied.unknown_urls[..] {
        if sources > 0 {
            print_note(&format!("{action} {}", pluralize(sources as usize, "source", "sources")));
        }
        for url in rest {
            print_note(&format!("there is no source {url}"));
        }
        unknown_source(reader, url)?.print();
        return Ok(ExitCode::from(1));
    }
    print_note(&format!("{action} {}", pluralize(sources as usize, "source", "sources")));
    Ok(if sources == 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
