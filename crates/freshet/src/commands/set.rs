//! `freshet set`, `pause`, `resume` and `rm`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{Applied, Edit, SourceSettings, Which};
use freshet_detect::RawSettings;

use crate::commands::instance::{ConfigArguments, Home};
use crate::commands::selection::{WhichArguments, done};
use crate::commands::settings_arguments::GivenArguments;
use crate::failure::Failure;

/// URLs that go through the daemon's door at once.
const BATCH: usize = 10_000;

/// Say something else of sources
///
/// What is not said stays as it is. An empty text takes away what was said before: --select ''. --tag
/// adds a tag, --untag takes one away. Exit code 0: done; 1: there are no such sources.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet set https://example.com/ --importance 5 --max-interval 1h
  freshet set --where-tag news --min-interval 10min
  freshet set https://example.com/price --select '#price' --untag news")]
pub(crate) struct SetArguments {
    #[command(flatten)]
    pub(crate) which: WhichArguments,

    #[command(flatten)]
    pub(crate) given: GivenArguments,

    /// A name not to find it by any more; may be given more than once
    #[arg(long, value_name = "NAME", help_heading = "What is said of it")]
    pub(crate) untag: Vec<String>,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Leave sources alone until `freshet resume`
///
/// Exit code 0: done; 1: there are no such sources.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet pause https://example.com/
  freshet pause --where-host example.com")]
pub(crate) struct PauseArguments {
    #[command(flatten)]
    pub(crate) which: WhichArguments,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Fetch sources again that were paused
///
/// Exit code 0: done; 1: there are no such sources.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet resume https://example.com/
  freshet resume --where-tag news")]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    pub(crate) which: WhichArguments,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Remove sources, with their history and versions
///
/// Their changes stay in the log. Exit code 0: done; 1: there are no such sources.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet rm https://example.com/old
  freshet rm --where-tag crawl --where-host example.com")]
pub(crate) struct RmArguments {
    #[command(flatten)]
    pub(crate) which: WhichArguments,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// What counts of a source, and its tags, from now on.
type Said = (Option<String>, Option<Vec<String>>);

pub(crate) fn run(arguments: &SetArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let plain = arguments.given.plain();
    let says = arguments.given.settle(&mut RawSettings::default());
    let tags = !arguments.given.tag.is_empty() || !arguments.untag.is_empty();
    if plain == SourceSettings::default() && !says && !tags {
        return Err(Failure::new("nothing is said of them")
            .hint("say something, such as --importance 5; `freshet set --help` lists what"));
    }
    let reader = home.reader()?;
    if !says && !tags {
        let applied = home.edit(Edit::Change(arguments.which.which(), plain.into()))?;
        return done("described", applied.known, &applied, &reader);
    }
    // Of what counts and of tags, a part is said: the rest is different for each source.
    let mut editor = home.editor()?;
    let mut all = Applied::default();
    arguments.which.each(&reader, |sources| {
        let mut groups: BTreeMap<Said, Vec<String>> = BTreeMap::new();
        for source in sources {
            let given = arguments.given.over(Some(&source))?;
            let tags = tags.then(|| {
                let mut tags = given.tags.unwrap_or_else(|| source.tags.clone());
                tags.retain(|tag| !arguments.untag.contains(tag));
                tags
            });
            groups.entry((given.settings, tags)).or_default().push(source.url);
        }
        for ((settings, tags), urls) in groups {
            for urls in urls.chunks(BATCH) {
                let which = Which { urls: urls.to_vec(), ..Which::default() };
                let given = SourceSettings {
                    settings: settings.clone(),
                    tags: tags.clone(),
                    ..plain.clone()
                };
                let applied = editor.apply(Edit::Change(which, given.into()))?;
                all.known += applied.known;
                all.unknown.extend(applied.unknown);
            }
        }
        Ok(())
    })?;
    done("described", all.known, &all, &reader)
}

pub(crate) fn pause(arguments: &PauseArguments) -> Result<ExitCode, Failure> {
    halt(&arguments.which, &arguments.config, true)
}

pub(crate) fn resume(arguments: &ResumeArguments) -> Result<ExitCode, Failure> {
    halt(&arguments.which, &arguments.config, false)
}

fn halt(
    which: &WhichArguments,
    config: &ConfigArguments,
    paused: bool,
) -> Result<ExitCode, Failure> {
    let home = Home::open(config)?;
    let reader = home.reader()?;
    let given = SourceSettings { paused: Some(paused), ..SourceSettings::default() };
    let applied = home.edit(Edit::Change(which.which(), given.into()))?;
    done(if paused { "paused" } else { "resumed" }, applied.known, &applied, &reader)
}

pub(crate) fn rm(arguments: &RmArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let reader = home.reader()?;
    let applied = home.edit(Edit::Remove(arguments.which.which()))?;
    done("removed", applied.removed, &applied, &reader)
}
