//! Formatting of times for human output and for JSON.

pub(crate) use freshet_model::time_format::{
    format_duration, format_last, format_next, format_relative,
};
pub(crate) use freshet_notify::rfc3339;
