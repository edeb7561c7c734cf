//! Running cargo at the root of the repository, with its output shown.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::stop::ChoreError;

/// Runs cargo with these arguments and variables of the environment, and shows the command first.
pub fn cargo(arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), ChoreError> {
    let shown = shown(arguments, variables);
    println!("\n> {shown}");
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    for name in env::vars_os().map(|(name, _)| name).filter(|name| is_about_xtask(name)) {
        command.env_remove(name);
    }
    if let Some(directory) = chosen_target_directory() {
        command.env("CARGO_TARGET_DIR", directory);
    }
    command.envs(variables.iter().copied());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(ChoreError::Failed(format!("`{shown}` failed."))),
        Err(error) => Err(ChoreError::Failed(format!("`{shown}` could not be started: {error}."))),
    }
}

/// Whether `cargo run` set this variable to describe the package `xtask`. Build scripts that watch these variables, such as that of
/// `ring`, would run again, and everything above them would be compiled again, at each change between `cargo xtask` and plain cargo.
fn is_about_xtask(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
}

/// The root of the repository: of the checkout that cargo runs us in, else of the one we were built in.
pub fn root() -> PathBuf {
    let built_in = || env!("CARGO_MANIFEST_DIR").into();
    let ours = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(built_in));
    ours.parent().map(Path::to_path_buf).unwrap_or(ours)
}

/// Where the workspace is built.
pub fn target_directory() -> PathBuf {
    chosen_target_directory().unwrap_or_else(|| root().join("target"))
}

/// What the environment says about it, made absolute because we run cargo in another directory than our own.
fn chosen_target_directory() -> Option<PathBuf> {
    let chosen = env::var_os("CARGO_TARGET_DIR")?;
    std::path::absolute(chosen).ok()
}

fn shown(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let variables = variables.iter().map(|(name, value)| format!("{name}={} ", quoted(value)));
    let arguments = arguments.iter().map(|word| format!(" {}", quoted(word)));
    variables.chain(["cargo".to_owned()]).chain(arguments).collect()
}

/// A word as one would type it in a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=./:".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{word}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let shown = shown(&["doc", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]);
        assert_eq!(shown, "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
    }

    #[test]
    fn variables_about_xtask_are_not_passed_on() {
        let passed_on = |name: &str| !is_about_xtask(OsStr::new(name));
        assert!(!passed_on("CARGO_PKG_NAME") && !passed_on("CARGO_MANIFEST_DIR"));
        assert!(passed_on("CARGO_TARGET_DIR") && passed_on("CARGO_TERM_COLOR") && passed_on("PATH"));
    }

    #[test]
    fn the_root_has_the_manifest_of_the_workspace() {
        assert!(root().join("Cargo.toml").is_file() && root().join("xtask").is_dir());
    }
}
