//! `freshet simulate`.

mod aim;
mod arguments;
mod explain;
mod files;
mod names;
mod picture;
mod report;
mod scenario;
mod signals;
mod summary;
mod table;
mod verdict;
mod world;

use std::sync::Mutex;

use freshet_plan::Timing;
use freshet_sim::{Aim, Choice, Experiment, PolicyKind, Report, SimError};

pub(crate) use crate::commands::simulate::arguments::SimulateArguments;

use crate::commands::simulate::arguments::{BurnIn, Trace};
use crate::commands::simulate::scenario::ScenarioFile;
use crate::commands::simulate::world::{World, world};
use crate::failure::Failure;
use crate::output::{check_directory, check_not_input, note, print_json};
use crate::progress::Progress;

/// About how many runs it takes to scale a rule; only the progress bar minds.
const SCALING: usize = 8;

/// What was simulated, and what came of it.
pub(crate) struct Simulated<'a> {
    pub(crate) arguments: &'a SimulateArguments,
    pub(crate) world: &'a World,
    pub(crate) scenario: &'a ScenarioFile,
    pub(crate) report: &'a Report,
}

impl Simulated<'_> {
    /// Whether anybody says that sources have changed.
    pub(crate) fn has_signals(&self) -> bool {
        self.world.signals.is_some()
    }
}

pub(crate) fn run(arguments: &SimulateArguments) -> Result<(), Failure> {
    if let Some(out) = &arguments.out {
        check_directory(out)?;
        let trace = match &arguments.trace {
            Some(Trace::File(path)) => Some(path),
            _ => None,
        };
        let inputs = [arguments.table.as_ref(), trace, arguments.pages.as_ref()];
        let others = [arguments.scenario.as_ref(), arguments.signal_trace.as_ref()];
        for input in inputs.into_iter().chain(others).flatten() {
            for name in files::NAMES {
                check_not_input(&out.join(name), input)?;
            }
        }
    }
    let objective = arguments.aim.aim()?;
    let policies = policies(arguments, objective)?;
    let world = world(arguments)?;
    let scenario = match &arguments.scenario {
        Some(path) => scenario::read(path, &world.origin)?,
        None => ScenarioFile::default(),
    };
    let mut experiment = Experiment {
        policies,
        days: arguments.days,
        budget: arguments.budget,
        objective,
        timing: arguments.options.timing,
        observed: arguments.options.observed,
        faults: arguments.fault.clone(),
        scenario: scenario.scenario.clone(),
        signals: world.signals.as_ref().map(|it| it.signals.clone()),
        seeds: arguments.seeds as usize,
        seed: arguments.seed,
        ..Experiment::new(world.origin.clone())
    };
    let days = experiment.calendar().map_err(|error| failure(&error, experiment.timing))?.days;
    experiment.burn_in = Some(match arguments.burn_in {
        BurnIn::Days(burn_in) => burn_in,
        BurnIn::Share(share) => share * days,
    });
    let refused = |error: SimError| {
        scenario.failure(&error).unwrap_or_else(|| failure(&error, experiment.timing))
    };
    if let Some(source) = &arguments.explain {
        return explain::run(arguments, &world, &experiment, source, &refused);
    }
    let report = simulate(&experiment).map_err(refused)?;

    let simulated = Simulated { arguments, world: &world, scenario: &scenario, report: &report };
    if let Some(out) = &arguments.out {
        files::write_all(out, &simulated)?;
    }
    if arguments.json {
        print_json(&report::Object::of(&simulated))?;
    }
    if !arguments.quiet {
        note(&summary::text(&simulated));
    }
    Ok(())
}

