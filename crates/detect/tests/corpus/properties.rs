//! Laws that hold for every page.
