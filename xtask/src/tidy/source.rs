//! A Rust file told apart into code, literals and comments, and its functions: well enough for the checks, not for a
//! compiler.

use std::ops::Range;

/// What a piece of a Rust file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// What is compiled, and the blanks between.
    Code,
    /// A string or a character.
    Literal,
    /// A comment that is not documentation.
    Comment,
    /// A comment that becomes documentation: `//!`, `///` and their blocks.
    Doc,
}

/// A Rust file, each byte of it with its kind.
pub struct SourceFile {
    /// Its path from the root.
    pub path: String,
    /// What it says.
    pub text: String,
    kinds: Vec<TokenKind>,
}

impl SourceFile {
    /// Tells a file apart.
    pub fn new(path: &str, text: &str) -> Self {
        let mut kinds = Vec::with_capacity(text.len());
        while kinds.len() < text.len() {
            let (length, kind) = piece(text, kinds.len());
            kinds.resize((kinds.len() + length).min(text.len()), kind);
        }
        Self { path: path.to_owned(), text: text.to_owned(), kinds }
    }

    /// The file with everything blanked that is not of these kinds, so that places stay what they are.
    pub fn only(&self, keep: &[TokenKind]) -> String {
        let blank = |(at, c): (usize, char)| match c {
            '\n' => "\n".to_owned(),
            _ if keep.contains(&self.kinds[at]) => c.to_string(),
            _ => " ".repeat(c.len_utf8()),
        };
        self.text.char_indices().map(blank).collect()
    }

    /// The file without literals and comments.
    pub fn code(&self) -> String {
        self.only(&[TokenKind::Code])
    }
}

/// Length and kind of the piece that starts here: a comment, a literal, a word, or one character.
fn piece(text: &str, at: usize) -> (usize, TokenKind) {
    let rest = &text[at..];
    if rest.starts_with("//") {
        let is_doc = rest.starts_with("//!") || rest.starts_with("///") && !rest.starts_with("////");
        let end = rest.find('\n').unwrap_or(rest.len());
        return (end, if is_doc { TokenKind::Doc } else { TokenKind::Comment });
    }
    if rest.starts_with("/*") {
        let is_doc = rest.starts_with("/*!") || rest.starts_with("/**") && !rest.starts_with("/**/");
        return (block_length(rest), if is_doc { TokenKind::Doc } else { TokenKind::Comment });
    }
    let literal = raw_string_length(rest).or_else(|| string_length(rest)).or_else(|| char_length(rest));
    match literal {
        Some(length) => (length, TokenKind::Literal),
        None => (word_length(rest), TokenKind::Code),
    }
}

/// Blocks of comments nest.
fn block_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let pair = rest.as_bytes().get(at..at + 2).unwrap_or_default();
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            break;
        }
    }
    at
}

/// `r"…"`, `br#"…"#` and their like; `r#name` is a word.
fn raw_string_length(rest: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find_map(|prefix| rest.strip_prefix(prefix))?;
    let inner = prefix.trim_start_matches('#');
    let hashes = prefix.len() - inner.len();
    let inner = inner.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let opening = rest.len() - inner.len();
    Some(inner.find(&close).map_or(rest.len(), |end| opening + end + close.len()))
}

fn string_length(rest: &str) -> Option<usize> {
    rest.starts_with('"').then(|| 1 + length_to_quote(&rest[1..], '"'))
}

/// A character; an apostrophe that opens none belongs to a lifetime or a label.
fn char_length(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    if first == '\\' {
        return Some(1 + length_to_quote(inner, '\''));
    }
    inner[first.len_utf8()..].starts_with('\'').then(|| 2 + first.len_utf8())
}

/// How far it is to the end of this quote, past the characters that a backslash protects.
fn length_to_quote(inner: &str, quote: char) -> usize {
    let mut is_protected = false;
    for (at, c) in inner.char_indices() {
        if c == quote && !is_protected {
            return at + 1;
        }
        is_protected = c == '\\' && !is_protected;
    }
    inner.len()
}

/// A whole word is taken at once, so that the `r` of `for"` never opens a raw string.
fn word_length(rest: &str) -> usize {
    let word = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
    word.max(rest.chars().next().map_or(0, char::len_utf8))
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Each word of a text and where it starts.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].find(is_of_word)?;
        let word = &text[at..at + word_length(&text[at..])];
        let start = at;
        at += word.len();
        Some((start, word))
    })
}

/// The line of this place, from 1.
pub fn line_of(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}

/// Where the item that starts here ends: after its closing brace, or after its semicolon.
pub fn item_end(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code[start..].char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(c, '}' | ';') {
            return start + at + 1;
        }
    }
    code.len()
}

