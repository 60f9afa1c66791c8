//! Whole figures: whatever goes in, a well-formed picture comes out, with everything inside it.

#[path = "support/xml.rs"]
mod xml;

use freshet_chart::{Axis, Figure, Legend, Mark, Panel, Series};
use proptest::prelude::*;
use xml::{Element, parse};

/// Returns the elements of the figure, after all that must hold for any figure.
fn check(figure: &Figure) -> Vec<Element> {
    let svg = figure.to_svg();
    assert_eq!(svg, figure.to_svg(), "the same figure gives the same bytes");
    let elements = parse(&svg).unwrap_or_else(|fault| panic!("{fault}\n{svg}"));

    let root = &elements[0];
    assert_eq!((root.tag.as_str(), root.attribute("role")), ("svg", Some("img")));
    assert_eq!(elements[1].tag, "title");
    assert_eq!(elements[2].tag, "desc");
    let tags = ["svg", "title", "desc", "style", "g", "rect", "path", "circle", "text"];
    for element in &elements {
        assert!(tags.contains(&element.tag.as_str()), "{element:?}");
        assert!(element.attributes.iter().all(|(name, _)| !name.starts_with("on")), "{element:?}");
    }

    let (width, height) = (root.number("width"), root.number("height"));
    for element in &elements[1..] {
        for (x, y) in element.points() {
            // A marker on the edge of a plot stands out by its radius, still inside the margin.
            assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "{element:?}");
        }
        if element.attribute("class") == Some("axis") {
            let ends = element.points();
            assert!(
                ends[1].0 - ends[0].0 >= 20.0,
                "labels leave no room for the plot: {element:?}"
            );
        }
        for (name, value) in &element.attributes {
            let decimals = value.split([' ', 'M', 'L', 'Z', 'a']).filter_map(|n| n.split_once('.'));
            let numeric =
                ["x", "y", "d", "width", "height", "cx", "cy", "r"].contains(&name.as_str());
            assert!(
                !numeric || decimals.into_iter().all(|(_, digits)| digits.len() <= 2),
                "{element:?}"
            );
        }
    }
    elements
}

fn texts(elements: &[Element]) -> Vec<&str> {
    elements.iter().filter(|e| e.tag == "text").map(|e| e.text.as_str()).collect()
}

fn one(panel: Panel) -> Figure {
    Figure::new("one panel").panel(panel)
}

