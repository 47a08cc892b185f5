//! Checks the files that a policy names.

use std::path::{Path, PathBuf};

use super::ShellPolicyError;
use crate::shell::Program;
use crate::shell::program::is_interpreter;

/// Resolves the path of a program and checks that it is suitable.
pub(super) fn check_program(program: &Program) -> Result<PathBuf, ShellPolicyError> {
    let path = resolve(&program.path)?;
    let file = metadata(&path)?;
    if !file.is_file() || !is_executable(&file) {
        return Err(ShellPolicyError::NotExecutable { path });
    }
    let names =
        [&program.path, &path].map(|path| path.file_name().unwrap_or_default().to_string_lossy());
    if !program.is_interpreter && names.iter().any(|name| is_interpreter(name)) {
        return Err(ShellPolicyError::Interpreter { path });
    }
    for part in path.ancestors() {
        if is_writable_by_all(&metadata(part)?) {
            let (program, writable) = (path.clone(), part.to_owned());
            return Err(ShellPolicyError::WritableByAll { program, writable });
        }
    }
    Ok(path)
}

pub(super) fn check_directory(path: &Path) -> Result<(), ShellPolicyError> {
    let resolved = resolve(path)?;
    match metadata(&resolved)?.is_dir() {
        true => Ok(()),
        false => Err(ShellPolicyError::NotADirectory { path: path.to_owned() }),
    }
}

fn resolve(path: &Path) -> Result<PathBuf, ShellPolicyError> {
    if !path.is_absolute() {
        return Err(ShellPolicyError::RelativePath { path: path.to_owned() });
    }
    std::fs::canonicalize(path)
        .map_err(|source| ShellPolicyError::Unreadable { path: path.to_owned(), source })
}

fn metadata(path: &Path) -> Result<std::fs::Metadata, ShellPolicyError> {
    std::fs::metadata(path)
        .map_err(|source| ShellPolicyError::Unreadable { path: path.to_owned(), source })
}

#[cfg(unix)]
fn is_executable(file: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.mode() & 0o111 != 0
}

/// In a directory with the sticky bit, such as `/tmp`, users can replace only their own files.
#[cfg(unix)]
fn is_writable_by_all(file: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.mode() & 0o002 != 0 && !(file.is_dir() && file.mode() & 0o1000 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn is_writable_by_all(_: &std::fs::Metadata) -> bool {
    false
}