/// Everything under `#[cfg(test)]`.
pub fn tests_in(code: &str) -> Vec<Range<usize>> {
    code.match_indices("#[cfg(test)]").map(|(at, _)| at..item_end(code, at)).collect()
}

/// A function and its lines, from the one with `fn` to the one with the closing brace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The line with `fn`, from 1.
    pub first: usize,
    /// The line with the closing brace.
    pub last: usize,
}

/// Every function of a file, those inside others as well.
pub fn functions(code: &str) -> Vec<Function> {
    let keywords = words(code).filter(|&(_, word)| word == "fn");
    let found = keywords.filter_map(|(at, _)| {
        let rest = code[at + 2..].trim_start();
        let name = rest[..word_length(rest)].to_owned();
        // `fn(u8)` is the type of a function and has no name.
        name.starts_with(is_of_word).then(|| Function {
            name,
            first: line_of(code, at),
            last: line_of(code, item_end(code, at) - 1),
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        SourceFile::new("a.rs", text).code()
    }

    fn of_kind(kind: TokenKind, text: &str) -> String {
        SourceFile::new("a.rs", text).only(&[kind]).trim().to_owned()
    }

    #[test]
    fn comments_are_distinguished_from_documentation() {
        for doc in ["//! a", "/// a", "/** a */", "/*! a */"] {
            assert_eq!(of_kind(TokenKind::Doc, doc), doc);
        }
        for comment in ["// a", "//// a", "/* a /* b */ c */", "/**/"] {
            assert_eq!(of_kind(TokenKind::Comment, comment), comment);
        }
        assert_eq!(code("a /* { /* } */ { */ b // {\nc"), format!("a{}b     \nc", " ".repeat(19)));
    }

    #[test]
    fn literals_end_where_they_should() {
        let samples = [
            r#""{ \" { \\""#,
            r##"r#"{ " { \"#"##,
            r#"br"{ \""#,
            r"'{'",
            r"'\''",
            r"'\\'",
            r"'\u{7b}'",
            "'é'",
            "\"// {\"",
            "\"é/*\"",
        ];
        for sample in samples {
            let text = format!("f({sample}) + x");
            assert_eq!(of_kind(TokenKind::Literal, &text), sample);
            assert!(code(&text).ends_with(") + x"), "{sample}");
        }
    }

    #[test]
    fn lifetimes_labels_and_raw_names_are_code() {
        for text in ["fn f<'a>(x: &'a str, y: &'a u8) {}", "'out: loop { break 'out }", "r#fn(r#type)"] {
            assert_eq!(code(text), text);
        }
    }

    #[test]
    fn an_unfinished_file_is_no_trouble() {
        for text in
            ["\"abc", "/* abc", "r#\"abc", "'", "'\\", "//", "fn", "fn f(", "fn f() {", "\"\\", "/", "é"]
        {
            let source = SourceFile::new("a.rs", text);
            assert_eq!(source.code().len(), text.len());
            functions(&source.code());
        }
    }

    #[test]
    fn places_stay_when_the_rest_is_blanked() {
        let text = "let é = \"ü\n\"; // ö\nnext";
        let code = code(text);
        assert_eq!(code.len(), text.len());
        assert_eq!(line_of(&code, code.find("next").expect("it is code")), 3);
    }

    #[test]
    fn functions_are_found_with_their_lines() {
        let text = "\
type F = fn(u8);
trait T {
    fn declared(&self) -> [u8; 3];
}
fn one() -> [u8; { 2 }] { [1, 2] }
pub fn long(c: char) -> bool
where
    u8: Copy,
{
    let brace = '}';
    fn inner() {
        // }
    }
    c == brace || \"}\".contains(c)
}
";
        let found = functions(&code(text));
        let lines: Vec<(&str, usize, usize)> =
            found.iter().map(|function| (function.name.as_str(), function.first, function.last)).collect();
        assert_eq!(lines, [("declared", 3, 3), ("one", 5, 5), ("long", 6, 15), ("inner", 11, 13)]);
    }

    #[test]
    fn tests_are_found_wherever_they_stand() {
        let text = "#[cfg(test)]\nuse a;\nfn b() {}\n#[cfg(test)]\nmod tests { fn c() {} }\nfn d() {}\n";
        let found: Vec<&str> = tests_in(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["#[cfg(test)]\nuse a;", "#[cfg(test)]\nmod tests { fn c() {} }"]);
    }

    #[test]
    fn words_are_whole() {
        let found: Vec<(usize, &str)> = words("a_b::c1 (é)").collect();
        assert_eq!(found, [(0, "a_b"), (5, "c1"), (9, "é")]);
    }
}
