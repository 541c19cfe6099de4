//! Output that may be endless: the beginning and the end are kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

/// How much of the beginning, and of the end, is kept. Claude Code keeps 30000 characters in
/// all (documented); which part of them is our choice.
const HALF: usize = 15_000;

/// What came in so far.
#[derive(Debug, Default)]
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: usize,
}

/// Output that is still being read, readable at any time.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Output>>);

impl Shared {
    /// Reads until the end. What was read is there even when this is dropped.
    pub(super) async fn read(&self, mut from: impl AsyncRead + Unpin) {
        let mut buffer = [0; 8192];
        // A pipe that breaks is a pipe that ends.
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            let bytes = buffer.get(..count).unwrap_or_default();
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .add(bytes);
        }
    }

    /// The text so far, without line breaks at the end.
    pub(super) fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

impl Output {
    fn add(&mut self, bytes: &[u8]) {
        let room = HALF.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(HALF);
        self.tail.drain(..excess);
        self.dropped += excess;
    }

    fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let text = match self.dropped {
            0 => String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned(),
            dropped => format!(
                "{}\n[{dropped} bytes left out here]\n{}",
                String::from_utf8_lossy(&self.head),
                String::from_utf8_lossy(&tail)
            ),
        };
        text.trim_end_matches(['\n', '\r']).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Short output is all there; long output keeps both ends and says how much is missing.
        #[test]
        fn both_ends_survive(length in 0..3 * HALF, piece in 1..4000_usize) {
            let bytes: Vec<u8> = (0..length).map(|n| b'a' + (n % 26) as u8).collect();
            let mut output = Output::default();
            bytes.chunks(piece).for_each(|chunk| output.add(chunk));
            let (text, all) = (output.text(), String::from_utf8(bytes).unwrap());
            if length <= 2 * HALF {
                prop_assert_eq!(text, all);
            } else {
                let note = format!("\n[{} bytes left out here]\n", length - 2 * HALF);
                let (head, tail) = text.split_once(&note).unwrap();
                prop_assert_eq!((head.len(), tail.len()), (HALF, HALF));
                prop_assert!(all.starts_with(head) && all.ends_with(tail));
            }
        }
    }

    /// A letter cut in two by a read is not garbled.
    #[test]
    fn letters_are_not_cut_by_reads() {
        let mut output = Output::default();
        "é".as_bytes().iter().for_each(|byte| output.add(&[*byte]));
        assert_eq!(output.text(), "é");
    }
}
