//! The layout of frames: offsets follow from the types.
use serde::{Deserialize, Serialize};

use crate::schema::Number;

/// Frames of jobs and of outcomes.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    version: u16,
    /// What a frame of jobs begins with: four letters.
    jobs: Magic,
    /// What a frame of outcomes begins with.
    outcomes: Magic,
    header: Layout,
    job: Layout,
    outcome: Layout,
    flags: Vec<Number>,
}

/// Four letters, and the number that they are.
#[derive(Debug, Deserialize, Serialize)]
#[serde(try_from = "String")]
struct Magic {
    letters: String,
    hex: String,
}

impl TryFrom<String> for Magic {
    type Error = String;

    fn try_from(letters: String) -> Result<Self, String> {
        let bytes: [u8; 4] = letters.as_bytes().try_into().map_err(|_| format!("'{letters}' has not four letters"))?;
        Ok(Self { hex: format!("0x{:08X}", u32::from_le_bytes(bytes)), letters })
    }
}

/// Fields one after the other.
#[derive(Debug, Deserialize, Serialize)]
#[serde(from = "Vec<Field>")]
struct Layout {
    fields: Vec<Field>,
    /// Bytes in all.
    size: u32,
}

/// A number, or where a text is.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Field {
    name: String,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    doc: String,
    /// From the start of the header or entry.
    #[serde(skip_deserializing)]
    at: u32,
}

#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    U16,
    U32,
    U64,
    Text,
}

impl Kind {
    const fn size(self) -> u32 {
        match self {
            Self::U16 => 2,
            Self::U32 => 4,
            Self::U64 | Self::Text => 8,
        }
    }
}

impl From<Vec<Field>> for Layout {
    fn from(mut fields: Vec<Field>) -> Self {
        let mut size = 0;
        for field in &mut fields {
            field.at = size;
            size += field.kind.size();
        }
        Self { fields, size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_follow_from_the_types() {
        let layout: Layout = toml::from_str::<std::collections::BTreeMap<String, Layout>>(
            "x = [{ name = 'A', type = 'u16' }, { name = 'B', type = 'text' }]",
        )
        .unwrap()
        .remove("x")
        .unwrap();
        assert_eq!((layout.fields[1].at, layout.size), (2, 10));
    }

    #[test]
    fn magic_numbers_are_little_endian() {
        assert_eq!(Magic::try_from("OJSJ".to_owned()).unwrap().hex, "0x4A534A4F");
        assert!(Magic::try_from("OJS".to_owned()).is_err());
    }
}
