//! Change detection settings from the command line and a file.

use std::fs;
use std::path::Path;

use freshet_detect::{DetectError, DetectSettings, RawDetectSettings, SettingsLayer};

use crate::commands::detect::DetectArguments;
use crate::failure::Failure;

/// Resolves the settings; the command line takes precedence over the file.
pub(crate) fn settings(arguments: &DetectArguments) -> Result<DetectSettings, Failure> {
    let typed = from_arguments(arguments);
    let mut name = String::new();
    let mut file = RawDetectSettings::default();
    if let Some(path) = &arguments.settings {
        (name, file) = (path.display().to_string(), read(path)?);
    }
    let layers = [
        SettingsLayer { name: "the command line", settings: &typed },
        SettingsLayer { name: &name, settings: &file },
    ];
    DetectSettings::resolve(&layers).map_err(|error| failure(&error))
}

fn from_arguments(arguments: &DetectArguments) -> RawDetectSettings {
    let list = |list: &Vec<String>| (!list.is_empty()).then(|| list.clone());
    RawDetectSettings {
        kind: arguments.kind.clone(),
        text: arguments.visible.then(|| "visible".to_owned()),
        noise: arguments.noise.then_some(true),
        links: arguments.links.then_some(true),
        images: arguments.images.then_some(true),
        select: list(&arguments.select),
        drop: list(&arguments.drop),
        keep_text: list(&arguments.keep_text),
        ignore_text: list(&arguments.ignore_text),
        ignore: list(&arguments.ignore),
        below: arguments.below.map(|it| it.0),
    }
}

fn read(path: &Path) -> Result<RawDetectSettings, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::new(format!("cannot read the settings {name}: {error}"))
            .with_hint("give the path of a TOML file; `freshet detect --help` shows one")
    })?;
    toml::from_str(&text).map_err(|error| {
        let at = error.span().map_or(0, |it| it.start.min(text.len()));
        let before = text.get(..at).unwrap_or_default();
        let line = 1 + before.matches('\n').count();
        let message = error.message().lines().next().unwrap_or_default().replace("f64", "a number");
        let field = field(text.lines().nth(line - 1).unwrap_or_default());
        let named = field.filter(|it| !message.contains(it)).map(|it| format!("{it}: "));
        Failure::new(format!("{name}:{line}: {}{message}", named.unwrap_or_default()))
            .with_hint("`freshet detect --help` lists the settings")
    })
}

/// Returns the name before `=`.
fn field(line: &str) -> Option<&str> {
    line.split_once('=').map(|(name, _)| name.trim()).filter(|it| !it.is_empty())
}

fn failure(error: &DetectError) -> Failure {
    let hint = match error {
        DetectError::InvalidSelector { text, .. } if text.starts_with(['/', '$']) => {
            "write a pointer such as `/items/0/price`, or a path such as `$.items[*].price`"
        }
        DetectError::InvalidSelector { .. } => {
            "write a selector such as `#main`, `div.price > span` or `a[href^='/news']`"
        }
        DetectError::InvalidRegex { .. } => "escape literal special characters: `\\(`, `\\.`",
        DetectError::TooManySelectors { .. } => "select an element around several of them instead",
        DetectError::InvalidThreshold { .. } => "give a share: 0.05 is 5 %",
        _ => "`freshet detect --help` lists the possible values",
    };
    Failure::new(error).with_hint(hint)
}
