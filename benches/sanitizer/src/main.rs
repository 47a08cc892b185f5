//! Times the default sanitizer on hostile inputs of growing length.
//!
//! Prints nanoseconds per byte, and the growth of the time when the input doubles four times. Linear growth is 16; the
//! program fails above 32.

use std::time::{Duration, Instant};

use ratchet_core::DefaultSanitizer;

const HOSTILE: [(&str, &str); 12] = [
    ("only @", "@"),
    ("only ://", "://"),
    ("addresses without end", "://a:b"),
    ("half an e-mail", "a@"),
    ("names of secrets", "password="),
    ("one long name", "password"),
    ("quotes", "\""),
    ("bearer bearer", "bearer "),
    ("almost tokens", "eyJ."),
    ("crabs", "🦀@"),
    ("slashes in passwords", "://a:b/@"),
    ("plain prose", "the quick brown fox jumps over it "),
];

fn main() {
    // No limit on the output, so that the whole input is processed.
    let sanitizer = DefaultSanitizer { max_len: usize::MAX / 4 };
    let sizes = [64 * 1024, 1024 * 1024];
    let mut worst: f64 = 0.0;
    println!("| input | ns/byte at 64 KiB | ns/byte at 1 MiB | growth (linear: 16) |\n|---|---|---|---|");
    for (name, unit) in HOSTILE {
        let [small, large] = sizes.map(|size| median(&sanitizer, &unit.repeat(size / unit.len())));
        let growth = large.as_secs_f64() / small.as_secs_f64();
        worst = worst.max(growth);
        let per_byte = |time: Duration, size: usize| time.as_secs_f64() * 1e9 / size as f64;
        println!("| {name} | {:.1} | {:.1} | {growth:.1} |", per_byte(small, sizes[0]), per_byte(large, sizes[1]));
    }
    println!("\nworst growth: {worst:.1}");
    if worst > 32.0 {
        eprintln!("not linear");
        std::process::exit(1);
    }
}

fn median(sanitizer: &DefaultSanitizer, text: &str) -> Duration {
    let mut times: Vec<_> = (0..9)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(sanitizer.clean(std::hint::black_box(text)));
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}
