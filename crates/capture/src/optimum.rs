use crate::chances::Chances;
use crate::{CaptureError, Page, Pending, Schedule};

/// Largest number of cases to try.
const CASES: f64 = 1e8;

/// Returns the optimal schedule for a few pages and instants by exhaustive search over all
/// states. Among equal schedules, returns the first.
///
/// All fetches of an instant are used. An idle fetch is never better: what a page loses by an
/// early fetch, that fetch has captured at no lower worth.
///
/// # Errors
///
/// Returns an error if the number of pages differs from that of the probabilities, or there are too many cases.
pub fn optimum(
    pages: &[Page],
    chances: &Chances,
    capacity: usize,
) -> Result<Schedule, CaptureError> {
    let (count, instants) = (pages.len(), chances.instants());
    if count != chances.pages() {
        return Err(CaptureError::Pages { expected: count, found: chances.pages() });
    }
    // A state is the last fetch of each page: 0, or the instant plus one.
    let base = instants + 1;
    let chosen = capacity.min(count);
    if (base as f64).powf(count as f64 + 1.0) * ways(count, chosen) > CASES {
        return Err(CaptureError::TooLarge { pages: count, instants });
    }
    let fetched = choices(count as u32, chosen as u32);
    let states = base.pow(count as u32);
    let place: Vec<usize> = (0..count as u32).map(|page| base.pow(page)).collect();
    let last = |state: usize, page: u32| state / place[page as usize] % base;
    let worth: Vec<Vec<Vec<f64>>> =
        pages.iter().enumerate().map(|(page, it)| worths(*it, chances, page)).collect();

    let mut after = vec![0.0; states];
    let mut choice = vec![vec![0_u32; states]; instants];
    for now in (0..instants).rev() {
        let mut best = vec![0.0; states];
        for state in 0..states {
            if (0..count as u32).any(|page| last(state, page) > now) {
                continue;
            }
            let mut highest = f64::NEG_INFINITY;
            for (fetched, index) in fetched.iter().zip(0..) {
                let (mut total, mut next) = (0.0, state);
                for &page in fetched {
                    let before = last(state, page);
                    total += worth[page as usize][before][now];
                    next += (now + 1 - before) * place[page as usize];
                }
                total += after[next];
                if total > highest {
                    highest = total;
                    choice[now][state] = index;
                }
            }
            best[state] = highest;
        }
        after = best;
    }

    let mut schedule = Schedule::empty(count);
    let mut state = 0;
    for (now, choice) in choice.iter().enumerate() {
        let fetched = &fetched[choice[state] as usize];
        for &page in fetched {
            state += (now + 1 - last(state, page)) * place[page as usize];
        }
        schedule.add(fetched);
    }
    Ok(schedule)
}

/// Worth of a fetch of a page, by the previous fetch (0, or its instant plus one)
/// and by its own instant.
fn worths(page: Page, chances: &Chances, index: usize) -> Vec<Vec<f64>> {
    let after = |last: usize| {
        let mut pending = Pending::new(page.life(), page.urgency());
        let row = chances.iter().enumerate().map(|(now, row)| {
            if now < last { 0.0 } else { page.weight() * pending.pass(row[index]) }
        });
        row.collect()
    };
    (0..=chances.instants()).map(after).collect()
}

/// Returns the number of ways to choose a number of pages.
fn ways(pages: usize, chosen: usize) -> f64 {
    (0..chosen).map(|i| (pages - i) as f64 / (i + 1) as f64).product()
}

/// Returns all ways to choose a number of pages, in order.
fn choices(pages: u32, chosen: u32) -> Vec<Vec<u32>> {
    let mut choices = vec![Vec::new()];
    for _ in 0..chosen {
        let longer = choices.iter().flat_map(|choice: &Vec<u32>| {
            let next = choice.last().map_or(0, |last| last + 1);
            (next..pages).map(|page| choice.iter().copied().chain([page]).collect())
        });
        choices = longer.collect();
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_there_once() {
        for (pages, chosen) in [(0, 0), (1, 0), (1, 1), (5, 2), (6, 3), (6, 6)] {
            let choices = choices(pages, chosen);
            assert_eq!(choices.len() as f64, ways(pages as usize, chosen as usize));
            assert!(choices.windows(2).all(|pair| pair[0] < pair[1]));
        }
        assert_eq!(choices(3, 2), [[0, 1], [0, 2], [1, 2]]);
    }

    #[test]
    fn what_is_too_large_is_said_to_be() {
        let chances = Chances::new(12, vec![0.5; 1200]).unwrap();
        let error = optimum(&[Page::cam(1.0).unwrap(); 12], &chances, 3).unwrap_err();
        assert_eq!(error, CaptureError::TooLarge { pages: 12, instants: 100 });
    }

    #[test]
    fn nothing_is_an_instance_too() {
        let none = Chances::new(0, Vec::new()).unwrap();
        assert_eq!(optimum(&[], &none, 3).unwrap().instants(), 0);
        let one = Chances::new(1, vec![1.0, 1.0]).unwrap();
        let page = [Page::cam(1.0).unwrap()];
        assert_eq!(optimum(&page, &one, 0).unwrap().fetches(), 0);
        assert_eq!(optimum(&page, &one, 9).unwrap().fetches(), 2);
    }
}