fn simulate(experiment: &Experiment) -> Result<Report, SimError> {
    let scaled = experiment.policies.iter().filter(|choice| choice.kind.is_scaled()).count();
    let runs = experiment.policies.len() * experiment.seeds;
    let work = Mutex::new((Progress::new("simulating"), 0, 0));
    let all = (runs + SCALING * scaled) as f64;
    experiment.run(&|event| {
        let Ok(mut work) = work.lock() else { return };
        let (progress, scalings, done) = &mut *work;
        match event {
            freshet_sim::Progress::Planned { .. } => {}
            freshet_sim::Progress::Scaled => *scalings += 1,
            freshet_sim::Progress::Done => *done += 1,
        }
        let words = match *done {
            0 => "finding scales".to_owned(),
            done => format!("{done} of {runs} runs"),
        };
        let scaled = if *done > 0 { SCALING * scaled } else { (*scalings).min(SCALING * scaled) };
        progress.report(Some((scaled + *done) as f64 / all), &words);
    })
}

/// The policies asked for, each once; otherwise all for the objective but the one that only checks
/// the bound.
fn policies(arguments: &SimulateArguments, objective: Aim) -> Result<Vec<Choice>, Failure> {
    let asked = &arguments.policies;
    if arguments.explain.is_some()
        && let Some(other) = asked.iter().find(|choice| choice.kind != PolicyKind::Engine)
    {
        return Err(Failure::new(format!(
            "--explain is about what the engine thinks, and --policies names `{other}`"
        ))
        .hint("leave out --policies, or --explain"));
    }
    if asked.is_empty() {
        let usual = |kind: &&PolicyKind| **kind != PolicyKind::Greedy && kind.serves(objective);
        let mut all: Vec<Choice> =
            PolicyKind::ALL.iter().filter(usual).map(|&kind| kind.into()).collect();
        if arguments.signals.is_some() || arguments.signal_trace.is_some() {
            // What others make of signals, beside what the same policy makes of them.
            for choice in ["engine:blind", "engine:ignoring", "lambda:ignoring"] {
                let choice: Choice = choice.parse().map_err(|error| Failure::new(&error))?;
                let beside = all.iter().position(|it| it.kind == choice.kind);
                all.insert(beside.map_or(all.len(), |at| at + 1), choice);
            }
        }
        return Ok(all);
    }
    match asked.iter().enumerate().find(|(at, choice)| asked[..*at].contains(choice)) {
        None => Ok(asked.clone()),
        Some((_, twice)) => Err(Failure::new(format!("the policy `{twice}` is asked for twice"))
            .hint("name each once in --policies")),
    }
}

/// Why nothing was simulated, and the way out.
fn failure(error: &SimError, timing: Timing) -> Failure {
    let failure = Failure::new(error);
    match error {
        SimError::NoSources | SimError::NoTime(_) | SimError::Scenario { .. } => failure,
        SimError::Days(_) => failure.hint("give a number of days, such as `--days 60`"),
        SimError::BurnIn { .. } => {
            failure.hint("give a shorter `--burn-in`, such as `50%`, or more `--days`")
        }
        SimError::Chance { .. } => failure.hint(
            "give chances below 1, or choose another `--web`: in slots a rate is the chance of a \
             change in a day",
        ),
        SimError::Policy { objective: "capture", .. } => failure
            .hint("leave it out of --policies: it plans, and plans know no updates; see also `wic`"),
        SimError::Policy { .. } => {
            failure.hint("leave it out of --policies, or give `--objective capture`")
        }
        SimError::Plan(_) if timing == Timing::Slots => failure.hint(
            "choose another `--timing`, or give chances below 1: `--timing slots` is for `--web slots`",
        ),
        SimError::Plan(_) => failure.hint("choose another `--budget`, in fetches a day"),
        SimError::NoRecord => failure.hint("give the changes with --trace, or leave out --signal-trace"),
        SimError::Strangers { .. } => failure.hint(
            "both traces must call a page by the same `path`, or `page_id` if there is none",
        ),
        SimError::TooMuch { .. } => failure.hint("take fewer sources or days, or a smaller budget"),
    }
}
