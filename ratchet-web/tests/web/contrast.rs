//! The contrast of the color tokens, in both color schemes. spec: O-09

use std::collections::BTreeMap;

const STYLE: &str = include_str!("../../assets/style.css");

/// Reads the tokens of a rule.
fn tokens(rule: &str) -> BTreeMap<String, [f64; 3]> {
    let mut tokens = BTreeMap::new();
    for part in rule.split(';') {
        let Some((name, value)) = part.trim().split_once(": #") else { continue };
        let channel = |at: usize| {
            f64::from(u8::from_str_radix(&value[at..at + 2], 16).expect("a color")) / 255.0
        };
        let name = name.trim().trim_start_matches("--").to_owned();
        tokens.insert(name, [channel(0), channel(2), channel(4)]);
    }
    tokens
}

/// Returns the contrast of two colors as WCAG 2 defines it.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let luminance = |color: [f64; 3]| {
        let linear =
            color.map(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn o_09_text_has_a_contrast_of_at_least_4_5_in_both_color_schemes() {
    let mut rules =
        STYLE.split(":root {").skip(1).map(|rest| rest.split('}').next().expect("a rule"));
    let light = tokens(rules.next().expect("light tokens"));
    let dark = tokens(rules.next().expect("dark tokens"));
    assert!(dark.keys().all(|name| light.contains_key(name)));
    let mut pairs = vec![("on-primary", "primary")];
    for text in [
        "text", "text-2", "text-3", "link", "bad", "ok", "wait", "orange", "red", "green", "blue",
        "violet",
    ] {
        pairs.extend([(text, "surface"), (text, "bg"), (text, "sunken")]);
    }
    for state in ["ok", "run", "wait", "bad", "mute", "held"] {
        pairs.push((
            state,
            match state {
                "ok" => "ok-bg",
                "run" => "run-bg",
                "wait" => "wait-bg",
                "bad" => "bad-bg",
                "mute" => "mute-bg",
                _ => "held-bg",
            },
        ));
    }
    pairs.extend([("text", "mute-bg"), ("text-2", "mute-bg"), ("text-3", "run-bg")]);
    for (scheme, tokens) in [("light", &light), ("dark", &dark)] {
        for (text, back) in &pairs {
            let ratio = contrast(tokens[*text], tokens[*back]);
            assert!(ratio >= 4.5, "{scheme}: {text} on {back} is {ratio:.2}");
        }
        // Lines of charts, borders of fields and the outline of what has the focus must differ from what is behind them.
        let mut lines: Vec<_> = ["c1", "c2", "c3", "c4"].map(|line| (line, "surface")).into();
        lines.extend(["surface", "bg"].map(|back| ("field", back)));
        lines.extend(["surface", "bg", "sunken", "mute-bg", "run-bg"].map(|back| ("focus", back)));
        for (line, back) in lines {
            let ratio = contrast(tokens[line], tokens[back]);
            assert!(ratio >= 3.0, "{scheme}: {line} on {back} is {ratio:.2}");
        }
    }
}
