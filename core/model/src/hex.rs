//! Bytes as hexadecimal text.

/// Two lowercase digits for each byte.
///
/// ```
/// assert_eq!(ojs_model::hex::encode(&[10, 255]), "0aff");
/// ```
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// The bytes of a text of two digits for each, in either case; `None` for any other text.
///
/// ```
/// assert_eq!(ojs_model::hex::decode("0aFF"), Some(vec![10, 255]));
/// assert_eq!(ojs_model::hex::decode("0af"), None);
/// ```
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let half = |digit: u8| char::from(digit).to_digit(16).and_then(|half| u8::try_from(half).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| if let [high, low] = pair { Some(half(*high)? << 4 | half(*low)?) } else { None }).collect()
}
