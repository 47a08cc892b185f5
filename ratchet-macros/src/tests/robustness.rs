//! Fuzz tests: for any input, the macros must return tokens and must not panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::TokenStream;

use crate::job::signature::JobFn;

const WORDS: [&str; 88] = [
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
    "retry",
    "snooze",
    "derive",
    "panic",
    "priority",
    "high",
    "validate",
    "on_success",
    "Rc",
    "Cow",
    "main",
    "serde",
    "input",
    "classify",
];

/// Generates random words with balanced brackets, sometimes around a real function.
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

/// Returns the number of inputs and the generator. `RATCHET_FUZZ=1000000` sets the number and picks a random seed.
fn rounds(usual: usize) -> (usize, fastrand::Rng) {
    match std::env::var("RATCHET_FUZZ").ok().and_then(|rounds| rounds.parse().ok()) {
        Some(rounds) => (rounds, fastrand::Rng::new()),
        None => (usual, fastrand::Rng::with_seed(20_261_115)),
    }
}

/// Generates a string literal that may or may not look like the value of an option.
fn literal(random: &mut fastrand::Rng) -> String {
    const PIECES: [&str; 44] = [
        "1",
        "30",
        "99999999999999999999",
        "0",
        "-",
        "+",
        ".",
        "5.5",
        "e",
        "ms",
        "s",
        "m",
        "h",
        "d",
        "w",
        "us",
        "µs",
        " ",
        "  ",
        "\t",
        "*",
        "/",
        ",",
        "*/5",
        "0-59",
        "MON",
        "L",
        "W",
        "#",
        "?",
        "@daily",
        "{x}",
        "{",
        "}",
        "{{",
        "}}",
        "{x.y}",
        "{x:?}",
        "Europe/Berlin",
        "UTC",
        "é",
        "😀",
        "\0",
        "\u{202e}",
    ];
    (0..random.usize(..9)).map(|_| PIECES[random.usize(..PIECES.len())]).collect()
}

#[test]
fn no_literal_makes_a_macro_panic() {
    use quote::quote;
    let (tries, mut random) = rounds(4_000);
    for _ in 0..tries {
        let (one, two) = (literal(&mut random), literal(&mut random));
        let args = match random.u8(..10) {
            0 => quote!(timeout = #one),
            1 => quote!(backoff = fixed(#one)),
            2 => quote!(backoff = exponential(#one, max = #two)),
            3 => quote!(backoff = linear(#one, max = #two)),
            4 => quote!(cron = #one, tz = #two),
            5 => quote!(business_key = #one),
            6 => quote!(idempotency_key = #one, concurrency_key = #two),
            7 => quote!(name = #one, alias = #two),
            8 => quote!(queue = #one, tags = [#two]),
            _ => quote!(struct_name = #one, priority = #two),
        };
        let item = quote!(
            async fn f(x: u32) {}
        );
        let breaker = quote!(service = #one, open_for = #two);
        let expand = AssertUnwindSafe(|| {
            crate::job::expand(args.clone(), item.clone());
            crate::breaker::expand(&breaker, item.clone());
            crate::condition::expand(
                quote!(name = #one),
                &quote!(
                    fn c(x: &u32) -> bool {
                        true
                    }
                ),
            );
        });
        assert!(catch_unwind(expand).is_ok(), "#[job({args})]");
    }
}

#[test]
fn no_input_makes_a_macro_panic() {
    let (tries, mut random) = rounds(20_000);
    let mut tried = 0;
    while tried < tries {
        let length = random.usize(..14);
        let args = soup(&mut random, length);
        let length = random.usize(..16);
        let inside = soup(&mut random, length);
        let item = match random.u8(..6) {
            0 => inside,
            1 => format!("async fn send_email({inside}) {{}}"),
            2 => format!("impl Service {{ #[job({args})] async fn f({inside}) {{}} }}"),
            3 => format!("#[job({inside})] async fn f(x: u32) {{}}"),
            4 => format!("enum E {{ #[do_not_retry({inside})] A, #[snooze({inside})] B }}"),
            _ => format!("async fn f(#[job({inside})] x: u32, #[inject] c: C) -> R {{}}"),
        };
        let (Ok(args), Ok(item)) = (args.parse::<TokenStream>(), item.parse::<TokenStream>())
        else {
            continue;
        };
        tried += 1;
        let shown = format!("#[..({args})] {item}");
        let expand = AssertUnwindSafe(|| {
            let job = crate::job::expand(args.clone(), item.clone());
            crate::jobs::expand(args.clone(), &item);
            crate::do_not_retry::expand(args.clone(), item.clone());
            crate::do_not_retry::derive(item.clone());
            crate::classify::expand(args.clone(), &item);
            crate::breaker::expand(&args, item.clone());
            crate::condition::expand(args.clone(), &item);
            job
        });
        let job = catch_unwind(expand).unwrap_or_else(|_| panic!("{shown}"));
        if let Ok(function) = syn::parse2::<JobFn>(item)
            && let Some(body) = &function.body
        {
            let kept = job.to_string();
            let name = format!("fn {} ", function.sig.ident);
            assert!(kept.contains(&name) && kept.contains(&body.to_string()), "{shown}\n{kept}");
        }
    }
}
