//! `freshet simulate`.

mod arguments;
mod comparison;
mod explain;
mod files;
mod names;
mod objective;
mod picture;
mod report;
mod scenario;
mod signals;
mod summary;
mod table;
mod web;

use std::sync::Mutex;

use freshet_plan::Timing;
use freshet_sim::{Choice, Experiment, PolicyKind, Report, SimError, SimObjective};

pub(crate) use crate::commands::simulate::arguments::SimulateArguments;

use crate::commands::simulate::arguments::{BurnIn, TraceSource};
use crate::commands::simulate::scenario::ScenarioFile;
use crate::commands::simulate::web::{SimulatedWeb, load_web};
use crate::failure::Failure;
use crate::output::{check_directory, check_not_input, print_json, print_note};
use crate::progress::Progress;

/// Approximate number of runs that it takes to scale a rule; used for the progress bar only.
const RUNS_PER_SCALE: usize = 8;

/// A finished simulation with its inputs and its report.
pub(crate) struct FinishedSimulation<'a> {
    pub(crate) arguments: &'a SimulateArguments,
    pub(crate) web: &'a SimulatedWeb,
    pub(crate) scenario: &'a ScenarioFile,
    pub(crate) report: &'a Report,
}

impl FinishedSimulation<'_> {
    /// True if signals were simulated.
    pub(crate) fn has_signals(&self) -> bool {
        self.web.signals.is_some()
    }
}

pub(crate) fn run(arguments: &SimulateArguments) -> Result<(), Failure> {
    if let Some(out) = &arguments.out {
        check_directory(out)?;
        let trace = match &arguments.trace {
            Some(TraceSource::File(path)) => Some(path),
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
    let objective = arguments.objective.resolve()?;
    let policies = policies(arguments, objective)?;
    let web = load_web(arguments)?;
    let scenario = match &arguments.scenario {
        Some(path) => scenario::read(path, &web.origin)?,
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
        signals: web.signals.as_ref().map(|it| it.signals.clone()),
        seeds: arguments.seeds as usize,
        seed: arguments.seed,
        ..Experiment::new(web.origin.clone())
    };
    let days = experiment.calendar().map_err(|error| failure(&error, experiment.timing))?.days;
    experiment.burn_in = Some(match arguments.burn_in {
        BurnIn::Days(burn_in) => burn_in,
        BurnIn::Share(share) => share * days,
    });
    let describe_error = |error: SimError| {
        scenario.failure(&error).unwrap_or_else(|| failure(&error, experiment.timing))
    };
    if let Some(source) = &arguments.explain {
        return explain::run(arguments, &web, &experiment, source, &describe_error);
    }
    let report = simulate(&experiment).map_err(describe_error)?;

    let simulated =
        FinishedSimulation { arguments, web: &web, scenario: &scenario, report: &report };
    if let Some(out) = &arguments.out {
        files::write_all(out, &simulated)?;
    }
    if arguments.json {
        print_json(&report::SimulationReport::new(&simulated))?;
    }
    if !arguments.quiet {
        print_note(&summary::text(&simulated));
    }
    Ok(())
}

fn simulate(experiment: &Experiment) -> Result<Report, SimError> {
    let scaled = experiment.policies.iter().filter(|choice| choice.kind.is_scaled()).count();
    let runs = experiment.policies.len() * experiment.seeds;
    let work = Mutex::new((Progress::new("simulating"), 0, 0));
    let all = (runs + RUNS_PER_SCALE * scaled) as f64;
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
        let scaled = if *done > 0 {
            RUNS_PER_SCALE * scaled
        } else {
            (*scalings).min(RUNS_PER_SCALE * scaled)
        };
        progress.report(Some((scaled + *done) as f64 / all), &words);
    })
}

/// Returns the given policies, each once, or by default all for the objective except `greedy`, which only
/// checks the bound.
fn policies(
    arguments: &SimulateArguments,
    objective: SimObjective,
) -> Result<Vec<Choice>, Failure> {
    let selected = &arguments.policies;
    if arguments.explain.is_some()
        && let Some(other) = selected.iter().find(|choice| choice.kind != PolicyKind::Engine)
    {
        return Err(Failure::new(format!(
            "--explain shows the estimates of the engine, and --policies contains `{other}`"
        ))
        .with_hint("remove --policies or --explain"));
    }
    if selected.is_empty() {
        let is_default =
            |kind: &&PolicyKind| **kind != PolicyKind::Greedy && kind.serves(objective);
        let mut all: Vec<Choice> =
            PolicyKind::ALL.iter().filter(is_default).map(|&kind| kind.into()).collect();
        if arguments.signals.is_some() || arguments.signal_trace.is_some() {
            // Variants with other uses of signals are placed next to their policy.
            for choice in ["engine:blind", "engine:ignoring", "lambda:ignoring"] {
                let choice: Choice = choice.parse().map_err(|error| Failure::new(&error))?;
                let position = all.iter().position(|it| it.kind == choice.kind);
                all.insert(position.map_or(all.len(), |at| at + 1), choice);
            }
        }
        return Ok(all);
    }
    match selected.iter().enumerate().find(|(at, choice)| selected[..*at].contains(choice)) {
        None => Ok(selected.clone()),
        Some((_, policy)) => Err(Failure::new(format!("the policy `{policy}` is given twice"))
            .with_hint("give each policy once in --policies")),
    }
}

/// Describes a simulation error, with a hint.
fn failure(error: &SimError, timing: Timing) -> Failure {
    let failure = Failure::new(error);
    match error {
        SimError::NoSources | SimError::NoTime(_) | SimError::Scenario { .. } => failure,
        SimError::Days(_) => failure.with_hint("give a number of days, such as `--days 60`"),
        SimError::BurnIn { .. } => {
            failure.with_hint("give a shorter `--burn-in`, such as `50%`, or more `--days`")
        }
        SimError::Chance { .. } => failure.with_hint(
            "give probabilities below 1, or choose another `--web`: with slots a rate is the \
             probability of a change in a day",
        ),
        SimError::Policy { objective: "capture", .. } => failure
            .with_hint("remove it from --policies: it plans rates, which cannot capture; see also `wic`"),
        SimError::Policy { .. } => {
            failure.with_hint("remove it from --policies, or give `--objective capture`")
        }
        SimError::Plan(_) if timing == Timing::Slots => failure.with_hint(
            "choose another `--timing`, or give probabilities below 1: `--timing slots` requires `--web \
             slots`",
        ),
        SimError::Plan(_) => failure.with_hint("choose another `--budget`, in fetches a day"),
        SimError::NoRecord => failure.with_hint("give the changes with --trace, or remove --signal-trace"),
        SimError::UnknownSources { .. } => failure.with_hint(
            "both traces must use the same `path` for a page, or the same `page_id` without paths",
        ),
        SimError::TooMuch { .. } => failure.with_hint("use fewer sources or days, or a smaller budget"),
    }
}
