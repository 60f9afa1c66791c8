use super::*;

/// Checks a line without its noise. `¦` is the boundary of an element.
#[track_caller]
fn check(line: &str, expect: &str) {
    let mut boundaries = vec![ElementBoundary::default()];
    let mut plain = String::new();
    for part in line.split_inclusive('¦') {
        plain.push_str(part.trim_end_matches('¦'));
        if part.ends_with('¦') {
            boundaries.push(ElementBoundary { offset: plain.len(), ..ElementBoundary::default() });
        }
    }
    let mut content = String::new();
    let mut at = 0;
    for noise in find_noise(&Line { boundaries: &boundaries, ..Line::plain(&plain) }) {
        content.push_str(&plain[at..noise.range.start]);
        at = noise.range.end;
    }
    content.push_str(&plain[at..]);
    assert_eq!(content.split_whitespace().collect::<Vec<_>>().join(" "), expect, "{line}");
}

#[test]
fn relative_times_are_noise() {
    check("Posted 3 minutes ago", "Posted");
    check("by Ann, an hour ago", "by Ann,");
    check("just now", "");
    for line in [
        "vor 5 Minuten",
        "il y a 2 heures",
        "hace 3 días",
        "3 分前",
        "3分前",
        "منذ 5 دقائق",
        "5 min ago",
        "2h ago",
        "5分钟前",
        "5 минут назад",
        "5 minuten geleden",
        "há 3 dias",
        "5 minuti fa",
        "5 minut temu",
        "לפני 5 דקות",
        "5분 전",
        "5 मिनट पहले",
        "för 5 minuter sedan",
        "5 years, 2 months ago",
    ] {
        check(line, "");
    }
    check("Updated today", "Updated");
    check("in 5 minutes", "in 5 minutes");
    for prose in [
        "The company was founded 3 years ago by two sisters who had met at a school in Bern.",
        "founded 30 years ago",
        "It closed 3 days ago.",
        "Open today",
        "Today",
    ] {
        check(prose, prose);
    }
    check(
        "A headline of some length, in a link ¦3 minutes ago¦",
        "A headline of some length, in a link",
    );
    let prose =
        "A long line of text with many words and an element ¦3 minutes ago¦ that stands in it.";
    check(prose, &prose.replace('¦', ""));
}

#[test]
fn is_relative_time_accepts_times_relative_to_now_only() {
    for text in
        ["3 minutes ago", "2h", "5 min", "yesterday", "Just now", "10 mins", "3d", "last week"]
    {
        assert!(is_relative_time(text), "{text}");
    }
    for text in ["12 March 2026", "10:32", "2026", "Monday", "", "12"] {
        assert!(!is_relative_time(text), "{text}");
    }
}

#[test]
fn counts_of_views_and_comments_are_noise() {
    for line in [
        "1,234 views",
        "Comments (12)",
        "Views: 1234",
        "Viewed 123 times",
        "No comments yet",
        "This page has been viewed 12,345 times",
        "23 people are looking at this right now",
        "12 Kommentare",
        "1 234 vues",
        "12 件のコメント",
        "45 users online",
        "閲覧数：12",
        "조회수 12",
        "Gelesen: 12",
        "120 keer bekeken",
        "1.2 million views",
        "2K+ bought in past month",
        "There are currently 3 users online.",
        "(12 customer reviews)",
    ] {
        check(line, "");
    }
    check("👍 12", "👍");
    check("▲ 120", "▲");
    check("1.2K views · 12 comments", "·");
    check("1,203 views¦3 comments", "");
    check("4.5 stars (123 reviews)", "4.5 stars");
    check("120 points by bob 2 hours ago", "by bob");
    check("Price: 40 | Views: 12", "Price: 40 |");
    check("Stand: 03.03.2024 | Aufrufe: 1.204", "Stand: 03.03.2024 |");
    check("Posted 2024-03-03 Comments: 12", "Posted 2024-03-03");
    check("阅读 12 评论(3)", "");
    for prose in [
        "The video had 1,234 views when the minister spoke of it on Monday.",
        "500 shares were sold",
        "12 people are looking for work",
        "12 views of Mount Fuji",
        "Comments: 12 new emoji",
        "12 votes",
        "120 points",
        "★ 4.5",
    ] {
        check(prose, prose);
    }
}

#[test]
fn page_info_is_noise() {
    for line in [
        "Page generated in 0.031 seconds",
        "Generated at 2026-11-16 10:03:22",
        "Last checked: 16 November 2026 10:03",
        "© 2024–2026 Example Ltd",
        "Copyright 2026 Example",
        "Today is Monday, 16 November 2026",
        "Request ID: 8f3a-11",
        "Welcome back, Ann",
        "You are visitor number 123456",
        "Last updated: 2026-11-16 10:03:22",
        "Cart (2)",
        "Sale ends in 02:13:45",
        "Good morning, Ann",
        "Served by web-03",
        "List generated at 08:02:11",
        "All times are GMT. The time now is 10:03 AM.",
        "Seite in 0,12 s erzeugt",
        "It is currently Mon Nov 16, 2026 10:03 am",
        "You are visitor 004512 since 1 May 1997",
    ] {
        check(line, "");
    }
}

#[test]
fn numbers_of_the_content_are_not_noise() {
    for line in [
        "Price: €12.99",
        "Version 2.14.1",
        "Only 3 left in stock",
        "Bears 89 – Wolves 76",
        "12 March 2026",
        "Last updated: 12 March 2026",
        "Published 12 March 2026 at 10:32",
        "5 stars",
        "3 bedrooms, 2 baths",
        "24 results",
        "Chapter 12",
        "Comments are due by 12 March",
        "Open 10:00–18:00",
        "Time: 10:00",
        "Time: 12:00:00",
        "Generated 12 MW of power",
        "Copyright law of 1976 applies to all works",
        "Home 2 : 1 Away",
        "2 hours",
        "Session: 12B, room 4",
        "Current time limit: 12:30",
        "Generated in 1999 by hand",
        "Request ID format: eight digits",
        "Good morning Vietnam is a film of 1987.",
        "Tue Mar 3 10:32:11 UTC 2026",
        "Session 12: 10:30",
    ] {
        check(line, line);
    }
}
