//! Every public name at the root of the crate is explained somewhere: in the tour, the guide, the manual of `#[job]`,
//! the README or an example.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read_all(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.is_file()).map(|path| read(&path)).collect()
}

/// Returns the names that the root exports, read from its source.
fn root_names(source: &str) -> BTreeSet<String> {
    let code: Vec<_> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join(" ");
    let mut names = BTreeSet::new();
    for item in code.split(';') {
        if let Some((_, module)) = item.split_once("pub mod ") {
            names.insert(module.trim().to_owned());
        }
        let Some((_, path)) = item.split_once("pub use ") else { continue };
        let listed =
            path.split_once('{').map_or(path, |(_, names)| names.trim_end_matches([' ', '}']));
        for name in listed.split(',') {
            let name = name.rsplit([':', ' ']).find(|part| !part.is_empty());
            names.extend(name.map(str::to_owned));
        }
    }
    names.remove("__private");
    names
}

#[test]
fn every_name_at_the_root_is_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = root_names(&read(&root.join("src/lib.rs")));
    assert!(names.contains("Ratchet") && names.contains("store"), "the source is read: {names:?}");
    assert!(names.len() <= 60, "{} names at the root: put details into modules", names.len());
    let texts = [
        read(&root.join("src/tour.md")),
        read(&root.join("src/job.md")),
        read(&root.join("../README.md")),
        read_all(&root.join("docs/guide")),
        read_all(&root.join("../examples/src/bin")),
    ]
    .concat();
    let words: BTreeSet<_> = texts.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let unexplained: Vec<_> = names.iter().filter(|name| !words.contains(name.as_str())).collect();
    assert!(unexplained.is_empty(), "explain or move into a module: {unexplained:?}");
}
