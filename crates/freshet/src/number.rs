//! Formatting of numbers for human output.

pub(crate) use freshet_model::number::{
    format_count, format_days, format_days_in_unit_of, format_fixed, format_share,
    format_significant, pluralize, unit_for_days,
};
