//! Arguments made smaller before they are encrypted: afterwards nothing repeats that could be.
use std::io::Read;

use flate2::read::MultiGzDecoder;
use ojs_model::limits::MAX_ENVELOPE_BYTES;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// Ways to compress that are known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    /// What we write.
    Zstd,
    Gzip,
    /// The block format.
    Snappy,
}

impl Compression {
    /// By its name in `ojs.codec.encodings`; in an element's `encoding` the names have no end.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "zstd/plain" | "zstd" => Some(Self::Zstd),
            "gzip/plain" | "gzip" => Some(Self::Gzip),
            "snappy/plain" | "snappy" => Some(Self::Snappy),
            _ => None,
        }
    }

    /// What it was before. `None` when the bytes are damaged, or would become more than any job may be: a few bytes can say a gigabyte.
    pub fn undo(self, bytes: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Zstd => bounded(StreamingDecoder::new(bytes).ok()?),
            Self::Gzip => bounded(MultiGzDecoder::new(bytes)),
            Self::Snappy => {
                let length = snap::raw::decompress_len(bytes).ok()?;
                (length <= MAX_ENVELOPE_BYTES).then(|| snap::raw::Decoder::new().decompress_vec(bytes).ok())?
            }
        }
    }
}

/// The name under which [`compressed`] is written.
pub(super) const ZSTD: &str = "zstd/plain";

/// With Zstandard; `None` where that is no gain.
pub(super) fn compressed(plain: &[u8]) -> Option<Vec<u8>> {
    let made = compress_to_vec(plain, CompressionLevel::Fastest);
    (made.len() < plain.len()).then_some(made)
}

fn bounded(from: impl Read) -> Option<Vec<u8>> {
    let most = MAX_ENVELOPE_BYTES as u64;
    let mut plain = Vec::new();
    from.take(most + 1).read_to_end(&mut plain).ok()?;
    (plain.len() as u64 <= most).then_some(plain)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn all(plain: &[u8]) -> [(Compression, Vec<u8>); 3] {
        [
            (Compression::Zstd, compress_to_vec(plain, CompressionLevel::Fastest)),
            (Compression::Gzip, gzip(plain)),
            (Compression::Snappy, snap::raw::Encoder::new().compress_vec(plain).unwrap()),
        ]
    }

    #[test]
    fn what_is_small_comes_back_and_what_is_damaged_does_not() {
        let plain = b"[\"the same again and again\"]".repeat(100);
        for (how, small) in all(&plain) {
            assert!(small.len() < plain.len() / 2, "{how:?}");
            assert_eq!(how.undo(&small).as_deref(), Some(&*plain), "{how:?}");
            assert_eq!(how.undo(&small[..small.len() / 2]), None, "{how:?}");
            assert_eq!(how.undo(b"nonsense"), None, "{how:?}");
        }
    }

    /// As the `zstd` command writes it, with its checksum.
    #[test]
    fn what_others_have_written() {
        let zstd = [40, 181, 47, 253, 4, 88, 57, 0, 0, 91, 34, 97, 34, 44, 49, 93, 202, 251, 243, 92];
        assert_eq!(Compression::Zstd.undo(&zstd).as_deref(), Some(&b"[\"a\",1]"[..]));
    }

    #[test]
    fn a_small_text_that_says_a_gigabyte_is_refused() {
        let bomb = vec![b' '; MAX_ENVELOPE_BYTES + 1];
        for (how, small) in all(&bomb) {
            assert!(small.len() < 1 << 20, "{how:?}");
            assert_eq!(how.undo(&small), None, "{how:?}");
        }
        assert_eq!(compressed(b"[]"), None, "no gain");
    }
}
