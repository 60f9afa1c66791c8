//! The table of sources that `freshet plan` reads.

use std::path::Path;

use freshet_tables::{Input, ReadOptions};

use super::{Each, Notes, wanted};
use crate::failure::Failure;

pub(crate) fn read(path: &Path, each: Each<'_>) -> Result<Notes, Failure> {
    let options = ReadOptions { ignore_extra: true, estimate: &|_| 0.0 };
    let input = Input::from_argument(path);
    let table = freshet_tables::read(&input, &options, &mut |_| {})?.table;
    let Some(ids) = &table.ids else {
        let name = path.display();
        return Err(Failure::new(format!("{name}: there is no column `id` with the URLs"))
            .hint("add it, or import a list of URLs with --format urls"));
    };
    for (row, url) in ids.iter().enumerate() {
        let mut found = wanted(url, || format!(", row {}", row + 1));
        if let Ok(wanted) = &mut found {
            let given = &mut wanted.given;
            given.importance = Some(table.importance[row]);
            given.cost = table.cost.as_ref().map(|cost| cost[row]);
            let least = table.min_rate.as_ref().map_or(0.0, |rates| rates[row]);
            let most = table.max_rate.as_ref().map_or(f64::INFINITY, |rates| rates[row]);
            given.max_interval = (least > 0.0).then(|| 1.0 / least);
            given.min_interval = (most > 0.0 && most.is_finite()).then(|| 1.0 / most);
            // What may never be fetched is left alone.
            given.paused = (most == 0.0).then_some(true);
        }
        each(found)?;
    }
    let observed = table.complete.iter().flatten().filter(|complete| **complete).count();
    Ok(match observed {
        0 => vec!["change rates are not taken over: they are learnt".to_owned()],
        _ => vec![
            "change rates are not taken over: they are learnt".to_owned(),
            format!(
                "`complete` of {observed} sources says nothing: nobody announces their changes"
            ),
        ],
    })
}
