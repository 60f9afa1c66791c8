//! Estimates of the engine for one source, over time.

mod moments;
mod timeline;

use freshet_sim::{Experiment, SimError, SimObjective, SourceStory};

use crate::commands::simulate::arguments::SimulateArguments;
use crate::commands::simulate::names::Names;
use crate::commands::simulate::web::SimulatedWeb;
use crate::failure::Failure;
use crate::number::format_count;
use crate::output::{print_json, print_text};

/// Maximum number of lines of a timeline.
const MAX_LINES: usize = 60;

pub(crate) fn run(
    arguments: &SimulateArguments,
    web: &SimulatedWeb,
    experiment: &Experiment,
    source: &str,
    describe_error: &dyn Fn(SimError) -> Failure,
) -> Result<(), Failure> {
    let names = Names::for_sources(&web.origin);
    let number =
        names.find(source).map_err(|unknown| Failure::new(unknown.fact).with_hint(unknown.hint))?;
    let story = experiment.explain(number).map_err(describe_error)?;
    if arguments.json {
        return print_json(&moments::objects(&story));
    }
    let mut text = headline(arguments, web, &names, number, experiment.objective);
    let shown = select_events(&story);
    if shown.len() < story.moments.len() {
        text += &format!(
            "{} of {} events, sampled evenly: --json prints all\n",
            format_count(shown.len()),
            format_count(story.moments.len())
        );
    }
    text.push('\n');
    for line in timeline::lines(&story, &shown) {
        text += &line;
        text.push('\n');
    }
    if let Some(mut end) = story.end {
        // Numbers on the command line start from 1.
        end.id += 1;
        end.host.number += 1;
        text += &format!("\n{end}\n");
    }
    print_text(&text)
}

fn headline(
    arguments: &SimulateArguments,
    web: &SimulatedWeb,
    names: &Names<'_>,
    number: u32,
    objective: SimObjective,
) -> String {
    let sources = format_count(web.origin.sources());
    let mut text = format!("source {}", names.name(number));
    if names.name(number) != (number + 1).to_string() {
        text += &format!(", number {}", format_count(number as usize + 1));
    }
    text += &format!(
        " of {sources}; engine, objective {}, budget {}, seed {}\n{}\n",
        objective,
        arguments.budget,
        arguments.seed,
        web.description()
    );
    text
}

/// Selects the events to show, by priority; events of a priority that do not all fit are sampled evenly.
fn select_events(story: &SourceStory) -> Vec<usize> {
    let all = 0..story.moments.len();
    if story.moments.len() <= MAX_LINES {
        return all.collect();
    }
    let mut shown: Vec<usize> = Vec::new();
    for priority in moments::Priority::ALL {
        let events: Vec<usize> =
            all.clone().filter(|&at| moments::priority(&story.moments[at]) == priority).collect();
        let count_shown = events.len().min(MAX_LINES - shown.len());
        shown.extend((0..count_shown).map(|at| events[at * events.len() / count_shown]));
    }
    shown.sort_unstable();
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use freshet_sim::{Moment, MomentKind};

    /// A story with the given numbers of turning points, first changes and repeated changes.
    fn story(turning: usize, first: usize, repeated: usize) -> SourceStory {
        let moment =
            |what, missed| Moment { day: 0.0, what, before: None, missed, rate: 1.0, after: None };
        let mut moments = vec![moment(MomentKind::Budget(1.0), 0); turning];
        moments.extend(vec![moment(MomentKind::Changed, 1); first]);
        moments.extend(vec![moment(MomentKind::Changed, 2); repeated]);
        SourceStory { moments, end: None }
    }

    #[test]
    fn turning_points_are_kept_and_other_events_are_sampled_evenly() {
        assert_eq!(select_events(&story(1, 2, 57)), (0..60).collect::<Vec<_>>());
        let expect: Vec<usize> = (0..5).chain((0..55).map(|at| 5 + 2 * at)).collect();
        assert_eq!(select_events(&story(5, 110, 99)), expect);
        let expect: Vec<usize> = (0..30).chain((0..30).map(|at| 30 + 10 * at)).collect();
        assert_eq!(select_events(&story(10, 20, 300)), expect);
        assert_eq!(select_events(&story(600, 5, 5)).len(), MAX_LINES);
    }
}
