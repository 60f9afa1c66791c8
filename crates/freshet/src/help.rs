//! The help of the top level, which lists the commands in groups.

use std::fmt::Write;

use clap::{Command, CommandFactory};

use crate::arguments::Arguments;

/// Groups of commands, in the order of the help.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Get started", &["demo", "init", "run"]),
    ("Sources", &["add", "import", "export", "ls", "show", "set", "pause", "resume", "rm"]),
    ("Watch", &["status", "changes", "diff", "check"]),
    ("Manage", &["signals", "notify", "token", "backup"]),
    ("Plan and compare", &["plan", "curve", "simulate", "crew", "lab", "trace"]),
    ("Inspect documents", &["fetch", "detect"]),
];

/// Returns the command-line definition of `freshet`, with the commands grouped in its help.
pub(crate) fn command() -> Command {
    let command = Arguments::command();
    let (heading, name_style) =
        (*command.get_styles().get_header(), *command.get_styles().get_literal());
    let mut commands = String::new();
    for (title, names) in GROUPS {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(commands, "{heading}{title}:{heading:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(commands, "  {name_style}{name:<8}{name_style:#}  {about}");
        }
        commands.push('\n');
    }
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}\
         {heading}Options:{heading:#}\n{{options}}{{after-help}}"
    );
    command
        .help_template(template)
        .after_help("Use `freshet help COMMAND` for the options and examples of a command.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First words of command descriptions.
    const VERBS: [&str; 24] = [
        "Add",
        "Back",
        "Compare",
        "Compute",
        "Create",
        "Edit",
        "Export",
        "Fetch",
        "Import",
        "List",
        "Manage",
        "Pause",
        "Plan",
        "Remove",
        "Reproduce",
        "Resume",
        "Retry",
        "Revoke",
        "Rotate",
        "Run",
        "Send",
        "Show",
        "Keep",
        "Print",
    ];

    /// Maximum length of a command description, in characters.
    const MAX_ABOUT_LEN: usize = 70;
    /// Maximum length of the first line of an option's help, in characters.
    const MAX_HELP_LEN: usize = 95;

    /// Visits a command and all commands below it, each with its full name.
    fn visit_commands(command: &Command, path: &str, visit: &mut dyn FnMut(&str, &Command)) {
        visit(path, command);
        for subcommand in command.get_subcommands() {
            visit_commands(subcommand, &format!("{path} {}", subcommand.get_name()), visit);
        }
    }

    #[test]
    fn every_command_is_described_by_a_verb_and_an_object() {
        let mut commands = 0;
        visit_commands(&command(), "freshet", &mut |path, command| {
            commands += 1;
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let verb = about.split(' ').next().unwrap_or_default();
            assert!(VERBS.contains(&verb), "{path}: `{about}` does not begin with a known verb");
            assert!(about.contains(' '), "{path}: `{about}` has no object");
            assert!(!about.ends_with('.'), "{path}: `{about}` ends with a full stop");
            assert!(about.chars().count() <= MAX_ABOUT_LEN, "{path}: `{about}` is too long");
        });
        assert!(commands > 40, "only {commands} commands");
    }

    #[test]
    fn every_option_has_one_line_of_help() {
        visit_commands(&command(), "freshet", &mut |path, command| {
            for argument in command.get_arguments() {
                let name = format!("{path} {}", argument.get_id());
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!help.is_empty(), "{name} has no help");
                assert!(!help.ends_with('.'), "{name}: `{help}` ends with a full stop");
                assert!(help.chars().count() <= MAX_HELP_LEN, "{name}: `{help}` is too long");
            }
        });
    }

    #[test]
    fn every_command_is_in_one_group_of_the_help() {
        let listed: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let command = command();
        let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        for name in &names {
            let groups = listed.iter().filter(|it| *it == name).count();
            assert_eq!(groups, 1, "`{name}` is in {groups} groups of the help");
        }
        assert_eq!(listed.len(), names.len());
    }

    #[test]
    fn help_fits_a_hundred_columns() {
        visit_commands(&command(), "freshet", &mut |path, command| {
            for text in
                [command.get_after_help(), command.get_after_long_help()].into_iter().flatten()
            {
                let text = text.to_string();
                let long = text.lines().find(|line| line.chars().count() > 100);
                assert_eq!(long, None, "{path} has a line of more than 100 characters");
            }
        });
    }
}
