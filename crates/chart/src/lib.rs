//! Numbers in; an SVG figure out. Reads no file or clock, uses no fonts or scripts, and does not interpret the numbers.
//!
//! A [`Figure`] holds one or several [`Panel`]s, a panel holds two [`Axis`]es, [`Series`] and [`Mark`]s:
//!
//! ```
//! use freshet_chart::{Axis, Figure, Mark, Panel, Series};
//!
//! let budgets = [100.0, 1_000.0, 10_000.0, 100_000.0];
//! let freshness = [0.12, 0.45, 0.81, 0.96];
//! let svg = Figure::new("What a budget buys")
//!     .panel(
//!         Panel::new()
//!             .x(Axis::log("budget", "fetches/day"))
//!             .y(Axis::linear("freshness", "").range(0.0, 1.0))
//!             .series(Series::line("optimal", &budgets, &freshness))
//!             .mark(Mark::vertical(5_000.0, "your budget 5,000/day")),
//!     )
//!     .to_svg();
//! assert!(svg.starts_with("<svg"));
//! ```
//!
//! The same figure gives the same bytes. No input causes a panic: a value that cannot be drawn (NaN, infinite, or not positive on a
//! logarithmic axis) is a gap.

mod axis;
mod figure;
mod mark;
mod panel;
mod series;

mod number;
mod scale;
mod ticks;

mod geometry;
mod palette;
mod svg;
mod text;
mod trace;

mod description;
mod end_labels;
mod frame;
mod header;
mod layout;
mod legend;
mod placement;
mod plot;

pub use axis::Axis;
pub use figure::Figure;
pub use legend::Legend;
pub use mark::Mark;
pub use number::number;
pub use panel::Panel;
pub use series::Series;