#[test]
fn a_curve_has_its_line_its_ticks_and_its_marks() {
    let panel = Panel::new()
        .x(Axis::log("budget", "fetches/day"))
        .y(Axis::linear("freshness", "").range(0.0, 1.0))
        .series(Series::line("optimal", &[10.0, 1e3, 1e5], &[0.1, 0.5, 0.9]))
        .mark(Mark::vertical(5e3, "your budget 5,000/day"))
        .mark(Mark::dot(5e3, 0.65, "0.65"));
    let elements = check(&one(panel));
    let texts = texts(&elements);
    for text in
        ["budget (fetches/day)", "freshness", "your budget 5,000/day", "0.65", "1,000", "0.2"]
    {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
    assert!(!texts.contains(&"optimal"), "one line needs no key");
    assert!(
        elements[2].text.contains("optimal: from 0.1 at 10 to 0.9 at 100"),
        "{}",
        elements[2].text
    );
}

#[test]
fn labels_are_text_whatever_they_hold() {
    let evil = "</text><script>alert('1')</script>&\"\0\u{ffff} \u{202e}";
    let shown = "</text><script>alert('1')</script>&\"\u{fffd}\u{fffd} ";
    let panel = Panel::new()
        .title(evil)
        .x(Axis::linear(evil, evil))
        .y(Axis::log(evil, evil))
        .series(Series::line(evil, &[1.0, 2.0], &[1.0, 2.0]))
        .series(Series::points("other", &[1.0, 2.0], &[1.0, 2.0]))
        .mark(Mark::vertical(1.5, evil))
        .mark(Mark::horizontal(1.5, evil))
        .mark(Mark::dot(1.5, 1.5, evil));
    for legend in [Legend::Auto, Legend::Ends] {
        let figure =
            Figure::new(evil).subtitle(evil).caption(evil).panel(panel.clone()).legend(legend);
        let elements = check(&figure);
        assert_eq!(elements[1].text, shown);
        check(&figure.description(evil));
    }
}

#[test]
fn several_names_in_a_panel_get_a_key_and_looks_of_their_own() {
    let (xs, ys) = ([0.0, 1.0], [0.0, 1.0]);
    let names: Vec<String> = (0..9).map(|index| format!("policy {index}")).collect();
    let panel =
        names.iter().fold(Panel::new(), |panel, name| panel.series(Series::line(name, &xs, &ys)));
    let elements = check(&one(panel.clone()));
    assert!(names.iter().all(|name| texts(&elements).contains(&name.as_str())));
    let looks: std::collections::BTreeSet<_> = elements
        .iter()
        .filter(|e| e.attribute("class").is_some_and(|class| class.starts_with("line")))
        .map(|e| (e.attribute("class"), e.attribute("stroke-dasharray")))
        .collect();
    assert_eq!(looks.len(), 9);
    assert!(texts(&check(&one(panel.clone()).legend(Legend::Ends))).contains(&"policy 3"));
    assert!(!texts(&check(&one(panel).legend(Legend::Off))).contains(&"policy 3"));
}

#[test]
fn stacked_panels_that_share_x_label_it_once() {
    let panel =
        |xs: &[f64]| Panel::new().x(Axis::linear("time", "days")).series(Series::line("", xs, xs));
    let figure = Figure::new("").panel(panel(&[0.0, 50.0])).panel(panel(&[50.0, 90.0]));
    let count = |figure: &Figure| {
        texts(&check(figure)).iter().filter(|text| **text == "time (days)").count()
    };
    assert_eq!(count(&figure), 2);
    assert_eq!(count(&figure.clone().share_x()), 1);
    assert_eq!(count(&figure.share_x().columns(2)), 2);
}

#[test]
fn panels_with_nothing_to_draw_say_so() {
    let nothing = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let values = [1.0, 2.0, 3.0];
    for series in [
        Series::line("a", &[], &[]),
        Series::points("a", &values, &nothing),
        Series::steps("a", &nothing, &values),
        Series::band("a", &values, &nothing, &values),
        Series::intervals("a", &nothing, &values, &values),
    ] {
        assert!(texts(&check(&one(Panel::new().series(series)))).contains(&"no data"));
    }
    let negative =
        Panel::new().x(Axis::log("", "")).series(Series::line("", &[-1.0, 0.0], &[1.0, 2.0]));
    assert!(texts(&check(&one(negative))).contains(&"no data"));
    check(&Figure::new(""));
    check(&Figure::new("").panel(Panel::new()));
}

#[test]
fn names_are_rows_from_the_top_with_their_notes_at_the_right() {
    let names = ["first", "second", "third"];
    let notes = ["0.4 ± 0.1", "0.6 ± 0.1", "0.9 ± 0.2"];
    let panel = Panel::new()
        .x(Axis::linear("cost", ""))
        .y(Axis::categories("policy", &names).notes(&notes))
        .series(Series::intervals("", &[0.3, 0.5, 0.7], &[0.5, 0.7, 1.1], &[0.0, 1.0, 2.0]))
        .series(Series::points("", &[0.4, 0.6, 0.9], &[0.0, 1.0, 2.0]));
    let elements = check(&one(panel));
    let place = |text: &str| {
        let found = elements.iter().find(|element| element.tag == "text" && element.text == text);
        let found = found.unwrap_or_else(|| panic!("no `{text}`"));
        (found.number("x"), found.number("y"))
    };
    for (name, note) in names.iter().zip(notes) {
        let (left, right) = (place(name), place(note));
        assert!(left.0 < right.0 && left.1 == right.1, "{name}: {left:?}, {note}: {right:?}");
    }
    assert!(place("first").1 < place("second").1 && place("second").1 < place("third").1);
    let whiskers = elements.iter().find(|element| {
        element.attribute("class").is_some_and(|class| class.starts_with("whisker"))
    });
    // Each has its length and two caps.
    assert_eq!(whiskers.unwrap().points().len(), 3 * 6);
    assert!(elements[2].text.contains("from first at 0.4 to third at 0.9"), "{}", elements[2].text);
}

#[test]
fn a_shaded_part_is_named_above_and_cut_at_the_sides() {
    let panel = |axis: Axis| {
        let line = Series::line("", &[0.0, 60.0], &[0.0, 1.0]);
        one(Panel::new().x(axis).series(line).mark(Mark::span(-5.0, 30.0, "not measured")))
    };
    let shade = |figure: &Figure| {
        let elements = check(figure);
        assert!(texts(&elements).contains(&"not measured"));
        let found = elements.iter().find(|it| it.attribute("class") == Some("shade")).unwrap();
        (found.number("x"), found.number("width"))
    };
    let (wide, cut) =
        (shade(&panel(Axis::default())), shade(&panel(Axis::default().range(0.0, 60.0))));
    assert_eq!(wide.0, cut.0, "both begin at the left side");
    assert!(cut.1 < wide.1);
    let gone = panel(Axis::default().range(40.0, 60.0));
    assert!(!texts(&check(&gone)).contains(&"not measured"));
}

#[test]
fn one_point_is_seen() {
    for series in [Series::line("", &[3.0], &[4.0]), Series::points("", &[3.0], &[4.0])] {
        let elements = check(&one(Panel::new().series(series)));
        let dots =
            |e: &&Element| e.attribute("class").is_some_and(|class| class.starts_with("dot"));
        assert_eq!(elements.iter().filter(dots).count(), 1);
    }
}

#[test]
fn a_mark_outside_the_data_widens_the_axis_but_not_a_fixed_range() {
    let panel = |axis: Axis| {
        let line = Series::line("", &[1.0, 10.0], &[0.0, 1.0]);
        one(Panel::new().x(axis).series(line).mark(Mark::vertical(1e4, "far away")))
    };
    assert!(texts(&check(&panel(Axis::log("", "")))).contains(&"far away"));
    assert!(!texts(&check(&panel(Axis::log("", "").range(1.0, 10.0)))).contains(&"far away"));
}

#[test]
fn a_million_points_make_a_small_picture() {
    let xs: Vec<f64> = (0..1_000_000).map(f64::from).collect();
    let ys: Vec<f64> = xs.iter().map(|x| (x * 0.37).sin() * x).collect();
    let panel = Panel::new()
        .series(Series::line("", &xs, &ys))
        .series(Series::steps("", &xs, &ys))
        .series(Series::band("", &xs, &ys, &xs))
        .series(Series::intervals("", &xs, &ys, &xs));
    let size = one(panel).to_svg().len();
    assert!(size < 200_000, "{size}");
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1e3..1e3,
        1 => any::<f64>(),
        1 => (-30.0..30.0).prop_map(|exponent| 10f64.powf(exponent)),
        1 => prop::sample::select(vec![0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN]),
    ]
}

