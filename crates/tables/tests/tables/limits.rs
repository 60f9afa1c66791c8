use freshet_tables::read_host_limits;

#[track_caller]
fn check(name: &str, text: &str, expect: Result<&[(&str, f64)], &str>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, text).unwrap();
    let prefix = format!("{}/", directory.path().display());
    let got = read_host_limits(&path).map_err(|error| error.to_string().replace(&prefix, ""));
    let got = got.map(|limits| {
        limits.into_iter().map(|(host, limit)| (host, limit.get())).collect::<Vec<_>>()
    });
    let expect = expect.map_err(str::to_owned).map(|limits| {
        limits.iter().map(|&(host, limit)| (host.to_owned(), limit)).collect::<Vec<_>>()
    });
    assert_eq!(got, expect);
}

#[test]
fn limits_with_and_without_units() {
    check(
        "l.csv",
        "limit,host\n1/s,a.org\n500/day,b.org\n12.5,c.org\n0,d.org\n",
        Ok(&[("a.org", 86400.0), ("b.org", 500.0), ("c.org", 12.5), ("d.org", 0.0)]),
    );
    check("l.tsv", "host\tlimit\na\t2/hour\n", Ok(&[("a", 48.0)]));
    check("l.csv", "host,limit\n", Ok(&[]));
}

#[test]
fn what_is_no_limit_is_refused() {
    check(
        "l.csv",
        "host,limit\na,often\n",
        Err("l.csv:2: limit: `often` is not a rate such as `1/s`, `500/day` or `500`"),
    );
    check("l.csv", "host,limit\na,-1/s\n", Err("l.csv:2: limit: `-1/s` is negative"));
    check("l.csv", "host,limit\na,-1\n", Err("l.csv:2: limit: `-1` is negative"));
    check("l.csv", "host,limit\na,inf/s\n", Err("l.csv:2: limit: `inf/s` is not a finite number"));
    check(
        "l.csv",
        "host,limit\na,1e99/s\n",
        Err("l.csv:2: limit: `1e99/s` is outside 1e-30 to 1e30"),
    );
    check("l.csv", "host,limit\na,\n", Err("l.csv:2: limit: no value"));
    check("l.csv", "host,limit\n,1\n", Err("l.csv:2: host: no value"));
    check(
        "l.csv",
        "host,limit\na,1\n\na,2\n",
        Err("l.csv:4: host: `a` was seen before, on line 2"),
    );
    check("l.csv", "host,limit,limit\n", Err("l.csv: column `limit` occurs twice"));
    check("l.csv", "host\na\n", Err("l.csv: no column `limit`"));
    check(
        "l.csv",
        "host,limits\na,1\n",
        Err("l.csv: unknown column `limits` (known: host, limit; did you mean `limit`?)"),
    );
    check("l.csv", "", Err("l.csv: empty"));
    check("l.csv", "host,limit\na\n", Err("l.csv:2: 1 cell, but 2 expected"));
}
