//! Experiments, one file each, and the list of all experiments.

mod azar_algorithms;
mod azar_fig_1;
mod azar_fig_2;
mod cho_fig_11;
mod cho_fig_12;
mod cho_fig_13;
mod cho_fig_15;
mod cho_fig_18;
mod cho_fig_9;
mod cho_table_2;
mod cho_table_3;
mod cho_table_4;
mod cho_table_5;
mod cho_table_7;
mod kolobov_fig_1;
mod kolobov_fig_2;
mod kolobov_fig_2_noisy;
mod kolobov_fig_3;
mod kolobov_prop_9;
mod kolobov_web;
mod liu_fig_1_2;
mod liu_figs_1_3_to_1_4;
mod liu_figs_1_5_to_1_7;
mod liu_golden;
mod liu_props_10_to_12;
mod liu_table_1_1;
mod liu_table_1_2;
mod liu_table_1_3;
mod noisy_index;
mod ours_belief;
mod ours_intervals;
mod ours_kth_change;
mod wic_bound;
mod wic_day;
mod wic_fig_5;
mod wic_fig_6;
mod wic_fig_7;
mod wic_fig_8;
mod wic_fig_9;
mod wic_noise;
mod wic_section_4;

use crate::catalogue::Experiment;

/// All experiments, in the order of the papers. To add one, add a file beside these, its `mod` declaration, and a line
/// here.
pub const CATALOGUE: &[Experiment] = &[
    cho_table_2::EXPERIMENT,
    cho_fig_9::EXPERIMENT,
    cho_table_3::EXPERIMENT,
    cho_table_4::EXPERIMENT,
    cho_fig_11::EXPERIMENT,
    cho_fig_12::EXPERIMENT,
    cho_table_5::EXPERIMENT,
    cho_fig_13::EXPERIMENT,
    cho_fig_15::EXPERIMENT,
    cho_table_7::EXPERIMENT,
    cho_fig_18::EXPERIMENT,
    azar_fig_1::EXPERIMENT,
    azar_fig_2::EXPERIMENT,
    azar_algorithms::EXPERIMENT,
    kolobov_fig_1::EXPERIMENT,
    kolobov_fig_2::EXPERIMENT,
    kolobov_fig_2_noisy::EXPERIMENT,
    kolobov_fig_3::EXPERIMENT,
    kolobov_prop_9::EXPERIMENT,
    liu_table_1_1::EXPERIMENT,
    liu_fig_1_2::EXPERIMENT,
    liu_figs_1_3_to_1_4::EXPERIMENT,
    liu_figs_1_5_to_1_7::EXPERIMENT,
    liu_table_1_2::EXPERIMENT,
    liu_table_1_3::EXPERIMENT,
    liu_props_10_to_12::EXPERIMENT,
    liu_golden::EXPERIMENT,
    wic_section_4::EXPERIMENT,
    wic_bound::EXPERIMENT,
    wic_fig_5::EXPERIMENT,
    wic_fig_6::EXPERIMENT,
    wic_fig_7::EXPERIMENT,
    wic_fig_8::EXPERIMENT,
    wic_fig_9::EXPERIMENT,
    ours_intervals::EXPERIMENT,
    ours_kth_change::EXPERIMENT,
    ours_belief::EXPERIMENT,
];
