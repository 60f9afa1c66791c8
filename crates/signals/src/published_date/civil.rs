//! The Gregorian calendar.

/// Seconds of a day.
pub(super) const DAY: i64 = 86_400;

/// Days from 1970-01-01 to a day of the years 0 to 9999. Years begin in March here, so that the leap
/// day is their last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before = (153 * month + 2) / 5;
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leaps + before + day - 1 - 719_468
}

/// The beginning of a day, in seconds; nothing if there is no such day.
pub(super) fn day(year: i64, month: i64, day: i64) -> Option<i64> {
    let exists = (0..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of_month(year, month)).contains(&day);
    exists.then(|| days(year, month, day) * DAY)
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The year and month that a moment of the years 0 to 9999 is in.
fn month_of(at: i64) -> (i64, i64) {
    let first = days(0, 1, 1);
    let days_since = at.div_euclid(DAY).clamp(first, days(9999, 12, 31));
    let mut year = (days_since - first) / 366;
    while days(year + 1, 1, 1) <= days_since {
        year += 1;
    }
    let month = (2..=12).find(|month| days(year, *month, 1) > days_since);
    (year, month.map_or(12, |month| month - 1))
}

/// Seconds of the month that a moment is in.
pub(super) fn month_length(at: i64) -> i64 {
    let (year, month) = month_of(at);
    days_of_month(year, month) * DAY
}

/// Seconds of the year that a moment is in.
pub(super) fn year_length(at: i64) -> i64 {
    let (year, _) = month_of(at);
    (days(year + 1, 1, 1) - days(year, 1, 1)) * DAY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_each_other() {
        let mut expect = day(0, 1, 1).unwrap();
        assert_eq!(expect, -719_528 * DAY);
        for year in 0..=2400 {
            for month in 1..=12 {
                for date in 1..=days_of_month(year, month) {
                    assert_eq!(day(year, month, date), Some(expect));
                    if date == 1 {
                        assert_eq!(month_of(expect), (year, month));
                    }
                    expect += DAY;
                }
            }
        }
        assert_eq!(day(1970, 1, 1), Some(0));
        assert_eq!(day(2024, 2, 30), None);
        assert_eq!(day(0, 0, 0), None);
    }
}
