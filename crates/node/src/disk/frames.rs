//! The bytes of a disk: a mark, then one frame for each write.
//!
//! ```text
//! frame = length of the body (u32) · number of the write (u64) · CRC-32 of these 12 bytes · CRC-32 of the body · body
//! ```
//!
//! All numbers are little-endian. The length has a checksum of its own, so a flipped bit in it cannot pass for an unfinished write. The
//! numbers of writes follow each other for as long as the disk lives, also where the file was replaced by a shorter one; so a doubled or missing
//! frame is found, and the last number tells how many writes were ever synced.
//!
//! Only the last frame can be torn, because a write begins after the one before it was synced, and the first cannot, because a file
//! is replaced as a whole.

use doorway_core::Refusal;

use super::Write;
use super::record::Record;

/// The first bytes of every file: its name and version.
pub const MARK: &[u8; 8] = b"doorway\x03";

/// The bytes of a frame before its body.
pub const HEADER: usize = 20;

/// The first bytes of a frame, which tell the length and the number.
const TOLD: usize = 12;

/// One write as bytes.
pub(crate) fn frame(number: u64, records: &[Record]) -> Vec<u8> {
    // Records have only types that postcard knows.
    let body = postcard::to_stdvec(records).unwrap_or_default();
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
    bytes.extend_from_slice(&body);
    bytes
}

/// A whole file of one write.
pub(crate) fn file_of(number: u64, records: &[Record]) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    bytes.extend(frame(number, records));
    bytes
}

/// How many writes a disk has synced once this one is.
pub(crate) fn synced_with(write: &Write) -> Option<u64> {
    let bytes = match write {
        Write::Append(bytes) => bytes,
        Write::Replace(bytes) => bytes.strip_prefix(MARK)?,
    };
    let number = bytes.get(4..TOLD)?.try_into().ok().map(u64::from_le_bytes)?;
    number.checked_add(1)
}

/// What was found in a file.
pub(crate) struct Frames {
    /// The records of all whole frames, each with the number of its write.
    pub(crate) records: Vec<(u64, Record)>,
    /// How many writes were ever synced to this disk, as far as the file tells.
    pub(crate) synced: u64,
    /// How many bytes are whole; what follows is a torn end.
    pub(crate) whole: usize,
}

/// Reads a file.
///
/// # Errors
/// One sentence with the place of the damage, if there is any but a torn end.
pub(crate) fn read(bytes: &[u8]) -> Result<Frames, Refusal> {
    if !bytes.starts_with(MARK) {
        return Err(foreign(bytes));
    }
    let mut frames = Frames { records: Vec::new(), synced: 0, whole: MARK.len() };
    while frames.whole < bytes.len() {
        let (at, is_first) = (frames.whole, frames.whole == MARK.len());
        match read_frame(&bytes[at..]) {
            Found::Whole { number, .. } if !is_first && number != frames.synced => {
                return Err(damaged(at, "a write is missing or duplicated"));
            }
            Found::Whole { number, records, length } => {
                frames.records.extend(records.into_iter().map(|record| (number, record)));
                frames.synced = number.saturating_add(1);
                frames.whole += length;
            }
            Found::Unfinished if !is_first => break,
            Found::Unfinished | Found::Damaged => {
                return Err(damaged(at, "a write is corrupt"));
            }
        }
    }
    if frames.whole == MARK.len() {
        return Err(damaged(MARK.len(), "the first write is missing"));
    }
    Ok(frames)
}

/// What stands at a place of a file.
enum Found {
    Whole {
        number: u64,
        records: Vec<Record>,
        length: usize,
    },
    /// A write that was under way when the machine stopped.
    Unfinished,
    Damaged,
}

fn read_frame(bytes: &[u8]) -> Found {
    let word = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
    let number = bytes.get(4..TOLD).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    let (Some(length), Some(number), Some(of_header), Some(of_body)) = (word(0), number, word(12), word(16))
    else {
        return Found::Unfinished;
    };
    if crc32fast::hash(&bytes[..TOLD]) != of_header {
        // After a loss of power a file may have grown without its new bytes: then all that follows is zero.
        let is_void = bytes[HEADER..].iter().all(|byte| *byte == 0);
        return if is_void { Found::Unfinished } else { Found::Damaged };
    }
    let Some(body) = bytes[HEADER..].get(..length as usize) else { return Found::Unfinished };
    let length = HEADER + body.len();
    if crc32fast::hash(body) != of_body {
        return if bytes.len() == length { Found::Unfinished } else { Found::Damaged };
    }
    match postcard::from_bytes(body) {
        Ok(records) => Found::Whole { number, records, length },
        Err(_) => Found::Damaged,
    }
}

/// What to do about a damaged file.
const ADVICE: &str = "While a majority of the voters is healthy, empty the data folder and start the node, which joins as a new one; else recover \
                      at a node whose file is intact (`doorway cluster recover`), or begin anew with `doorway cluster restore`";

fn damaged(at: usize, what: &str) -> Refusal {
    Refusal::new(format!("the file of this node is damaged at byte {at}: {what}. {ADVICE}"))
}

/// The file is none of this version, or its mark is damaged: earlier versions had no such frames.
fn foreign(bytes: &[u8]) -> Refusal {
    let has_frame = matches!(bytes.get(MARK.len()..).map(read_frame), Some(Found::Whole { .. }));
    match bytes.strip_prefix(&MARK[..7]).and_then(<[u8]>::first) {
        version if has_frame && version.is_none_or(|version| *version < MARK[7]) => {
            damaged(0, "the mark is wrong")
        }
        Some(version @ 1..=2) => Refusal::new(format!(
            "the file of this node has version {version}, written by an earlier Doorway, and is not converted: stop all nodes, empty \
             their data folders and begin anew above the highest fence with `doorway cluster restore --above FENCE`"
        )),
        Some(version) if *version > MARK[7] => Refusal::new(format!(
            "the file of this node has version {version}, written by a later Doorway: use that one; if there was none, the file is damaged at \
             byte 7. {ADVICE}"
        )),
        _ => Refusal::new(
            "this is not the file of a Doorway node: if it was, empty the data folder and start the node, which joins as a new one",
        ),
    }
}
