//! `freshet lab`.

use serde_json::Value;

use crate::{Folder, number};

#[test]
fn without_a_name_it_lists_the_experiments() {
    let folder = Folder::new(&[]);
    let ran = folder.run("lab");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    for line in ["Cho & Garcia-Molina 2003 (cho)", "  cho-table-4 ", "Liu & Nain 2006 (liu)"] {
        assert!(ran.out.contains(line), "{line}\n{}", ran.out);
    }
    let catalogue = folder.json("lab");
    let entries = catalogue.as_array().unwrap();
    assert!(entries.len() >= 36);
    for entry in entries {
        for key in ["name", "paper", "item", "section", "about"] {
            assert!(entry[key].as_str().is_some_and(|text| !text.is_empty()), "{entry}");
        }
        assert!(entry.get("rows").is_none());
    }
}

#[test]
fn a_table_is_compared_with_our_numbers() {
    let folder = Folder::new(&[]);
    let ran = folder.run("lab cho-table-4");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let expect = "  1: (c) for age        0.84   0.8349  misprint    0.8349 rounds to 0.83";
    assert!(ran.out.contains(expect), "{}", ran.out);
    assert!(ran.out.contains("9 reproduced, 1 misprint"), "{}", ran.out);
}

/// True if our number rounds to the printed one.
fn rounds_to_printed(row: &Value) -> bool {
    let (paper, ours) = (number(row, "paper"), number(row, "ours"));
    let unit = number(row, "unit").unwrap();
    let off = (paper.unwrap() - ours.unwrap()).abs();
    off <= 0.5 * unit * (1.0 + 1e-6) + 1e-9 * ours.unwrap().abs()
}

#[test]
fn json_contains_the_numbers_behind_the_verdicts() {
    let folder = Folder::new(&[]);
    let all = folder.json("lab cho-table-4 cho-table-5 liu-table-1-1 liu-table-1-3 cho-fig-11");
    let names: Vec<&str> =
        all.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    // In the order of the catalogue.
    let order = ["cho-table-4", "cho-fig-11", "cho-table-5", "liu-table-1-1", "liu-table-1-3"];
    assert_eq!(names, order);
    let mut rows = 0;
    for entry in all.as_array().unwrap() {
        let mut counts = std::collections::BTreeMap::new();
        for row in entry["rows"].as_array().unwrap() {
            let verdict = row["verdict"].as_str().unwrap();
            *counts.entry(verdict).or_insert(0) += 1;
            if number(row, "paper").is_some() {
                rows += 1;
                assert_eq!(verdict == "reproduced", rounds_to_printed(row), "{row}");
            }
            if verdict == "misprint" {
                let range = row["range"].as_array().unwrap();
                let ends: Vec<f64> = range.iter().map(|end| end.as_f64().unwrap()).collect();
                let ours = number(row, "ours").unwrap();
                let paper = number(row, "paper").unwrap();
                assert!(ends[0] <= ours && ours <= ends[1], "{row}");
                assert!(paper < ends[0] || paper > ends[1], "{row}");
            }
        }
        let reported: std::collections::BTreeMap<&str, u64> =
            (entry["verdicts"].as_object().unwrap())
                .iter()
                .map(|(name, count)| (name.as_str(), count.as_u64().unwrap()))
                .collect();
        assert_eq!(reported, counts);
    }
    assert_eq!(rows, 10 + 12 + 50 + 27 * 7 + 1);
}

#[test]
fn the_verdict_on_a_formula_follows_from_its_deviations() {
    let folder = Folder::new(&[]);
    let all = folder.json("lab azar-algorithms liu-props-10-to-12 liu-golden-ratio wic-section-4");
    let rows = all.as_array().unwrap().iter().flat_map(|it| it["rows"].as_array().unwrap());
    let mut misprints = 0;
    for row in rows {
        let Some(printed) = number(row, "printed_deviation") else { continue };
        let (ours, same) = (number(row, "ours").unwrap(), row["range"][1].as_f64().unwrap());
        let expect = match (printed <= same, ours <= same) {
            (true, _) => "reproduced",
            (false, true) => "misprint",
            (false, false) => "differs",
        };
        assert_eq!(row["verdict"], expect, "{row}");
        misprints += usize::from(expect == "misprint");
    }
    assert_eq!(misprints, 5);
}

