use rand::{Rng, RngExt};

/// Draws items with probabilities proportional to their weights, in constant time: Walker's alias
/// method, as improved by Vose.
#[derive(Clone, Debug)]
pub(crate) struct AliasTable {
    columns: Vec<Column>,
}

/// A column is split between two items: `below` up to `height`, and `above` from there on.
#[derive(Clone, Copy, Debug)]
struct Column {
    height: f64,
    below: u32,
    above: u32,
}

impl AliasTable {
    /// Builds a table from at least one item with a positive weight.
    pub(crate) fn new(items: &[(u32, f64)]) -> Self {
        let mean = items.iter().map(|item| item.1).sum::<f64>() / items.len() as f64;
        let mut columns: Vec<Column> = items
            .iter()
            .map(|&(item, weight)| Column { height: weight / mean, below: item, above: item })
            .collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..columns.len()).partition(|&column| columns[column].height < 1.0);
        while let (Some(&low), Some(&high)) = (small.last(), large.last()) {
            small.pop();
            columns[low].above = columns[high].below;
            columns[high].height -= 1.0 - columns[low].height;
            if columns[high].height < 1.0 {
                large.pop();
                small.push(high);
            }
        }
        Self { columns }
    }

    pub(crate) fn draw(&self, random: &mut impl Rng) -> u32 {
        let column = self.columns[random.random_range(0..self.columns.len())];
        if random.random::<f64>() < column.height { column.below } else { column.above }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of each item, read off the table.
    fn probabilities(weights: &[f64]) -> Vec<f64> {
        let items: Vec<(u32, f64)> =
            weights.iter().enumerate().map(|(item, &weight)| (item as u32, weight)).collect();
        let alias = AliasTable::new(&items);
        let mut sums = vec![0.0; weights.len()];
        for column in &alias.columns {
            let height = column.height.min(1.0);
            sums[column.below as usize] += height / weights.len() as f64;
            sums[column.above as usize] += (1.0 - height) / weights.len() as f64;
        }
        sums
    }

    #[test]
    fn probabilities_are_proportional_to_weights() {
        let harmonic: Vec<f64> = (1..=1000).map(|i| 1.0 / f64::from(i)).collect();
        let steep: Vec<f64> = (0..60).map(|i| 0.5_f64.powi(i)).collect();
        for weights in [&[1.0][..], &[0.2; 5], &[0.999_999, 1e-9, 1e-12], &harmonic, &steep] {
            let sum: f64 = weights.iter().sum();
            for (probability, weight) in probabilities(weights).iter().zip(weights) {
                assert!((probability - weight / sum).abs() < 1e-15, "{probability} {weight}");
            }
        }
    }
}
