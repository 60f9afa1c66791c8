//! Rates in; the order of fetches out.
