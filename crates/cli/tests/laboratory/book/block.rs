//! The fenced blocks of a page: which of them are commands with their output, and which are files.

/// One fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The line of its opening fence, from 1.
    pub line: usize,
    /// The words after the opening fence.
    pub info: String,
    pub lines: Vec<String>,
}

/// What the test does with a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `console`: runs every command and compares its output.
    Run,
    /// `console no-run, because …`: only read.
    Skip { reason: String },
    /// `toml grid.toml`: writes the block to that file before the commands after it run.
    File { name: String },
    /// Anything else.
    Other,
}

/// A command and the output that the page prints below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The line of the command, from 1.
    pub line: usize,
    pub command: String,
    pub printed: Vec<String>,
}

/// The fenced blocks of a page, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in page.lines().enumerate() {
        match (open.take(), line.strip_prefix("```")) {
            (None, Some(info)) => {
                open = Some(Block { line: index + 1, info: info.trim().to_owned(), lines: Vec::new() });
            }
            (Some(block), Some(_)) => found.push(block),
            (Some(mut block), None) => {
                block.lines.push(line.to_owned());
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert_eq!(open, None, "a block without a closing fence");
    found
}

impl Block {
    pub fn kind(&self) -> Kind {
        let (language, rest) = self.info.split_once(' ').unwrap_or((&self.info, ""));
        match (language, rest) {
            ("console", "") => Kind::Run,
            ("console", rest) => {
                let reason = rest.strip_prefix("no-run, because ").unwrap_or_default();
                assert!(!reason.is_empty(), "line {}: write `console no-run, because …`", self.line);
                Kind::Skip { reason: reason.to_owned() }
            }
            (_, "") => Kind::Other,
            (_, name) => Kind::File { name: name.to_owned() },
        }
    }

    /// The commands of a console: lines that begin with `$ `, each with the lines below it.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            let line_number = self.line + 1 + index;
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => {
                    steps.push(Step { line: line_number, command: command.to_owned(), printed: Vec::new() });
                }
                (None, Some(step)) => step.printed.push(line.clone()),
                (None, None) => panic!("line {line_number}: output without a command: {line}"),
            }
        }
        steps
    }

    /// Whether a line looks like a command of ours.
    pub fn has_command(&self) -> bool {
        self.lines.iter().any(|line| line.starts_with("$ ") || line.starts_with("doorway "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
Text.

```console
$ doorway one
first
$ doorway two &

second
```

```toml grid.toml
nodes = 3
```

```console no-run, because it opens a browser
$ doorway studio --open
```
";

    #[test]
    fn a_page_has_its_blocks_in_order() {
        let found = blocks(PAGE);
        assert_eq!(found.iter().map(|block| block.line).collect::<Vec<_>>(), [3, 11, 15]);
        let kinds: Vec<Kind> = found.iter().map(Block::kind).collect();
        let reason = "it opens a browser".to_owned();
        assert_eq!(kinds, [Kind::Run, Kind::File { name: "grid.toml".to_owned() }, Kind::Skip { reason }]);
    }

    #[test]
    fn a_console_has_commands_with_their_output() {
        let steps = blocks(PAGE)[0].steps();
        let step = |line, command: &str, printed: &[&str]| Step {
            line,
            command: command.to_owned(),
            printed: printed.iter().map(|line| (*line).to_owned()).collect(),
        };
        assert_eq!(steps, [step(4, "doorway one", &["first"]), step(6, "doorway two &", &["", "second"])]);
    }

    #[test]
    #[should_panic(expected = "write `console no-run, because …`")]
    fn a_command_is_not_skipped_without_a_reason() {
        blocks("```console no-run\n$ doorway lock\n```\n")[0].kind();
    }
}
