//! How fetches end, what that makes of a source, and what is told of it.

/// How a fetch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The first copy.
    First,
    /// What counts has changed.
    Changed,
    /// What counts is the same.
    Unchanged,
    /// No copy could be made.
    Failed,
    /// The source does not exist any more.
    Gone,
    /// The host does not want it fetched.
    Disallowed,
}

/// What the last fetch makes of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum State {
    /// Never fetched.
    #[default]
    New,
    /// The last fetch brought a copy, or confirmed it.
    Good,
    /// The last fetch failed.
    Failing,
    /// The source does not exist any more.
    Gone,
    /// The host does not want it fetched.
    Disallowed,
}

impl Outcome {
    const ALL: [Self; 6] =
        [Self::First, Self::Changed, Self::Unchanged, Self::Failed, Self::Gone, Self::Disallowed];

    /// What it makes of a source.
    #[must_use]
    pub fn state(self) -> State {
        match self {
            Self::First | Self::Changed | Self::Unchanged => State::Good,
            Self::Failed => State::Failing,
            Self::Gone => State::Gone,
            Self::Disallowed => State::Disallowed,
        }
    }
}

impl State {
    const ALL: [Self; 5] = [Self::New, Self::Good, Self::Failing, Self::Gone, Self::Disallowed];
}

/// Why a source was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// There was no copy of it.
    New,
    /// It was worth the price.
    Worth,
    /// Its changes that were announced were.
    Pending,
    /// It had not been fetched for as long as its owner allows.
    Overdue,
    /// The fetch before had failed.
    Retry,
    /// Nothing that was worth more was left to spend the budget on.
    Spare,
    /// Somebody asked for it.
    Asked,
}

impl Reason {
    const ALL: [Self; 7] = [
        Self::New,
        Self::Worth,
        Self::Pending,
        Self::Overdue,
        Self::Retry,
        Self::Spare,
        Self::Asked,
    ];

    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Worth => "worth",
            Self::Pending => "pending",
            Self::Overdue => "overdue",
            Self::Retry => "retry",
            Self::Spare => "spare",
            Self::Asked => "asked",
        }
    }
}

/// What an entry of the log tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// What counts of a source has changed.
    #[default]
    Changed,
    /// A source could not be fetched so many times in a row.
    Failing,
    /// A source that was failing can be fetched again.
    Recovered,
    /// A source has not changed for so long.
    Quiet,
    /// A source is no more.
    Gone,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Changed, Self::Failing, Self::Recovered, Self::Quiet, Self::Gone];
}

// The numbers are the places in `ALL`, and stand in files: they never change.
macro_rules! stored_as_number {
    ($type:ty) => {
        impl rusqlite::types::ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(rusqlite::types::ToSqlOutput::from(*self as i64))
            }
        }

        impl rusqlite::types::FromSql for $type {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                let number = value.as_i64()?;
                let place = usize::try_from(number).ok();
                let known = place.and_then(|place| Self::ALL.get(place).copied());
                known.ok_or(rusqlite::types::FromSqlError::OutOfRange(number))
            }
        }
    };
}
pub(crate) use stored_as_number;

stored_as_number!(Kind);
stored_as_number!(Outcome);
stored_as_number!(Reason);
stored_as_number!(State);
