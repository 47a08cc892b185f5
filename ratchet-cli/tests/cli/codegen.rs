//! `ratchet codegen`: code from a lock file.

use std::fs;
use std::path::Path;

use super::stored::ratchet;

#[test]
fn k_04_an_outdated_file_fails_the_check() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ratchet/ratchet.lock");
    let lock = lock.to_str().expect("text");
    let folder = tempfile::tempdir().expect("a folder");
    for target in ["json-schema", "typescript", "python", "sql", "docs"] {
        let printed = ratchet(&["codegen", target, "--lock", lock]);
        assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
        let path = folder.path().join(target);
        let out = path.to_str().expect("text");
        let check = ["codegen", target, "--lock", lock, "--out", out, "--check"];
        let missing = ratchet(&check);
        assert_eq!(missing.status.code(), Some(1), "{target}");
        let error = String::from_utf8_lossy(&missing.stderr).into_owned();
        assert!(error.contains(&format!("ratchet codegen {target} --lock")), "{error}");
        assert!(ratchet(&check[..6]).status.success(), "{target} is written");
        assert_eq!(fs::read(&path).expect("reads"), printed.stdout, "{target}");
        assert!(ratchet(&check).status.success(), "{target} is the present one");
        fs::write(&path, "edited").expect("writes");
        assert_eq!(ratchet(&check).status.code(), Some(1), "{target} was edited");
    }
}

#[test]
fn k_04_a_lock_file_that_cannot_be_read_is_named() {
    let missing = ratchet(&["codegen", "docs", "--lock", "/nowhere/ratchet.lock"]);
    assert_eq!(missing.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("/nowhere/ratchet.lock"));
}