#[test]
fn claims_from_elsewhere_are_not_printed_numbers() {
    let folder = Folder::new(&[]);
    let text = folder.run("lab liu-props-10-to-12").out;
    assert!(text.contains(" theory "), "{text}");
    let report = folder.json("lab liu-props-10-to-12");
    let rows = report[0]["rows"].as_array().unwrap();
    let two = rows.iter().find(|row| row["label"] == "two equal pages").unwrap();
    assert_eq!((&two["printed"], two["claim"].as_str()), (&Value::Null, Some("√5/2")));
    assert!(rows.iter().all(|row| row["printed"].is_null() != row["claim"].is_null()));
}

#[test]
fn out_writes_a_page_pictures_and_tables() {
    let folder = Folder::new(&[]);
    let ran = folder.run("lab cho-fig-9 cho-table-5 --out made/lab");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.err, "wrote made/lab/index.html\n");
    let mut names: Vec<String> = std::fs::read_dir(folder.path("made/lab"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expect = [
        "cho-fig-9-picture.csv",
        "cho-fig-9.csv",
        "cho-fig-9.svg",
        "cho-table-5.csv",
        "index.html",
    ];
    assert_eq!(names, expect);
    let page = folder.read("made/lab/index.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains(folder.read("made/lab/cho-fig-9.svg").trim()));
    let table = folder.read("made/lab/cho-table-5.csv");
    let head = "table,label,paper,ours,printed,claim,found,unit,range_low,range_high,\
                printed_deviation,verdict,note\n";
    assert_eq!(table.lines().count(), 13);
    assert!(table.starts_with(head), "{table}");
    assert!(folder.read("made/lab/cho-fig-9-picture.csv").starts_with("panel,series,x,y\n"));
}

#[test]
fn files_of_an_earlier_run_are_listed() {
    let folder = Folder::new(&[]);
    assert_eq!(folder.run("lab cho-fig-9 cho-table-5 --out lab").code, Some(0));
    let ran = folder.run("lab cho-table-5 --out lab");
    assert_eq!(ran.code, Some(0));
    let expect = "wrote lab/index.html\nfiles of an earlier run, not on the page: cho-fig-9.csv, \
                  cho-fig-9.svg, cho-fig-9-picture.csv\n";
    assert_eq!(ran.err, expect);
}

#[test]
fn a_failed_write_leaves_no_files() {
    let folder = Folder::new(&[("file", "")]);
    let ran = folder.run("lab cho-table-5 --out file");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.starts_with("error: cannot write to file: file is not a directory"));
    std::fs::create_dir_all(folder.path("lab/index.html")).unwrap();
    let ran = folder.run("lab cho-table-5 --out lab");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert_eq!(std::fs::read_dir(folder.path("lab")).unwrap().count(), 1);
}

#[test]
fn unknown_names_have_suggestions() {
    let folder = Folder::new(&[]);
    let check = |arguments: &str, expect: &str| {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments}");
        assert_eq!(ran.err, expect);
    };
    check(
        "lab cho-table-4 cho-table-9",
        "error: unknown experiment `cho-table-9`\n\nhint: did you mean cho-table-2 or cho-table-3 \
         or cho-table-4 or cho-table-5 or cho-table-7?\n",
    );
    check(
        "lab nothing-like-it",
        "error: unknown experiment `nothing-like-it`\n\nhint: `freshet lab` lists the experiments; `all` \
         and the papers (cho, azar, kolobov, liu, wic, ours) select several\n",
    );
    for (typo, name) in
        [("Table-1-2", "liu-table-1-2"), ("wic-fg-5", "wic-fig-5"), ("KOLOBOW", "kolobov")]
    {
        let hint = format!("unknown experiment `{typo}`\n\nhint: did you mean {name}?\n");
        check(&format!("lab {typo}"), &format!("error: {hint}"));
    }
    check(
        "lab table-1-2",
        "error: unknown experiment `table-1-2`\n\nhint: did you mean liu-table-1-2?\n",
    );
    check(
        "lab --out somewhere",
        "error: nothing to write to somewhere: no experiment is given\n\nhint: give experiments, or \
         all of them: `freshet lab all --out DIR`\n",
    );
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let folder = Folder::new(&[]);
    let names = "cho-fig-15 azar-fig-2 liu-fig-1-2 wic-section-4";
    for threads in [1, 2] {
        let ran = folder.run(&format!("lab {names} --threads {threads} --out {threads}"));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    for file in ["index.html", "cho-fig-15.csv", "cho-fig-15-picture.csv", "azar-fig-2.svg"] {
        assert!(folder.read(&format!("1/{file}")) == folder.read(&format!("2/{file}")), "{file}");
    }
}
