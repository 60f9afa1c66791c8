//! The external crawlers in `examples/` keep a website fresh through the service.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::instance::{TestInstance, wait_until};
use crate::site::Site;

/// Configuration in which the daemon itself fetches nothing.
const EXTERNAL_ONLY: &str =
    "crew = 0\nbudget = \"1000000/day\"\nburst = 100\n[hosts]\ngap = \"0s\"\nconnections = 4\n";

/// Crawler that is killed at the end of the test.
struct Crawler(Child);

impl Drop for Crawler {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).display().to_string()
}

fn keeps_a_site_fresh(crawler: impl FnOnce(&str, &str) -> Command) {
    let site = Site::start();
    let instance = TestInstance::new(EXTERNAL_ONLY);
    let urls: Vec<String> = (0..5).map(|page| site.url(&format!("/{page}"))).collect();
    for page in 0..5 {
        site.set(&format!("/{page}"), &format!("page {page} as it was at first"));
    }
    let mut arguments = vec!["add", "--max-interval", "1s"];
    arguments.extend(urls.iter().map(String::as_str));
    instance.run(&arguments).ok();
    let token = instance.run(&["token", "add", "crawler", "--scope", "claim"]).ok().out;
    let _daemon = instance.spawn(&["run", "--listen", "127.0.0.1:0"]);
    let mut command = crawler(&instance.service(), token.trim());
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let _crawler = Crawler(command.stderr(Stdio::null()).spawn().unwrap());
    let sources = || instance.lines(&["ls", "--json"]);
    wait_until("all pages are copied", || sources().iter().all(|it| it["state"] == "good"));
    site.set("/3", "page 3 as it is now, with other words");
    let changes = || instance.lines(&["changes", "--json"]);
    wait_until("the change is found", || !changes().is_empty());
    let found = changes();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["url"], Value::from(urls[3].clone()));
    assert!(site.requests("/3") > 1);
}

#[test]
fn the_python_example_keeps_a_site_fresh() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    keeps_a_site_fresh(|service, token| {
        let mut command = Command::new("python3");
        command.args([&example("claims.py"), service]).env("FRESHET_TOKEN", token);
        command
    });
}

/// Runs if `FRESHET_SCRAPY` is set, as by `scripts/check-service`.
#[test]
fn the_scrapy_spider_keeps_a_site_fresh() {
    let Ok(scrapy) = std::env::var("FRESHET_SCRAPY") else { return };
    keeps_a_site_fresh(|service, token| {
        let mut command = Command::new(scrapy);
        command.args(["runspider", &example("scrapy_spider.py"), "-a"]);
        command.arg(format!("service={service}")).env("FRESHET_TOKEN", token);
        command
    });
}
