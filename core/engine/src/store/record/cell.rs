//! Converts values between a record and a row; defines how Rust types become columns.
use std::borrow::Cow;
use std::sync::Arc;

use ojs_model::workflow::Shape;
use ojs_model::{JobId, JobState};

/// What a column holds. Each store has a type of its own for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of 64 bits.
    Integer,
    /// A whole number from 0 to 2^32 - 1. PostgreSQL keeps its bits in a signed column.
    Count,
    /// A whole number of 16 bits.
    Small,
    /// Yes or no.
    Flag,
    /// A number with a fraction.
    Real,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// A job id, or an id of the same form.
    Id,
}

impl Kind {
    /// Whether stores give its values as whole numbers.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Integer | Self::Count | Self::Small | Self::Flag)
    }
}

/// A value of a column, borrowed where that is possible. Yes and no are 1 and 0; an id is 16 bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Real(f64),
    /// Text.
    Text(Cow<'a, str>),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
}

impl<'a> Cell<'a> {
    /// Text that is borrowed.
    #[must_use]
    pub const fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// The same, borrowed from nothing.
    #[must_use]
    pub fn into_owned(self) -> Cell<'static> {
        match self {
            Self::Null => Cell::Null,
            Self::Integer(number) => Cell::Integer(number),
            Self::Real(number) => Cell::Real(number),
            Self::Text(text) => Cell::Text(Cow::Owned(text.into_owned())),
            Self::Bytes(bytes) => Cell::Bytes(Cow::Owned(bytes.into_owned())),
        }
    }

    /// Bytes that are borrowed.
    #[must_use]
    pub const fn bytes(bytes: &'a [u8]) -> Self {
        Self::Bytes(Cow::Borrowed(bytes))
    }
}

/// How a value of one type is kept in one column.
pub trait Codec<T> {
    /// What the column holds.
    const KIND: Kind;
    /// Whether the column may be empty.
    const OPTIONAL: bool = false;
    /// The value as it is stored.
    fn cell(value: &T) -> Cell<'_>;
    /// The value that was stored; `None` when the cell does not hold one.
    fn read(cell: Cell<'_>) -> Option<T>;
}

/// A type that has one obvious column.
pub trait Field: Sized {
    /// What the column holds.
    const KIND: Kind;
    /// Whether the column may be empty.
    const OPTIONAL: bool = false;
    /// The value as it is stored.
    fn cell(&self) -> Cell<'_>;
    /// The value that was stored; `None` when the cell does not hold one.
    fn read(cell: Cell<'_>) -> Option<Self>;
}

/// The codec of every [`Field`].
#[derive(Debug, Clone, Copy)]
pub struct Plain;

impl<T: Field> Codec<T> for Plain {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = T::OPTIONAL;

    #[inline]
    fn cell(value: &T) -> Cell<'_> {
        value.cell()
    }

    #[inline]
    fn read(cell: Cell<'_>) -> Option<T> {
        T::read(cell)
    }
}

macro_rules! integers {
    ($($type:ty: $kind:ident),* $(,)?) => {$(
        impl Field for $type {
            const KIND: Kind = Kind::$kind;

            #[inline]
            fn cell(&self) -> Cell<'_> {
                Cell::Integer(i64::from(*self))
            }

            #[inline]
            fn read(cell: Cell<'_>) -> Option<Self> {
                match cell {
                    Cell::Integer(number) => Self::try_from(number).ok(),
                    _ => None,
                }
            }
        }
    )*};
}

integers! { i64: Integer, u32: Count, i32: Small, u16: Small }

/// Makes a field of an enum with `from_number(u8) -> Option<Self>`.
macro_rules! numbered_field {
    ($($type:ty),* $(,)?) => {$(
        impl $crate::store::record::Field for $type {
            const KIND: $crate::store::record::Kind = $crate::store::record::Kind::Small;

            #[inline]
            fn cell(&self) -> $crate::store::record::Cell<'_> {
                $crate::store::record::Cell::Integer(*self as i64)
            }

            #[inline]
            fn read(cell: $crate::store::record::Cell<'_>) -> Option<Self> {
                match cell {
                    $crate::store::record::Cell::Integer(number) => u8::try_from(number).ok().and_then(Self::from_number),
                    _ => None,
                }
            }
        }
    )*};
}
pub(crate) use numbered_field;

numbered_field! { JobState, Shape }

impl Field for bool {
    const KIND: Kind = Kind::Flag;

    #[inline]
    fn cell(&self) -> Cell<'_> {
        Cell::Integer(i64::from(*self))
    }

    #[inline]
    fn read(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Integer(0) => Some(false),
            Cell::Integer(1) => Some(true),
            _ => None,
        }
    }
}

impl Field for f64 {
    const KIND: Kind = Kind::Real;

    #[inline]
    fn cell(&self) -> Cell<'_> {
        Cell::Real(*self)
    }

    #[inline]
    fn read(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Real(number) => Some(number),
            _ => None,
        }
    }
}

impl Field for String {
    const KIND: Kind = Kind::Text;

    #[inline]
    fn cell(&self) -> Cell<'_> {
        Cell::text(self)
    }

    #[inline]
    fn read(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Text(text) => Some(text.into_owned()),
            _ => None,
        }
    }
}

impl Field for Arc<str> {
    const KIND: Kind = Kind::Text;

    #[inline]
    fn cell(&self) -> Cell<'_> {
        Cell::text(self)
    }

    #[inline]
    fn read(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Text(text) => Some(Arc::from(&*text)),
            _ => None,
        }
    }
}

impl Field for Vec<u8> {
    const KIND: Kind = Kind::Bytes;

    #[inline]
    fn cell(&self) -> Cell<'_> {
        Cell::bytes(self)
    }

    #[inline]
    fn read(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Bytes(bytes) => Some(bytes.into_owned()),
            _ => None,
        }
    }
}

impl Field for JobId {
    const KIND: Kind = Kind::Id;

    #[inline]
    fn cell(&self) -> Cell<'_> {
        Cell::bytes(self.as_bytes())
    }

    #[inline]
    fn read(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Bytes(bytes) => <[u8; 16]>::try_from(&*bytes).ok().map(Self::from_bytes),
            _ => None,
        }
    }
}

impl<T: Field> Field for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;

    #[inline]
    fn cell(&self) -> Cell<'_> {
        self.as_ref().map_or(Cell::Null, T::cell)
    }

    #[inline]
    fn read(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Null => Some(None),
            cell => T::read(cell).map(Some),
        }
    }
}

/// A value by which records are looked up.
pub trait KeyPart {
    /// The value as it is stored.
    fn part(&self) -> Cell<'_>;
}

impl<T: Field> KeyPart for T {
    fn part(&self) -> Cell<'_> {
        self.cell()
    }
}

impl KeyPart for &str {
    fn part(&self) -> Cell<'_> {
        Cell::text(self)
    }
}

/// Values of the columns of an index: one value, or a tuple in the order of the columns.
pub trait Key {
    /// The values as they are stored.
    fn parts(&self) -> Vec<Cell<'_>>;
}

impl<T: KeyPart> Key for T {
    fn parts(&self) -> Vec<Cell<'_>> {
        vec![self.part()]
    }
}

impl<A: KeyPart, B: KeyPart> Key for (A, B) {
    fn parts(&self) -> Vec<Cell<'_>> {
        vec![self.0.part(), self.1.part()]
    }
}

impl<A: KeyPart, B: KeyPart, C: KeyPart> Key for (A, B, C) {
    fn parts(&self) -> Vec<Cell<'_>> {
        vec![self.0.part(), self.1.part(), self.2.part()]
    }
}
