//! What counts, by the command line and a file.

use std::fs;
use std::path::Path;

use freshet_detect::{DetectError, Layer, RawSettings, Settings};

use crate::commands::detect::DetectArguments;
use crate::failure::Failure;

/// The command line comes before the file.
pub(crate) fn settings(arguments: &DetectArguments) -> Result<Settings, Failure> {
    let typed = typed(arguments);
    let mut name = String::new();
    let mut file = RawSettings::default();
    if let Some(path) = &arguments.settings {
        (name, file) = (path.display().to_string(), read(path)?);
    }
    let layers = [
        Layer { name: "the command line", settings: &typed },
        Layer { name: &name, settings: &file },
    ];
    Settings::resolve(&layers).map_err(|error| failure(&error))
}

fn typed(arguments: &DetectArguments) -> RawSettings {
    let list = |list: &Vec<String>| (!list.is_empty()).then(|| list.clone());
    RawSettings {
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

fn read(path: &Path) -> Result<RawSettings, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::new(format!("cannot read the settings {name}: {error}"))
            .hint("give the path of a TOML file; `freshet detect --help` shows one")
    })?;
    toml::from_str(&text).map_err(|error| {
        let at = error.span().map_or(0, |it| it.start.min(text.len()));
        let before = text.get(..at).unwrap_or_default();
        let line = 1 + before.matches('\n').count();
        let message = error.message().lines().next().unwrap_or_default().replace("f64", "a number");
        let field = field(text.lines().nth(line - 1).unwrap_or_default());
        let named = field.filter(|it| !message.contains(it)).map(|it| format!("{it}: "));
        Failure::new(format!("{name}:{line}: {}{message}", named.unwrap_or_default()))
            .hint("`freshet detect --help` lists the settings")
    })
}

/// The name before `=`.
fn field(line: &str) -> Option<&str> {
    line.split_once('=').map(|(name, _)| name.trim()).filter(|it| !it.is_empty())
}

fn failure(error: &DetectError) -> Failure {
    let hint = match error {
        DetectError::Pattern { text, .. } if text.starts_with(['/', '$']) => {
            "a pointer is like `/items/0/price`, a path like `$.items[*].price`"
        }
        DetectError::Pattern { .. } => {
            "a selector is like `#main`, `div.price > span` or `a[href^='/news']`"
        }
        DetectError::Expression { .. } => "escape signs that are meant as they are: `\\(`, `\\.`",
        DetectError::TooManyParts { .. } => "name a part around several of them instead",
        DetectError::Below { .. } => "give a share: 0.05 is 5 %",
        _ => "`freshet detect --help` lists what there is",
    };
    Failure::new(error).hint(hint)
}
