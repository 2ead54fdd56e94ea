//! Job ids that carry their own number, so that the delivery check needs no map: a UUIDv7 whose last twelve digits count.

/// The ids of one run.
#[derive(Debug, Clone)]
pub struct Ids {
    /// `xxxxxxxx-xxxx-7xxx-8xxx-`
    prefix: String,
}

/// Bytes of an id.
pub const LEN: usize = 36;
/// Bytes before the counting digits.
const PREFIX: usize = 24;

impl Ids {
    /// Ids of this moment; `run` keeps several sequences of one moment apart.
    pub fn new(run: u16) -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let ms = since.as_millis() as u64;
        let prefix = format!("{:08x}-{:04x}-7{:03x}-8{:03x}-", (ms >> 16) as u32, ms as u16, run & 0xfff, run >> 12);
        Self { prefix }
    }

    /// The id with this number.
    pub fn id(&self, number: usize) -> String {
        format!("{}{number:012x}", self.prefix)
    }

    /// The number of an id; `None` when it is not of this run.
    pub fn number(&self, id: &[u8]) -> Option<usize> {
        let digits = id.strip_prefix(self.prefix.as_bytes())?;
        usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }

    /// Overwrites the counting digits of an id that stands at `at`.
    pub fn patch(request: &mut [u8], at: usize, number: usize) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut left = number;
        for digit in request[at + PREFIX..at + LEN].iter_mut().rev() {
            *digit = HEX[left & 15];
            left >>= 4;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_valid_and_give_their_number_back() {
        let ids = Ids::new(70);
        let mut id = ids.id(0).into_bytes();
        Ids::patch(&mut id, 0, 0xabc_def);
        assert_eq!(ids.number(&id), Some(0xabc_def));
        assert_eq!(String::from_utf8(id).unwrap(), ids.id(0xabc_def));
        assert!(ids.id(1).parse::<ojs_model::JobId>().is_ok());
        assert_eq!(Ids::new(71).number(ids.id(1).as_bytes()), None);
    }
}
