//! Checks that the state table, the import diagram and the table of crates in ARCHITECTURE.md match the code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ratchet_core::JobState;
use ratchet_store::model::{TRANSITIONS, TransitionKind};

#[test]
fn l_01_the_documented_transitions_are_those_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../ARCHITECTURE.md");
    let text = std::fs::read_to_string(path).expect("ARCHITECTURE.md");
    let table = text
        .split("<!-- transitions:begin -->")
        .nth(1)
        .and_then(|rest| rest.split("<!-- transitions:end -->").next());
    let documented: Vec<&str> = table.expect("the markers").trim().lines().skip(2).collect();
    let from = |state: Option<JobState>| state.map_or("–".to_owned(), |state| state.to_string());
    let coded: Vec<String> = TRANSITIONS
        .iter()
        .map(|row| format!("| {} | {} | {} |", from(row.from), row.to, row.by))
        .collect();
    assert_eq!(documented, coded);
}

#[test]
fn l_01_no_terminal_state_but_failed_is_ever_left() {
    for row in TRANSITIONS {
        let left = row.from.filter(|from| from.is_terminal());
        assert!(left.is_none() || left == Some(JobState::Failed), "{row:?}");
    }
    assert!(!JobState::Running.allows(TransitionKind::Pause), "a running job cannot be paused");
}

/// Returns the names of the functions in the body that begins with a line.
fn functions_of(path: &str, body: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let text = std::fs::read_to_string(&path).expect("a source file");
    let body = text.split(body).nth(1).unwrap_or_else(|| panic!("{}: `{body}`", path.display()));
    let body = body.split("\n}").next().unwrap_or_default();
    let signatures =
        body.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
    let names = signatures.filter_map(|line| line.split("fn ").nth(1)?.split(['(', '<']).next());
    names.map(str::to_owned).collect()
}

/// A store that wraps another would use the default body of a method that it does not forward.
#[test]
fn z_02_the_protected_store_forwards_every_method() {
    let methods = functions_of("ratchet-store/src/store.rs", "pub trait Store");
    assert!(methods.len() > 50, "{methods:?}");
    let path = "ratchet-core/src/protect/store.rs";
    let forwarded = functions_of(path, "impl Store for ProtectedStore");
    let missing: Vec<_> = methods.difference(&forwarded).collect();
    assert!(missing.is_empty(), "{path} must forward {missing:?}");
}

/// Returns the part of ARCHITECTURE.md between two markers.
fn documented(marker: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../ARCHITECTURE.md");
    let text = std::fs::read_to_string(path).expect("ARCHITECTURE.md");
    let part = text.split(&format!("<!-- {marker}:begin -->")).nth(1).expect("the marker");
    part.split(&format!("<!-- {marker}:end -->")).next().expect("the marker").to_owned()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// The modules of a crate in the import diagram, and for each module those that it may import.
fn documented_imports(crate_name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let diagram = documented("imports");
    let mut lines =
        diagram.lines().filter_map(|line| line.strip_prefix(crate_name)?.strip_prefix(':'));
    let line = lines.next().expect("the crate is in the diagram");
    let mut allowed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // Two statements can be on one line, separated by several spaces.
    for statement in line.split("      ").filter(|statement| statement.contains("◀─")) {
        let groups: Vec<Vec<String>> = statement
            .split("◀─")
            .map(|group| group.split(',').map(|module| module.trim().to_owned()).collect())
            .collect();
        for pair in groups.windows(2) {
            for left in &pair[0] {
                allowed.entry(left.clone()).or_default();
            }
            for right in &pair[1] {
                allowed.entry(right.clone()).or_default().extend(pair[0].iter().cloned());
            }
        }
    }
    // A module may import everything to its left, however far.
    loop {
        let before = allowed.clone();
        for lower in allowed.values_mut() {
            let further: Vec<_> = lower.iter().filter_map(|name| before.get(name)).collect();
            lower.extend(further.into_iter().flatten().cloned());
        }
        if allowed == before {
            return allowed;
        }
    }
}

/// Every import of one module of a crate by another, outside of tests.
fn imports(crate_name: &str) -> BTreeSet<(String, String)> {
    let root = folder(crate_name).join("src");
    let (mut folders, mut found) = (vec![root.clone()], BTreeSet::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "tests" {
                    folders.push(path);
                }
                continue;
            }
            let is_source = path.extension().is_some_and(|extension| extension == "rs");
            if !is_source || name == "tests.rs" || name == "fuzz.rs" {
                continue;
            }
            let inside = path.strip_prefix(&root).expect("is inside");
            let module = inside.iter().next().expect("a module").to_string_lossy();
            let module = module.trim_end_matches(".rs").to_owned();
            let source = std::fs::read_to_string(&path).expect("reads");
            let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                for imported in line.split("crate::").skip(1) {
                    let word = |c: char| !(c.is_alphanumeric() || c == '_');
                    let imported = imported.split(word).next().unwrap_or_default();
                    if !imported.is_empty() && imported != module {
                        found.insert((module.clone(), imported.to_owned()));
                    }
                }
            }
        }
    }
    found
}

