//! Whatever is typed, the macros answer with tokens and never with a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::TokenStream;

const WORDS: [&str; 74] = [
    "async",
    "fn",
    "f",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ",",
    ";",
    ":",
    "::",
    "=",
    "->",
    "#",
    "&",
    "'a",
    "!",
    "self",
    "Self",
    "mut",
    "ref",
    "_",
    "x",
    "y",
    "u32",
    "String",
    "str",
    "State",
    "JobContext",
    "impl",
    "dyn",
    "where",
    "pub",
    "unsafe",
    "extern",
    "const",
    "struct",
    "enum",
    "trait",
    "mod",
    "job",
    "jobs",
    "inject",
    "do_not_retry",
    "circuit_breaker",
    "queue",
    "name",
    "alias",
    "cron",
    "tz",
    "tags",
    "backoff",
    "exponential",
    "none",
    "timeout",
    "default",
    "secret",
    "crate",
    "reason",
    "all",
    "service",
    "business_key",
    "\"30s\"",
    "\"a-{x}\"",
    "\"{\"",
    "5",
    "-",
    "1.5",
    "'c'",
    "...",
];

/// A random soup of words with balanced brackets, sometimes around a real function.
fn soup(random: &mut fastrand::Rng, length: usize) -> String {
    let mut text = String::new();
    let mut open = Vec::new();
    for _ in 0..length {
        let word = WORDS[random.usize(..WORDS.len())];
        match word {
            "(" | "[" | "{" => open.push(word),
            ")" | "]" | "}" => match open.pop() {
                Some("(") => text.push_str(" )"),
                Some("[") => text.push_str(" ]"),
                Some(_) => text.push_str(" }"),
                None => {}
            },
            _ => {}
        }
        if !matches!(word, ")" | "]" | "}") {
            text.push(' ');
            text.push_str(word);
        }
    }
    while let Some(bracket) = open.pop() {
        text.push_str(match bracket {
            "(" => " )",
            "[" => " ]",
            _ => " }",
        });
    }
    text
}

#[test]
fn no_input_makes_a_macro_panic() {
    let mut random = fastrand::Rng::with_seed(20_261_115);
    let mut tried = 0;
    while tried < 20_000 {
        let length = random.usize(..14);
        let args = soup(&mut random, length);
        let length = random.usize(..16);
        let inside = soup(&mut random, length);
        let item = match random.u8(..6) {
            0 => inside,
            1 => format!("async fn send_email({inside}) {{}}"),
            2 => format!("impl Service {{ #[job({args})] async fn f({inside}) {{}} }}"),
            3 => format!("#[job({inside})] async fn f(x: u32) {{}}"),
            4 => format!("enum E {{ #[do_not_retry({inside})] A, B }}"),
            _ => format!("async fn f(#[job({inside})] x: u32, #[inject] c: C) -> R {{}}"),
        };
        let (Ok(args), Ok(item)) = (args.parse::<TokenStream>(), item.parse::<TokenStream>())
        else {
            continue;
        };
        tried += 1;
        let shown = format!("#[..({args})] {item}");
        let expand = AssertUnwindSafe(|| {
            crate::job::expand(args.clone(), item.clone());
            crate::jobs::expand(args.clone(), &item);
            crate::do_not_retry::expand(args.clone(), item.clone());
            crate::breaker::expand(&args, item.clone());
        });
        assert!(catch_unwind(expand).is_ok(), "{shown}");
    }
}