fn axis() -> impl Strategy<Value = Axis> {
    (any::<bool>(), ".{0,60}", ".{0,9}", prop::option::of((value(), value())), any::<bool>())
        .prop_map(|(log, name, unit, range, zero)| {
            if name.len() % 4 == 0 {
                let names: Vec<&str> = name.split(' ').collect();
                return Axis::categories(&unit, &names).notes(&names);
            }
            let axis = if log { Axis::log(&name, &unit) } else { Axis::linear(&name, &unit) };
            let axis = if zero { axis.from_zero() } else { axis };
            range.into_iter().fold(axis, |axis, (low, high)| axis.range(low, high))
        })
}

fn series() -> impl Strategy<Value = Series> {
    let column = || prop::collection::vec(value(), 0..12);
    (0..6, "[a-c]{0,1}|.{0,80}", column(), column(), column(), any::<bool>()).prop_map(
        |(kind, name, xs, ys, highs, dashed)| {
            let series = match kind {
                0 => Series::line(&name, &xs, &ys),
                1 => Series::points(&name, &xs, &ys),
                2 => Series::line_points(&name, &xs, &ys),
                3 => Series::steps(&name, &xs, &ys),
                4 => Series::intervals(&name, &xs, &highs, &ys),
                _ => Series::band(&name, &xs, &ys, &highs),
            };
            if dashed { series.dashed() } else { series }
        },
    )
}

fn mark() -> impl Strategy<Value = Mark> {
    (0..4, value(), value(), ".{0,80}").prop_map(|(kind, x, y, label)| match kind {
        0 => Mark::vertical(x, &label),
        1 => Mark::horizontal(y, &label),
        2 => Mark::span(x, y, &label),
        _ => Mark::dot(x, y, &label),
    })
}

fn panel() -> impl Strategy<Value = Panel> {
    let series = prop::collection::vec(series(), 0..4);
    let marks = prop::collection::vec(mark(), 0..4);
    (".{0,40}", axis(), axis(), series, marks).prop_map(|(title, x, y, series, marks)| {
        let panel = series.into_iter().fold(Panel::new().title(&title).x(x).y(y), Panel::series);
        marks.into_iter().fold(panel, Panel::mark)
    })
}

proptest! {
    #[test]
    fn any_figure_is_well_formed_and_inside_its_frame(
        title in ".{0,200}",
        panels in prop::collection::vec(panel(), 0..5),
        columns in 0usize..5,
        share: bool,
        legend in prop::sample::select(vec![Legend::Auto, Legend::Top, Legend::Ends, Legend::Off]),
        (width, height) in (0u32..1_500, 0u32..500),
    ) {
        let figure = Figure::new(&title).columns(columns).legend(legend).width(width).plot_height(height);
        let figure = if share { figure.share_x() } else { figure };
        check(&panels.into_iter().fold(figure, Figure::panel));
    }
}
