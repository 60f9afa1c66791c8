//! Errors of experiments.

/// Error of a calculation. Experiments use fixed inputs, so none of these should
/// occur.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A plan.
    #[error(transparent)]
    Plan(#[from] freshet_plan::PlanError),
    /// A table of sources.
    #[error(transparent)]
    Sources(#[from] freshet_plan::InvalidSources),
    /// A rate.
    #[error(transparent)]
    Rate(#[from] freshet_model::InvalidRate),
    /// Access frequencies.
    #[error(transparent)]
    Access(#[from] freshet_plan::AccessError),
    /// A sequence.
    #[error(transparent)]
    Schedule(#[from] freshet_schedule::ScheduleError),
    /// A crew.
    #[error(transparent)]
    Crew(#[from] freshet_crew::CrewError),
    /// A capture.
    #[error(transparent)]
    Capture(#[from] freshet_capture::CaptureError),
    /// A channel of signals.
    #[error(transparent)]
    Channel(#[from] freshet_estimate::InvalidSignalChannel),
    /// A simulation.
    #[error(transparent)]
    Sim(#[from] freshet_sim::SimError),
    /// A name of a policy.
    #[error(transparent)]
    Name(#[from] freshet_sim::UnknownName),
    /// A belief.
    #[error(transparent)]
    Belief(#[from] freshet_estimate::InvalidBelief),
}
