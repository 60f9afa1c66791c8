//! Objectives as users write them.

use freshet_engine::Goal;
use freshet_estimate::{CaptureObjective, Penalty, UpdateLifetime, Urgency};

/// Parses `harmonic`, `freshness`, `age`, or `capture` with a life and an urgency: `capture append
/// decay:2d`.
///
/// # Errors
/// Returns a message if the text is not an objective.
pub fn parse_goal(text: &str) -> Result<Goal, String> {
    let mut words = text.split_whitespace();
    let goal = match words.next() {
        Some("harmonic") => Goal::KeepFresh(Penalty::Harmonic),
        Some("freshness") => Goal::KeepFresh(Penalty::Freshness),
        Some("age") => Goal::KeepFresh(Penalty::Age),
        Some("capture") => {
            let life = words.next().map_or(Ok(UpdateLifetime::OVERWRITE), str::parse);
            let urgency = words.next().map_or(Ok(Urgency::Uniform), str::parse);
            let life = life.map_err(|error: freshet_estimate::InvalidCapture| error.to_string())?;
            let urgency =
                urgency.map_err(|error: freshet_estimate::InvalidCapture| error.to_string())?;
            Goal::Capture(CaptureObjective { life, urgency })
        }
        _ => {
            return Err(format!(
                "`{text}` is not one of harmonic, freshness, age and capture [LIFE [URGENCY]]"
            ));
        }
    };
    match words.next() {
        None => Ok(goal),
        Some(word) => Err(format!("unexpected `{word}` in `{text}`")),
    }
}
