//! Checks that no files of `ratchet-core` or `ratchet-store` import each other in a cycle.
//!
//! An import by the path of a file counts. An import of a name that a parent module re-exports does not: types of one
//! module may mention each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of a crate by module path, without tests.
fn files(root: &Path) -> BTreeMap<Vec<String>, String> {
    let (mut folders, mut files) = (vec![root.to_owned()], BTreeMap::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path: PathBuf = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() {
                folders.extend((name != "tests").then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && name != "tests.rs"
                && name != "lib.rs"
            {
                let module = path.strip_prefix(root).expect("is inside").with_extension("");
                let module = module.iter().map(|part| part.to_string_lossy().into_owned());
                let module = module.filter(|part| part != "mod").collect();
                let source = std::fs::read_to_string(&path).expect("reads");
                let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
                files.insert(module, source.to_owned());
            }
        }
    }
    files
}

/// The paths of a `use` tree: `a::{b, c::{d}}` is `a::b` and `a::c::d`.
fn paths(tree: &str, found: &mut Vec<String>) {
    let Some((before, rest)) = tree.split_once('{') else {
        found.push(tree.split(" as ").next().unwrap_or_default().trim().to_owned());
        return;
    };
    let (mut depth, mut part) = (0, String::new());
    for c in rest.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => {
                paths(&format!("{}{}", before.trim(), part.trim()), found);
                part.clear();
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        part.push(c);
    }
    if !part.trim().is_empty() {
        paths(&format!("{}{}", before.trim(), part.trim()), found);
    }
}

/// The files that a file imports by their paths.
fn imports(
    module: &[String],
    source: &str,
    files: &BTreeMap<Vec<String>, String>,
) -> BTreeSet<Vec<String>> {
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("\nuse ") {
        paths(code[at + 5..].split(';').next().unwrap_or_default(), &mut found);
    }
    let mut imported = BTreeSet::new();
    for path in found {
        let mut parts: Vec<_> = path.split("::").map(str::trim).collect();
        let mut from = match parts.first() {
            Some(&"crate") => Vec::new(),
            Some(&"self") => module.to_vec(),
            Some(&"super") => module[..module.len() - 1].to_vec(),
            _ => continue,
        };
        parts.remove(0);
        while parts.first() == Some(&"super") {
            from.pop();
            parts.remove(0);
        }
        from.extend(parts.into_iter().map(str::to_owned));
        // The longest prefix that is a file. A parent is imported for what it re-exports.
        let file = (1..=from.len()).rev().map(|length| &from[..length]);
        let file = file.into_iter().find(|prefix| files.contains_key(*prefix));
        imported.extend(file.filter(|file| !module.starts_with(file)).map(<[String]>::to_vec));
    }
    imported
}

/// Removes files that import nothing that is left, until all that is left is in or before a cycle.
fn cycles(crate_name: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(crate_name).join("src");
    let files = files(&root);
    assert!(files.len() > 50, "the sources of {crate_name} are read");
    let mut left: BTreeMap<_, _> = files
        .iter()
        .map(|(module, source)| (module.clone(), imports(module, source, &files)))
        .collect();
    let count: usize = left.values().map(BTreeSet::len).sum();
    assert!(count > 20, "the imports of {crate_name} are read");
    loop {
        let names: BTreeSet<_> = left.keys().cloned().collect();
        let is_imported =
            |module: &Vec<String>| left.values().any(|imports| imports.contains(module));
        let in_cycle = |module: &Vec<String>, imports: &BTreeSet<Vec<String>>| {
            imports.iter().any(|file| names.contains(file)) && is_imported(module)
        };
        let kept: BTreeMap<_, _> = left
            .iter()
            .filter(|(module, imports)| in_cycle(module, imports))
            .map(|(module, imports)| (module.clone(), imports.clone()))
            .collect();
        if kept.len() == left.len() {
            return left.into_keys().map(|module| module.join("::")).collect();
        }
        left = kept;
    }
}

#[test]
fn no_files_import_each_other_in_a_cycle() {
    for crate_name in ["ratchet-store", "ratchet-core"] {
        let cycles = cycles(crate_name);
        assert!(cycles.is_empty(), "in a cycle of {crate_name}: {cycles:?}");
    }
}
