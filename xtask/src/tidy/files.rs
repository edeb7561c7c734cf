//! Which files there are, and what they say: the only part of tidy that touches the disk.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::stop::ChoreError;

/// A text file of the repository.
pub struct File {
    /// Its path from the root, with `/` between the parts.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// Every text file that git knows or would add.
pub fn read_all(root: &Path) -> Result<Vec<File>, ChoreError> {
    let mut paths = listed_by_git(root).unwrap_or_else(|| walked(root));
    paths.sort();
    paths.dedup();
    let files: Vec<File> = paths.into_iter().filter_map(|path| read(root, path)).collect();
    match files.len() {
        0 => Err(ChoreError::Failed(format!("tidy: there is no file to check under {}.", root.display()))),
        _ => Ok(files),
    }
}

/// A file that is deleted but not yet committed so, or that is no text, has nothing to check.
fn read(root: &Path, path: String) -> Option<File> {
    let text = fs::read_to_string(root.join(&path)).ok()?;
    Some(File { path, text })
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let output = git.output().ok().filter(|output| output.status.success())?;
    let names = String::from_utf8_lossy(&output.stdout);
    Some(names.split_terminator('\0').map(str::to_owned).collect())
}

/// What is on the disk, for a machine without git or a copy without its history.
fn walked(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    walk(root, "", &mut found);
    found
}

fn walk(directory: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && name != "target" && name != ".git" => {
                walk(&entry.path(), &format!("{path}/"), found);
            }
            Ok(kind) if kind.is_file() => found.push(path),
            Ok(_) | Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_and_the_disk_agree_about_our_own_files() {
        let root = crate::cargo::root();
        for ours in ["xtask/src/tidy/files.rs", ".cargo/config.toml"] {
            assert!(walked(&root).contains(&ours.to_owned()));
            assert!(listed_by_git(&root).is_none_or(|all| all.contains(&ours.to_owned())));
        }
        assert!(!walked(&root).iter().any(|path| path.starts_with("target/") || path.starts_with(".git/")));
    }

    #[test]
    fn a_place_without_files_is_a_failure_and_not_a_pass() {
        assert!(read_all(Path::new("/nowhere/at/all")).is_err());
    }
}
