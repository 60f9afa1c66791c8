//! The OpenAPI document as an HTML page, without scripts or external resources.

use std::fmt::Write;

use freshet_model::escape_markup;
use serde_json::Value;

const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font:14px/1.5 ui-monospace,monospace}
h2{margin-top:3rem;border-bottom:1px solid #8886}
h3{margin:2.5rem 0 .5rem}
h3 b{display:inline-block;min-width:4.5rem}
table{border-collapse:collapse;margin:.5rem 0}
td,th{text-align:left;vertical-align:top;padding:.15rem 1rem .15rem 0}
nav a{display:inline-block;margin-right:1rem}
p{margin:.5rem 0}
summary{cursor:pointer}
small{opacity:.7}";

/// Renders the page.
pub(super) fn render_page(api: &Value) -> String {
    let info = &api["info"];
    let mut page = String::with_capacity(1 << 16);
    let title = format!("{} {}", inline_text(&info["title"]), inline_text(&info["version"]));
    let _ = write!(
        page,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>{title}: the API</title><style>{STYLE}</style><h1>{title}</h1>"
    );
    page.push_str(&paragraphs(&info["description"]));
    page.push_str("<p>For programs: <a href=\"/v1/openapi.json\">openapi.json</a></p><nav>");
    let empty = Vec::new();
    let tags = api["tags"].as_array().unwrap_or(&empty);
    for tag in tags {
        let name = inline_text(&tag["name"]);
        let _ = write!(page, "<a href=\"#{name}\">{name}</a>");
    }
    page.push_str("<a href=\"#types\">types</a></nav>");
    for tag in tags {
        let name = inline_text(&tag["name"]);
        let _ = write!(page, "<h2 id=\"{name}\">{name}</h2>{}", paragraphs(&tag["description"]));
        for (path, method, operation) in operations(api) {
            let has_tag = operation["tags"].as_array().is_some_and(|it| it.contains(&tag["name"]));
            if has_tag {
                write_operation(&mut page, path, method, operation);
            }
        }
    }
    page.push_str("<h2 id=\"types\">types</h2>");
    for (name, schema) in api["components"]["schemas"].as_object().into_iter().flatten() {
        let _ = write!(page, "<h3 id=\"type-{0}\">{0}</h3>", escape_markup(name));
        page.push_str(&paragraphs(&schema["description"]));
        write_fields(&mut page, schema);
    }
    page.push_str("</html>\n");
    page
}

fn operations(api: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let paths = api["paths"].as_object().into_iter().flatten();
    paths.flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
    })
}

fn write_operation(page: &mut String, path: &str, method: &str, operation: &Value) {
    let id = inline_text(&operation["operationId"]);
    let method = method.to_ascii_uppercase();
    let method = escape_markup(&method);
    let _ = write!(
        page,
        "<h3 id=\"{id}\"><b>{method}</b> <code>{}</code></h3><p><strong>{}</strong></p>{}",
        escape_markup(path),
        inline_text(&operation["summary"]),
        paragraphs(&operation["description"])
    );
    let parameters = operation["parameters"].as_array();
    if let Some(parameters) = parameters.filter(|it| !it.is_empty()) {
        page.push_str("<table><tr><th>parameter<th>in<th>type<th></tr>");
        for it in parameters {
            let _ = write!(
                page,
                "<tr><td><code>{}</code><td>{}<td>{}<td>{}</tr>",
                inline_text(&it["name"]),
                inline_text(&it["in"]),
                type_name(&it["schema"]),
                inline_text(&it["description"])
            );
        }
        page.push_str("</table>");
    }
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    if !body.is_null() {
        let _ = write!(page, "<p>Body: {}</p>", type_name(body));
    }
    page.push_str("<table>");
    let mut errors = Vec::new();
    for (code, response) in operation["responses"].as_object().into_iter().flatten() {
        if code.starts_with(['4', '5']) {
            errors.push(format!(
                "<b>{}</b> {}",
                escape_markup(code),
                inline_text(&response["description"])
            ));
            continue;
        }
        let content = response["content"].as_object().into_iter().flatten();
        let kinds = content.map(|(media, it)| {
            format!("<small>{}</small> {}", escape_markup(media), type_name(&it["schema"]))
        });
        let kinds = kinds.collect::<Vec<_>>().join("<br>");
        let about = inline_text(&response["description"]);
        let _ = write!(page, "<tr><th>{}<td>{about}<td>{kinds}</tr>", escape_markup(code));
    }
    let _ = write!(
        page,
        "</table><details><summary><small>Errors</small></summary><p>{}</p></details>",
        errors.join("<br>")
    );
}

fn write_fields(page: &mut String, schema: &Value) {
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<_> =
            values.iter().map(|it| format!("<code>{}</code>", inline_text(it))).collect();
        let _ = write!(page, "<p>One of {}</p>", values.join(", "));
    }
    let parts = schema["allOf"].as_array().into_iter().flatten();
    for part in parts.chain([schema]) {
        if part["$ref"].is_string() {
            let _ = write!(page, "<p>All of {}</p>", type_name(part));
        }
        let Some(properties) = part["properties"].as_object() else { continue };
        page.push_str("<table>");
        for (name, it) in properties {
            let name = escape_markup(name);
            let about = inline_text(&it["description"]);
            let _ =
                write!(page, "<tr><td><code>{name}</code><td>{}<td>{about}</tr>", type_name(it));
        }
        page.push_str("</table>");
    }
}

/// Returns a short description of a type.
fn type_name(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = escape_markup(reference.rsplit('/').next().unwrap_or_default());
        return format!("<a href=\"#type-{name}\">{name}</a>");
    }
    for several in ["oneOf", "anyOf", "allOf"] {
        if let Some(variants) = schema[several].as_array() {
            return variants.iter().map(type_name).collect::<Vec<_>>().join(" or ");
        }
    }
    let of = |it: &Value| match it.as_str() {
        Some("array") => format!("list of {}", type_name(&schema["items"])),
        _ => inline_text(it),
    };
    let mut words = match schema["type"].as_array() {
        Some(types) => types.iter().map(of).collect::<Vec<_>>().join(" or "),
        None => of(&schema["type"]),
    };
    if let Some(values) = schema["enum"].as_array() {
        words = values.iter().map(inline_text).collect::<Vec<_>>().join(", ");
    }
    let bounds = [("minimum", "≥"), ("maximum", "≤")];
    for (name, sign) in bounds {
        if schema[name].is_number() {
            let _ = write!(words, " {sign} {}", schema[name]);
        }
    }
    words
}

/// Renders paragraphs, with back-quoted text as code.
fn paragraphs(value: &Value) -> String {
    let parts = value.as_str().unwrap_or_default().split("\n\n");
    let parts = parts.filter(|it| !it.trim().is_empty());
    parts.map(|it| format!("<p>{}</p>", mark_code(&escape_markup(it)))).collect()
}

fn inline_text(value: &Value) -> String {
    mark_code(&escape_markup(value.as_str().unwrap_or_default()))
}

fn mark_code(escaped: &str) -> String {
    let mut out = String::with_capacity(escaped.len());
    for (at, part) in escaped.split('`').enumerate() {
        match at % 2 {
            0 => out.push_str(part),
            _ => {
                let _ = write!(out, "<code>{part}</code>");
            }
        }
    }
    out
}
