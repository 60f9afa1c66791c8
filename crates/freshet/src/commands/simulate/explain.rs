//! What the engine thinks of one source, over time.

mod moments;
mod timeline;

use freshet_sim::{Aim, Experiment, SimError, Story};

use crate::commands::simulate::arguments::SimulateArguments;
use crate::commands::simulate::names::Names;
use crate::commands::simulate::world::World;
use crate::failure::Failure;
use crate::number::count;
use crate::output::{print_json, print_text};

/// Lines of a timeline, unless all are asked for.
const LINES: usize = 60;

pub(crate) fn run(
    arguments: &SimulateArguments,
    world: &World,
    experiment: &Experiment,
    source: &str,
    refused: &dyn Fn(SimError) -> Failure,
) -> Result<(), Failure> {
    let names = Names::of_sources(&world.origin);
    let number =
        names.find(source).map_err(|unknown| Failure::new(unknown.fact).hint(unknown.hint))?;
    let story = experiment.explain(number).map_err(refused)?;
    if arguments.json {
        return print_json(&moments::objects(&story));
    }
    let mut text = headline(arguments, world, &names, number, experiment.objective);
    let shown = thin(&story);
    if shown.len() < story.moments.len() {
        text += &format!(
            "{} of {} moments, thinned out evenly: --json prints all\n",
            count(shown.len()),
            count(story.moments.len())
        );
    }
    text.push('\n');
    for line in timeline::lines(&story, &shown) {
        text += &line;
        text.push('\n');
    }
    if let Some(mut end) = story.end {
        // Numbers from 1, as everywhere on the command line.
        end.id += 1;
        end.host.number += 1;
        text += &format!("\n{end}\n");
    }
    print_text(&text)
}

fn headline(
    arguments: &SimulateArguments,
    world: &World,
    names: &Names<'_>,
    number: u32,
    objective: Aim,
) -> String {
    let sources = count(world.origin.sources());
    let mut text = format!("source {}", names.name(number));
    if names.name(number) != (number + 1).to_string() {
        text += &format!(", number {}", count(number as usize + 1));
    }
    text += &format!(
        " of {sources}; engine, objective {}, budget {}, seed {}\n{}\n",
        objective,
        arguments.budget,
        arguments.seed,
        world.words()
    );
    text
}

/// The moments to show: turning points first, then what fetches found; of each kind as many as have
/// room, evenly.
fn thin(story: &Story) -> Vec<usize> {
    let all = 0..story.moments.len();
    if story.moments.len() <= LINES {
        return all.collect();
    }
    let mut shown: Vec<usize> = Vec::new();
    for weight in moments::Weight::ALL {
        let some: Vec<usize> =
            all.clone().filter(|&at| moments::weight(&story.moments[at]) == weight).collect();
        let room = some.len().min(LINES - shown.len());
        shown.extend((0..room).map(|at| some[at * some.len() / room]));
    }
    shown.sort_unstable();
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use freshet_sim::{Moment, What};

    /// A story with so many turning points, first changes, and changes after them.
    fn story(turning: usize, first: usize, again: usize) -> Story {
        let moment =
            |what, missed| Moment { day: 0.0, what, before: None, missed, rate: 1.0, after: None };
        let mut moments = vec![moment(What::Budget(1.0), 0); turning];
        moments.extend(vec![moment(What::Changed, 1); first]);
        moments.extend(vec![moment(What::Changed, 2); again]);
        Story { moments, end: None }
    }

    #[test]
    fn what_matters_stays_and_the_rest_is_thinned_out_evenly() {
        assert_eq!(thin(&story(1, 2, 57)), (0..60).collect::<Vec<_>>());
        let expect: Vec<usize> = (0..5).chain((0..55).map(|at| 5 + 2 * at)).collect();
        assert_eq!(thin(&story(5, 110, 99)), expect);
        let expect: Vec<usize> = (0..30).chain((0..30).map(|at| 30 + 10 * at)).collect();
        assert_eq!(thin(&story(10, 20, 300)), expect);
        assert_eq!(thin(&story(600, 5, 5)).len(), LINES);
    }
}
