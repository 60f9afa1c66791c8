//! What copies are to be good for, as people write it.

use freshet_engine::Goal;
use freshet_estimate::{Capture, Life, Penalty, Urgency};

/// `harmonic`, `freshness`, `age`, or `capture` with a life and an urgency: `capture append decay:2d`.
///
/// # Errors
/// What is wrong with it, in words.
pub fn goal(text: &str) -> Result<Goal, String> {
    let mut words = text.split_whitespace();
    let goal = match words.next() {
        Some("harmonic") => Goal::Keep(Penalty::Harmonic),
        Some("freshness") => Goal::Keep(Penalty::Freshness),
        Some("age") => Goal::Keep(Penalty::Age),
        Some("capture") => {
            let life = words.next().map_or(Ok(Life::OVERWRITE), str::parse);
            let urgency = words.next().map_or(Ok(Urgency::Uniform), str::parse);
            let life = life.map_err(|why: freshet_estimate::InvalidCapture| why.to_string())?;
            let urgency =
                urgency.map_err(|why: freshet_estimate::InvalidCapture| why.to_string())?;
            Goal::Capture(Capture { life, urgency })
        }
        _ => {
            return Err(format!(
                "`{text}` is not one of harmonic, freshness, age and capture [LIFE [URGENCY]]"
            ));
        }
    };
    match words.next() {
        None => Ok(goal),
        Some(word) => Err(format!("`{word}` in `{text}` says nothing")),
    }
}
