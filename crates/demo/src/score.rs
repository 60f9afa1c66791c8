//! Scores of recorded fetches by the simulator, and its prediction for the
//! same web.

use freshet_model::{Budget, PerDay};
use freshet_sim::{Calendar, Event, Experiment, Policy, PolicyKind, Web};

use crate::error::DemoError;
use crate::truth::{Client, Fetched};
use crate::world::World;

/// Returns the importance-weighted mean freshness that the fetches achieve between day
/// `burn_in` and day `days`. As in the simulator, there is a copy of each page at the start.
///
/// # Errors
/// Returns an error if the simulator cannot make such a web.
pub fn score(
    world: &World,
    fetched: &[Fetched],
    days: f64,
    burn_in: f64,
) -> Result<f64, DemoError> {
    let web = Web::new(&world.origin(days), &[], days, world.seed())?;
    let mut sorted = fetched.to_vec();
    sorted.sort_by(|a, b| a.day.total_cmp(&b.day));
    let run = freshet_sim::run(
        &web,
        &mut Replay { fetched: &sorted },
        Calendar::new(days, burn_in, 2),
        None,
    );
    let sums = run.ledger.measured();
    Ok(1.0 - sums.stale / sums.present)
}

/// Returns the freshness that the simulator predicts for the three clients between day `burn_in` and day
/// `days`, with the given number of requests per day and page.
///
/// # Errors
/// Returns an error if the simulator cannot make such a web.
pub fn simulated(
    world: &World,
    budget: f64,
    days: f64,
    burn_in: f64,
) -> Result<[f64; 3], DemoError> {
    let policy = |client| match client {
        Client::Freshet => PolicyKind::Engine,
        Client::Equal => PolicyKind::Uniform,
        Client::Nutch => PolicyKind::Nutch,
    };
    let policies = Client::ALL.map(policy);
    let report = experiment(world, &policies, budget, days, burn_in)?.run(&|_| {})?;
    Ok([0, 1, 2].map(|at| report.policies[at].measured.freshness.mean))
}

/// Returns the time factor of Nutch's rule at which it meets a budget.
///
/// # Errors
/// Returns an error if the simulator cannot make such a web.
pub fn nutch_scale(world: &World, budget: f64, days: f64) -> Result<f64, DemoError> {
    let report = experiment(world, &[PolicyKind::Nutch], budget, days, 0.0)?.run(&|_| {})?;
    let scale = report.policies.first().and_then(|it| it.scale);
    Ok(scale.filter(|scale| scale.is_finite() && *scale > 0.0).unwrap_or(1.0))
}

fn experiment(
    world: &World,
    policies: &[PolicyKind],
    budget: f64,
    days: f64,
    burn_in: f64,
) -> Result<Experiment, DemoError> {
    let value = budget * world.len() as f64;
    let total = PerDay::new(value).map_err(|_| DemoError::Number { what: "the budget", value })?;
    Ok(Experiment {
        policies: policies.iter().map(|&kind| kind.into()).collect(),
        days: Some(days),
        burn_in: Some(burn_in),
        budget: Budget::Total(total),
        seeds: 1,
        seed: world.seed(),
        ..Experiment::new(world.origin(days))
    })
}

/// Policy that replays recorded fetches.
struct Replay<'a> {
    fetched: &'a [Fetched],
}

impl Policy for Replay<'_> {
    fn wake(&self) -> f64 {
        self.fetched.first().map_or(f64::INFINITY, |it| it.day)
    }

    fn step(&mut self, _: f64, event: Event, fetches: &mut Vec<u32>) {
        if event == Event::Wake
            && let Some((first, rest)) = self.fetched.split_first()
        {
            fetches.push(first.page);
            self.fetched = rest;
        }
    }
}
