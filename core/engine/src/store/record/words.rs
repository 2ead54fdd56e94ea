//! Enumerations with a name on the wire and a number in stores.

/// Gives the variants of an enumeration their words. Their stored numbers are their places in the list, so a new one
/// comes last.
///
/// ```ignore
/// words! { TrainState { Running = "running", Draining = "draining", Held = "held" } }
/// ```
macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// The word on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// What a word on the wire means; `None` for any other word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                [$(Self::$variant),+].into_iter().find(|known| known.as_str() == word)
            }

            /// What a stored number means; `None` for one that this version does not know.
            #[must_use]
            pub fn from_number(number: u8) -> Option<Self> {
                [$(Self::$variant),+].get(usize::from(number)).copied()
            }
        }

        $crate::store::record::numbered_field! { $type }
    };
}
pub(crate) use words;
