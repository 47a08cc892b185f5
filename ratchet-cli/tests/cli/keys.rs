//! `ratchet keys`: key files.

use std::fs;

use super::stored::ratchet;

#[test]
fn z_07_keys_are_created_rotated_retired_and_destroyed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.json");
    let file = path.to_str().expect("text");
    let run = |args: &[&str]| {
        let output = ratchet(&[&["keys", "--file", file], args].concat());
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    let state = |id: &str| {
        let (_, text) = run(&["list", "--json"]);
        let keys: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
        let found = keys.iter().find(|key| key["id"] == id).expect("the key");
        found["state"].as_str().expect("a state").to_owned()
    };
    assert_eq!(run(&["list"]).0, Some(3), "there is no file");
    assert_eq!(run(&["new", "s1", "--purpose", "sign"]).0, Some(0));
    assert_eq!(run(&["new", "e1", "--purpose", "encrypt"]).0, Some(0));
    assert_eq!(run(&["new", "acme", "--purpose", "encrypt", "--tenant", "acme"]).0, Some(0));
    assert_eq!(run(&["new", "d1", "--purpose", "digest"]).0, Some(0));
    let (code, text) = run(&["new", "s2", "--purpose", "sign"]);
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("ratchet keys rotate s1 s2"), "{text}");
    assert_eq!(run(&["rotate", "s1", "s2", "--prepare"]).0, Some(0));
    assert_eq!((state("s1"), state("s2")), ("active".to_owned(), "rotated".to_owned()));
    assert_eq!(run(&["activate", "s2"]).0, Some(0));
    assert_eq!((state("s1"), state("s2")), ("rotated".to_owned(), "active".to_owned()));
    assert_eq!(run(&["retire", "s2"]).0, Some(4), "the active key");
    assert_eq!(run(&["retire", "s1"]).0, Some(0));
    assert_eq!(state("s1"), "retired");
    assert_eq!(run(&["rotate", "d1", "d2"]).0, Some(1), "a digest key");
    assert_eq!(run(&["rotate", "nothing", "n2"]).0, Some(3));
    let (code, text) = run(&["destroy", "acme"]);
    assert_eq!(code, Some(1), "it is not confirmed: {text}");
    assert_eq!(run(&["destroy", "acme", "--dry-run"]).0, Some(0));
    assert_eq!(state("acme"), "active");
    assert_eq!(run(&["destroy", "acme", "--yes"]).0, Some(0));
    assert_eq!(state("acme"), "destroyed");
    // No output contains key material.
    let stored = fs::read_to_string(&path).expect("reads");
    let (_, listed) = run(&["list", "--json"]);
    let materials: Vec<_> = stored.split("\"key\": \"").skip(1).collect();
    assert_eq!(materials.len(), 4, "s1, s2, e1 and d1");
    assert!(materials.iter().all(|key| !listed.contains(&key[..16])), "{listed}");
    let keyring = ratchet_core::Keyring::from_file(&path).expect("reads");
    assert!(keyring.sign(b"m").expect("signs").starts_with("s2:"));
}
