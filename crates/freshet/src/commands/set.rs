//! `freshet set`, `pause`, `resume` and `rm`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{EditResult, SourceEdit, SourceSelector, SourceSettings};
use freshet_detect::RawDetectSettings;

use crate::commands::instance::{ConfigArguments, Instance};
use crate::commands::selection::{SelectionArguments, print_result};
use crate::commands::settings_arguments::SourceSettingsArguments;
use crate::failure::Failure;

/// Maximum number of URLs in one request to the daemon.
const BATCH: usize = 10_000;

/// Edit source settings
///
/// Settings that are not given stay as they are. An empty value removes a setting: --select ''. --tag adds
/// a tag, --untag removes one. Exit code 0: sources were edited; 1: no source matches.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet set https://example.com/ --importance 5 --max-interval 1h
  freshet set --where-tag news --min-interval 10min
  freshet set https://example.com/price --select '#price' --untag news")]
pub(crate) struct SetArguments {
    #[command(flatten)]
    pub(crate) selection: SelectionArguments,

    #[command(flatten)]
    pub(crate) settings: SourceSettingsArguments,

    /// Tag to remove; may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Source settings")]
    pub(crate) untag: Vec<String>,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Pause sources
///
/// Paused sources are not fetched until `freshet resume`. Exit code 0: sources were paused; 1: no source
/// matches.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet pause https://example.com/
  freshet pause --where-host example.com")]
pub(crate) struct PauseArguments {
    #[command(flatten)]
    pub(crate) selection: SelectionArguments,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Resume paused sources
///
/// Exit code 0: sources were resumed; 1: no source matches.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet resume https://example.com/
  freshet resume --where-tag news")]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    pub(crate) selection: SelectionArguments,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Remove sources, their history and their versions
///
/// Their changes stay in the change log. Exit code 0: sources were removed; 1: no source matches.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet rm https://example.com/old
  freshet rm --where-tag crawl --where-host example.com")]
pub(crate) struct RmArguments {
    #[command(flatten)]
    pub(crate) selection: SelectionArguments,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// New change detection settings and tags of a source.
type MergedSettings = (Option<String>, Option<Vec<String>>);

pub(crate) fn run(arguments: &SetArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let plain = arguments.settings.simple_settings();
    let has_detection = arguments.settings.apply_detection(&mut RawDetectSettings::default());
    let has_tags = !arguments.settings.tag.is_empty() || !arguments.untag.is_empty();
    if plain == SourceSettings::default() && !has_detection && !has_tags {
        return Err(Failure::new("no settings are given")
            .with_hint("give a setting such as --importance 5; `freshet set --help` lists them"));
    }
    let reader = instance.reader()?;
    if !has_detection && !has_tags {
        let applied =
            instance.edit(SourceEdit::Update(arguments.selection.selector(), plain.into()))?;
        return print_result("edited", applied.updated, &applied, &reader);
    }
    // Change detection settings and tags are merged with those of each source.
    let mut editor = instance.editor()?;
    let mut total = EditResult::default();
    arguments.selection.for_each_page(&reader, |sources| {
        let mut groups: BTreeMap<MergedSettings, Vec<String>> = BTreeMap::new();
        for source in sources {
            let merged = arguments.settings.merge_with(Some(&source))?;
            let tags = has_tags.then(|| {
                let mut tags = merged.tags.unwrap_or_else(|| source.tags.clone());
                tags.retain(|tag| !arguments.untag.contains(tag));
                tags
            });
            groups.entry((merged.detect_settings, tags)).or_default().push(source.url);
        }
        for ((settings, tags), urls) in groups {
            for urls in urls.chunks(BATCH) {
                let selector = SourceSelector { urls: urls.to_vec(), ..SourceSelector::default() };
                let settings = SourceSettings {
                    detect_settings: settings.clone(),
                    tags: tags.clone(),
                    ..plain.clone()
                };
                let applied = editor.apply(SourceEdit::Update(selector, settings.into()))?;
                total.updated += applied.updated;
                total.unknown_urls.extend(applied.unknown_urls);
            }
        }
        Ok(())
    })?;
    print_result("edited", total.updated, &total, &reader)
}

pub(crate) fn pause(arguments: &PauseArguments) -> Result<ExitCode, Failure> {
    set_paused(&arguments.selection, &arguments.config, true)
}

pub(crate) fn resume(arguments: &ResumeArguments) -> Result<ExitCode, Failure> {
    set_paused(&arguments.selection, &arguments.config, false)
}

fn set_paused(
    selection: &SelectionArguments,
    config: &ConfigArguments,
    paused: bool,
) -> Result<ExitCode, Failure> {
    let instance = Instance::open(config)?;
    let reader = instance.reader()?;
    let settings = SourceSettings { paused: Some(paused), ..SourceSettings::default() };
    let applied = instance.edit(SourceEdit::Update(selection.selector(), settings.into()))?;
    print_result(if paused { "paused" } else { "resumed" }, applied.updated, &applied, &reader)
}

pub(crate) fn rm(arguments: &RmArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let reader = instance.reader()?;
    let applied = instance.edit(SourceEdit::Remove(arguments.selection.selector()))?;
    print_result("removed", applied.removed, &applied, &reader)
}