#[test]
fn modules_import_only_what_the_diagram_allows() {
    for (crate_name, modules_at_least) in [("ratchet-store", 5), ("ratchet-core", 9)] {
        let (allowed, imports) = (documented_imports(crate_name), imports(crate_name));
        assert!(allowed.len() >= modules_at_least, "the diagram is read: {allowed:?}");
        assert!(imports.len() >= modules_at_least, "the sources are read: {imports:?}");
        for (module, lower) in &allowed {
            assert!(!lower.contains(module), "`{module}` is in a cycle of the diagram");
        }
        // The root and what macros use re-export everything.
        let is_root = |module: &str| matches!(module, "lib" | "__private");
        // Types are imported from the root of `ratchet-store`, which re-exports them.
        let is_module = |name: &str| name.starts_with(char::is_lowercase);
        let is_allowed = |(module, imported): &(String, String)| {
            is_root(module)
                || !is_module(imported)
                || allowed.get(module).is_some_and(|lower| lower.contains(imported))
        };
        let wrong: Vec<_> = imports.iter().filter(|import| !is_allowed(import)).collect();
        assert!(wrong.is_empty(), "not allowed by the diagram in ARCHITECTURE.md: {wrong:?}");
        let modules: BTreeSet<_> = imports.iter().map(|(module, _)| module.as_str()).collect();
        let is_known = |module: &&str| is_root(module) || allowed.contains_key(*module);
        let unknown: Vec<_> = modules.into_iter().filter(|module| !is_known(module)).collect();
        assert!(unknown.is_empty(), "not in the diagram of {crate_name}: {unknown:?}");
    }
}

/// The crates of this workspace that a crate depends on, outside of tests.
fn dependencies(crate_name: &str) -> BTreeSet<String> {
    let manifest = std::fs::read_to_string(folder(crate_name).join("Cargo.toml")).expect("reads");
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let names = section.lines().filter_map(|line| line.split(" =").next());
    names.filter(|name| name.starts_with("ratchet")).map(str::to_owned).collect()
}

#[test]
fn crates_depend_only_on_what_the_table_says() {
    let table = documented("crates");
    let rows: Vec<_> = table.trim().lines().skip(2).collect();
    let root = folder("ratchet-core").join("..");
    let crates = std::fs::read_dir(root).expect("reads").filter_map(Result::ok).filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with("ratchet") && entry.path().join("Cargo.toml").exists()
    });
    assert_eq!(rows.len(), crates.count(), "every crate has a row");
    for row in rows {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let quoted = |cell: &str| -> BTreeSet<String> {
            let words = cell.split('`').skip(1).step_by(2);
            words.filter(|word| word.starts_with("ratchet")).map(str::to_owned).collect()
        };
        let crate_name = quoted(cells[1]).pop_first().expect("the name of a crate");
        assert_eq!(dependencies(&crate_name), quoted(cells[3]), "{crate_name}");
    }
}
