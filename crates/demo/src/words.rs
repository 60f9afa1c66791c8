//! Generated sentences that look like news.

use rand::RngExt;
use rand_pcg::Pcg64;

const WHO: &[&str] = &[
    "The harbour office",
    "A ferry captain",
    "The town council",
    "The night shift",
    "A beekeeper",
    "The weather station",
    "Her neighbour",
    "The oldest bakery",
    "A retired surveyor",
    "The choir",
    "The lighthouse keeper",
    "An apprentice",
    "The cooperative",
    "The railway museum",
    "A geologist",
    "The school board",
    "The river authority",
    "A clockmaker",
    "The observatory",
    "The print shop",
];
const DID: &[&str] = &[
    "repaired",
    "measured",
    "postponed",
    "described",
    "sold",
    "counted",
    "painted",
    "opened",
    "inspected",
    "moved",
    "replaced",
    "announced",
    "borrowed",
    "restored",
    "compared",
    "mapped",
    "doubled",
    "questioned",
    "finished",
    "inherited",
];
const WHAT: &[&str] = &[
    "the western pier",
    "a crate of oranges",
    "the new timetable",
    "forty lanterns",
    "the old mill",
    "a stone bridge",
    "the winter stores",
    "two wooden boats",
    "the tide tables",
    "an orchard",
    "the village archive",
    "a set of bells",
    "the upper lock",
    "a field of barley",
    "the tram line",
    "its longest rope",
    "the festival plans",
    "a cabinet of maps",
    "the market hall",
    "the glass roof",
];
const HOW: &[&str] = &[
    "without much notice",
    "after a long debate",
    "with borrowed tools",
    "in a single afternoon",
    "to everybody's surprise",
    "for the third time",
    "against all advice",
    "as the law requires",
    "at its own expense",
    "with great care",
    "in spite of the wind",
    "by a narrow majority",
    "under a grey sky",
    "to the sound of brass",
    "before the first frost",
    "with a steady hand",
];
const AND: &[&str] = &[
    "and nobody objected",
    "while the square filled slowly",
    "although the ledger says otherwise",
    "because the road was closed",
    "so the work goes on",
    "and the children watched",
    "which took longer than planned",
    "as the letters of that year show",
    "but the price held",
    "until the lamps were lit",
    "where the two valleys meet",
    "and the rest is well known",
];
const TOPIC: &[&str] = &[
    "Rope",
    "Lanterns",
    "Tides",
    "Orchards",
    "Bridges",
    "Bells",
    "Timetables",
    "Maps",
    "Barley",
    "Clocks",
    "Ferries",
    "Honey",
    "Granite",
    "Glass",
    "Letters",
    "Trams",
    "Snow",
    "Salt",
    "Wool",
    "Paper",
];
const ASPECT: &[&str] = &[
    "and what they cost",
    "of the northern coast",
    "in a dry year",
    "for beginners",
    "reconsidered",
    "by the numbers",
    "from spring to autumn",
    "and their keepers",
    "at close range",
    "without fear",
    "on the long road",
    "after the flood",
];

fn pick<'a>(dice: &mut Pcg64, list: &[&'a str]) -> &'a str {
    list[dice.random_range(0..list.len())]
}

/// Returns a sentence.
pub(crate) fn sentence(dice: &mut Pcg64, out: &mut String) {
    for part in [pick(dice, WHO), " ", pick(dice, DID), " ", pick(dice, WHAT), " "] {
        out.push_str(part);
    }
    out.push_str(pick(dice, HOW));
    if dice.random::<f64>() < 0.6 {
        out.push_str(", ");
        out.push_str(pick(dice, AND));
    }
    out.push_str(". ");
}

/// Returns a heading.
pub(crate) fn heading(dice: &mut Pcg64) -> String {
    format!("{} {}", pick(dice, TOPIC), pick(dice, ASPECT))
}
