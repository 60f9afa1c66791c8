//! In a few sentences: are the copies fresh, what limits them, what to do.

use freshet_daemon::Millis;

use crate::web::words;

/// Before this, what is spent in a day says little.
const DAY: Millis = 86_400_000;

/// Fetches for each source before what is expected of them is more than a guess.
const ENOUGH: f64 = 5.0;

/// From this share of sources on that cannot be fetched, it is they that limit.
const LOST: f64 = 0.05;
/// Less than this much fresher is hardly fresher.
const HARDLY: f64 = 0.005;

/// What the verdict is made of.
pub(super) struct Facts {
    /// Fetches a day, and those of the last day.
    pub(super) budget: f64,
    pub(super) spent: f64,
    /// The expected share of fresh copies; `None` if there are no copies.
    pub(super) freshness: Option<f64>,
    /// The same in the long run, and with twice the budget.
    pub(super) outlook: Option<f64>,
    pub(super) twice: Option<f64>,
    /// Whether all that is worth fetching can be fetched.
    pub(super) is_enough: bool,
    /// Milliseconds that the daemon runs.
    pub(super) running: Millis,
    /// Fetches that were answered so far, for each source.
    pub(super) looks: f64,
    /// Hosts that cannot take all that is worth the price.
    pub(super) full: u64,
    pub(super) trouble: Option<String>,
    /// Sources, and those that could not be fetched when that was tried last.
    pub(super) sources: u64,
    pub(super) lost: u64,
    /// Things that need a person.
    pub(super) needs: usize,
}

/// In a few sentences.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) headline: String,
    /// `good`, `warn` or `bad`.
    pub(super) tone: &'static str,
    pub(super) limit: String,
    /// What to do: a sentence, where it leads, and the words of the link.
    pub(super) advice: String,
    pub(super) link: Option<(&'static str, &'static str)>,
}

impl Verdict {
    pub(super) fn of(facts: &Facts) -> Self {
        let (headline, tone) = headline(facts);
        let (limit, advice, link) = limit(facts);
        Self { headline, tone, limit, advice, link }
    }
}

fn headline(facts: &Facts) -> (String, &'static str) {
    if facts.trouble.is_some() {
        return ("freshet is stuck".to_owned(), "bad");
    }
    let Some(fresh) = facts.freshness else {
        return ("There are no copies yet".to_owned(), "warn");
    };
    let share = words::percent(fresh);
    // As it is written: what reads as 50.0 % is not less than half.
    match (1000.0 * fresh).round() / 1000.0 {
        0.95.. => (format!("Your copies are fresh: {share}"), "good"),
        0.8.. => (format!("Most of your copies are fresh: {share}"), "good"),
        0.5.. => (format!("Many of your copies are out of date: {share} are fresh"), "warn"),
        _ => (format!("Most of your copies are out of date: {share} are fresh"), "bad"),
    }
}

type Limit = (String, String, Option<(&'static str, &'static str)>);

fn limit(facts: &Facts) -> Limit {
    if let Some(trouble) = &facts.trouble {
        return (
            format!("It cannot write to its store: {trouble}. Nothing is fetched until it can."),
            "Make room, or mend the disk; it goes on by itself.".to_owned(),
            None,
        );
    }
    if facts.budget <= 0.0 {
        let limit = "The budget is 0: nothing is fetched.".to_owned();
        return (limit, "Say how many fetches a day there may be.".to_owned(), what_if());
    }
    if facts.freshness.is_none() {
        let limit = "The first fetch of each source is on its way.".to_owned();
        let advice = "This page says more as soon as some have come.".to_owned();
        return (limit, advice, Some(("/sources", "Look at the sources")));
    }
    let budget = words::count(facts.budget.round() as u64);
    let hosts = words::plural(facts.full, "host", "hosts");
    if facts.lost as f64 > LOST * facts.sources as f64 {
        return lost(facts);
    }
    let unspent = facts.running >= DAY && facts.spent < 0.5 * facts.budget;
    if facts.full > 0 && (unspent || facts.is_enough) {
        return (
            format!(
                "Politeness limits them: {hosts} cannot be asked as often as would be worth it."
            ),
            "More budget would not help there. If a host is yours, let it be asked more often."
                .to_owned(),
            Some(("/hosts", "Look at the hosts")),
        );
    }
    if facts.is_enough {
        return (
            format!("Nothing limits them: {budget} fetches a day are more than are worth making."),
            "There is nothing to do; the budget could be smaller.".to_owned(),
            what_if(),
        );
    }
    let young = if facts.looks < ENOUGH {
        " It is still learning how often they change: these numbers will move."
    } else {
        ""
    };
    let also =
        if facts.full > 0 { format!(" Besides, {hosts} cannot take more.") } else { String::new() };
    if let (Some(now), Some(twice)) = (facts.outlook, facts.twice)
        && twice - now < HARDLY
    {
        let limit = format!(
            "The budget hardly limits them: {budget} fetches a day make {} of the copies fresh in the \
             long run, and twice as many would hardly help.{also}{young}",
            words::percent(now)
        );
        let advice = match facts.needs {
            0 => "There is nothing to do; the budget could be smaller.",
            _ => "Below is what needs a person.",
        };
        return (limit, advice.to_owned(), what_if());
    }
    let twice = match (facts.outlook, facts.twice) {
        (Some(now), Some(twice)) => format!(
            " In the long run it makes {} of the copies fresh; twice as much would make it {}.",
            words::percent(now),
            words::percent(twice)
        ),
        _ => String::new(),
    };
    let (advice, link) = if facts.needs > 0 {
        let advice = "Below is what needs a person; then see what more budget would buy.";
        (advice.to_owned(), what_if())
    } else {
        ("See what more, or less, would buy.".to_owned(), what_if())
    };
    (format!("The budget limits them: {budget} fetches a day.{twice}{also}{young}"), advice, link)
}

