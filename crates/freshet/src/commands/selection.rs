//! Sources by name, as they are typed.

use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{Applied, Which};
use freshet_store::{Reader, Source, SourceQuery};

use crate::commands::find_source::{find, unknown};
use crate::commands::ls::of_host;
use crate::failure::Failure;
use crate::number::plural;
use crate::output::note;

#[derive(Debug, Args)]
pub(crate) struct WhichArguments {
    /// The sources
    #[arg(value_name = "URL", required_unless_present_any = ["where_tag", "where_host"])]
    pub(crate) urls: Vec<String>,

    /// All sources with this tag
    #[arg(long, value_name = "NAME")]
    pub(crate) where_tag: Option<String>,

    /// All sources of this host, at all its ports unless one is given; with --where-tag, those of them
    /// with that tag
    #[arg(long, value_name = "HOST")]
    pub(crate) where_host: Option<String>,
}

/// Sources that are looked up at once.
const PAGE: usize = 10_000;

impl WhichArguments {
    pub(crate) fn which(&self) -> Which {
        Which {
            urls: self.urls.clone(),
            tag: self.where_tag.clone(),
            host: self.where_host.clone(),
            ids: Vec::new(),
        }
    }

    /// The sources themselves, some at a time.
    pub(crate) fn each(
        &self,
        reader: &Reader,
        mut some: impl FnMut(Vec<Source>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut named = Vec::new();
        for url in &self.urls {
            named.extend(reader.source(find(reader, url)?)?);
        }
        some(named)?;
        if self.where_tag.is_none() && self.where_host.is_none() {
            return Ok(());
        }
        let mut query =
            SourceQuery { tag: self.where_tag.clone(), limit: PAGE, ..SourceQuery::default() };
        if let Some(name) = &self.where_host
            && !of_host(&mut query, reader, name)?
        {
            return Ok(());
        }
        loop {
            let page = reader.list_sources(&query)?;
            some(page.sources)?;
            query.after = page.next;
            if query.after.is_none() {
                return Ok(());
            }
        }
    }
}

/// Says what was done to how many sources, and which of them there are not.
pub(crate) fn done(
    what: &str,
    sources: u64,
    applied: &Applied,
    reader: &Reader,
) -> Result<ExitCode, Failure> {
    if let [url, rest @ ..] = &applied.unknown[..] {
        if sources > 0 {
            note(&format!("{what} {}", plural(sources as usize, "source", "sources")));
        }
        for url in rest {
            note(&format!("there is no source {url}"));
        }
        unknown(reader, url)?.print();
        return Ok(ExitCode::from(1));
    }
    note(&format!("{what} {}", plural(sources as usize, "source", "sources")));
    Ok(if sources == 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
