//! Data of a CloudEvent as an argument of a job, which is JSON.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use serde_json::value::RawValue;

/// What data is, by its media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    /// JSON: it is the argument, or all of them when it is a list.
    Json,
    /// Text: one argument, a string.
    Text,
    /// Anything else: one argument, a string in Base64.
    Bytes,
}

impl Media {
    /// Reads a media type. Without one, data is JSON.
    pub(super) fn of(name: Option<&str>) -> Self {
        let Some(name) = name else { return Self::Json };
        let essence = name.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" | "text/json" => Self::Json,
            other if other.ends_with("+json") => Self::Json,
            other if other.starts_with("text/") => Self::Text,
            _ => Self::Bytes,
        }
    }
}

/// Bytes as JSON text.
///
/// # Errors
/// A sentence: what is wrong with them.
pub(super) fn argument(bytes: &[u8], media: Media) -> Result<String, String> {
    let text = || std::str::from_utf8(bytes).map_err(|_| "the data is not UTF-8, as its media type says.".to_owned());
    match media {
        Media::Json => {
            let data: &RawValue = serde_json::from_str(text()?).map_err(|error| format!("the data is not JSON: {error}."))?;
            Ok(data.get().to_owned())
        }
        Media::Text => Ok(json!(text()?).to_string()),
        Media::Bytes => Ok(json!(STANDARD.encode(bytes)).to_string()),
    }
}

/// The bytes of a member in Base64.
///
/// # Errors
/// A sentence: what is wrong with it.
pub(super) fn decoded(raw: &str) -> Result<Vec<u8>, String> {
    let text: String = serde_json::from_str(raw).map_err(|_| "data_base64 must be a text in Base64.".to_owned())?;
    STANDARD.decode(text).map_err(|error| format!("data_base64 is not Base64: {error}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_says_what_data_is() {
        for json in ["application/json", "Application/JSON; charset=utf-8", "application/problem+json", "text/json"] {
            assert_eq!(Media::of(Some(json)), Media::Json, "{json}");
        }
        assert_eq!((Media::of(None), Media::of(Some("text/plain"))), (Media::Json, Media::Text));
        assert_eq!((Media::of(Some("image/png")), Media::of(Some(""))), (Media::Bytes, Media::Bytes));
    }

    #[test]
    fn data_is_an_argument() {
        assert_eq!(argument(b" {\"a\": 1.0} ", Media::Json).unwrap(), "{\"a\": 1.0}");
        assert_eq!(argument("é\"".as_bytes(), Media::Text).unwrap(), "\"é\\\"\"");
        assert_eq!(argument(&[0, 255], Media::Bytes).unwrap(), "\"AP8=\"");
        assert!(argument(&[255], Media::Text).is_err() && argument(b"{", Media::Json).is_err());
        assert_eq!(decoded("\"AP8=\"").unwrap(), [0, 255]);
        assert!(decoded("\"AP8\"").is_err() && decoded("7").is_err());
    }
}