/// So many sources cannot be fetched that no budget makes up for it.
fn lost(facts: &Facts) -> Limit {
    let gain = facts.outlook.zip(facts.twice).map(|(now, twice)| twice - now);
    let others = match gain {
        Some(gain) if !facts.is_enough && gain >= HARDLY => format!(
            " The others are limited by the budget of {} fetches a day.",
            words::count(facts.budget.round() as u64)
        ),
        _ => String::new(),
    };
    let limit = format!(
        "{} of {} cannot be fetched: they fail, are gone, or their hosts do not allow it. No budget makes \
         up for that.{others}",
        words::count(facts.lost),
        words::plural(facts.sources, "source", "sources")
    );
    let advice = match facts.needs {
        0 => "They are tried again; those that go on failing will be named below.",
        _ => "See below what is wrong, and mend or remove them.",
    };
    (limit, advice.to_owned(), Some(("#needs", "What needs a person")))
}

fn what_if() -> Option<(&'static str, &'static str)> {
    Some(("/what-if", "What if the budget were another?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            budget: 500.0,
            spent: 500.0,
            freshness: Some(0.6),
            outlook: Some(0.62),
            twice: Some(0.75),
            is_enough: false,
            running: 2 * DAY,
            looks: 20.0,
            full: 0,
            trouble: None,
            sources: 100,
            lost: 0,
            needs: 0,
        }
    }

    fn check(facts: &Facts, headline: &str, limit: &str) {
        let verdict = Verdict::of(facts);
        assert!(verdict.headline.contains(headline), "{verdict:?}");
        assert!(verdict.limit.contains(limit), "{verdict:?}");
    }

    #[test]
    fn it_says_what_limits() {
        check(&facts(), "out of date: 60.0 % are fresh", "The budget limits them: 500");
        check(&facts(), "", "twice as much would make it 75.0 %");
        check(&Facts { full: 2, spent: 100.0, ..facts() }, "", "Politeness limits them: 2 hosts");
        check(&Facts { full: 1, is_enough: true, ..facts() }, "", "1 host cannot");
        check(&Facts { full: 1, ..facts() }, "", "Besides, 1 host");
        check(
            &Facts { is_enough: true, freshness: Some(0.99), ..facts() },
            "fresh: 99.0 %",
            "Nothing",
        );
        check(&Facts { looks: 1.0, ..facts() }, "", "still learning");
        check(&Facts { lost: 6, ..facts() }, "", "6 of 100 sources cannot be fetched");
        check(&Facts { lost: 6, ..facts() }, "", "The others are limited by the budget of 500");
        check(&Facts { lost: 5, ..facts() }, "", "The budget limits them");
        check(&Facts { twice: Some(0.62), ..facts() }, "", "The budget hardly limits them");
        check(&Facts { freshness: Some(0.4999), ..facts() }, "Many of your copies", "");
        check(&Facts { freshness: Some(0.494), ..facts() }, "Most of your copies are out", "");
        check(&Facts { budget: 0.0, ..facts() }, "", "The budget is 0");
        check(&Facts { trouble: Some("disk full".into()), ..facts() }, "stuck", "disk full");
        check(&Facts { freshness: None, ..facts() }, "no copies yet", "on its way");
    }
}
