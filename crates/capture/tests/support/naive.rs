//! The worth of a fetch and of a schedule by their definitions, term by term: WIC §2.2.

use freshet_capture::{Chances, Life, Page, Schedule, Urgency};

/// g(p, j): chances from the instant after the last fetch up to now.
pub(crate) fn worth(life: Life, urgency: Urgency, chances: &[f64]) -> f64 {
    // How many changes there were after the instant in question, each number with its chance.
    let mut later = vec![1.0];
    let mut worth = 0.0;
    for (&chance, delay) in chances.iter().rev().zip(0..) {
        let there = later.iter().zip(0..).filter(|&(_, later)| life.holds(delay, later));
        let there: f64 = there.map(|(chance, _)| chance).sum();
        worth += urgency.worth(delay) * chance * there;
        later.push(0.0);
        for number in (0..later.len()).rev() {
            let fewer = if number > 0 { later[number - 1] } else { 0.0 };
            later[number] = (1.0 - chance) * later[number] + chance * fewer;
        }
    }
    worth
}

/// U: all pages, all fetches.
pub(crate) fn expected(schedule: &Schedule, pages: &[Page], chances: &Chances) -> f64 {
    let mut total = 0.0;
    for (index, page) in pages.iter().enumerate() {
        let column: Vec<f64> = chances.iter().map(|row| row[index]).collect();
        let mut next = 0;
        for (now, fetched) in schedule.iter().enumerate() {
            if fetched.contains(&(index as u32)) {
                total += page.weight() * worth(page.life(), page.urgency(), &column[next..=now]);
                next = now + 1;
            }
        }
    }
    total
}
