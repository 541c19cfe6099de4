//! Server-sent events, cut out of whatever pieces the network hands over.

/// The longest event that is taken. A server that sends more is broken, or means harm.
const LONGEST: usize = 8 << 20;

/// Cuts bytes into the data of events. A piece may end anywhere, also inside a character.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    /// The last byte was a carriage return, so that a line feed now ends nothing.
    after_return: bool,
    begun: bool,
}

/// An event that is longer than [`LONGEST`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// What a piece held.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    /// The data of each event that is complete.
    pub(super) events: Vec<Vec<u8>>,
    /// Whether a line was completed, be it a comment: the server is alive.
    pub(super) alive: bool,
}

impl Decoder {
    /// Takes the next piece.
    pub(super) fn feed(&mut self, piece: &[u8]) -> Result<Cut, TooLong> {
        let mut cut = Cut::default();
        for &byte in piece {
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    cut.alive = true;
                    cut.events.extend(self.end_line());
                }
                _ => self.line.push(byte),
            }
            let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
            if held > LONGEST {
                return Err(TooLong);
            }
        }
        Ok(cut)
    }

    /// The event that was not ended by an empty line, when nothing more comes.
    pub(super) fn finish(&mut self) -> Option<Vec<u8>> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.data.take()
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        let line = match std::mem::replace(&mut self.begun, true) {
            false => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line),
            true => &line,
        };
        if line.is_empty() {
            return self.data.take();
        }
        let value = line.strip_prefix(b"data:")?;
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        for piece in pieces {
            events.extend(decoder.feed(piece).unwrap().events);
        }
        events.extend(decoder.finish());
        let text = |event| String::from_utf8(event).unwrap();
        events.into_iter().map(text).collect()
    }

    /// Where the network cuts a stream changes nothing, whichever line ends it uses.
    #[test]
    fn pieces_may_end_anywhere() {
        for end in ["\n", "\r\n", "\r"] {
            let lines = [
                "\u{feff}: hello",
                "data: é1",
                "",
                "event: x",
                "data:a",
                "data: b",
                "",
                "id: 7",
                "data: last",
                "",
            ];
            let text = lines.join(end) + end;
            let whole = all(&[text.as_bytes()]);
            assert_eq!(whole, ["é1", "a\nb", "last"], "{end:?}");
            for at in 0..text.len() {
                let (head, tail) = text.as_bytes().split_at(at);
                assert_eq!(all(&[head, tail]), whole, "{end:?} cut at {at}");
            }
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(all(&bytes), whole, "{end:?} byte by byte");
        }
    }

    /// A server cannot fill our memory with an event that never ends.
    #[test]
    fn an_endless_event_is_refused() {
        for piece in [
            vec![b'x'; 1 << 20],
            [b"data: ", &[b'x'; 1 << 20][..], b"\n"].concat(),
        ] {
            let mut decoder = Decoder::default();
            let fed = (0..9).try_for_each(|_| decoder.feed(&piece).map(|_| ()));
            assert_eq!(fed, Err(TooLong));
        }
    }

    /// A comment completes no event and shows that the server is there.
    #[test]
    fn a_comment_is_a_sign_of_life() {
        let mut decoder = Decoder::default();
        let cut = decoder.feed(b": keep-alive\n").unwrap();
        assert_eq!((cut.events.len(), cut.alive), (0, true));
        assert!(!decoder.feed(b"data: half").unwrap().alive);
    }
}
