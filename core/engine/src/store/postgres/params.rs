//! Values that go to PostgreSQL, each with its type: statements need no look-up of types and work unprepared.
use std::error::Error;

use ojs_model::JobId;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

/// A parameter that knows its type.
pub trait Param: ToSql + Sync {
    /// The type on the wire.
    fn kind(&self) -> Type;
}

macro_rules! params {
    ($($rust:ty => $kind:ident, $array:ident);* $(;)?) => {$(
        impl Param for $rust {
            fn kind(&self) -> Type {
                Type::$kind
            }
        }
        impl Param for Option<$rust> {
            fn kind(&self) -> Type {
                Type::$kind
            }
        }
        impl Param for Vec<$rust> {
            fn kind(&self) -> Type {
                Type::$array
            }
        }
        impl Param for Vec<Option<$rust>> {
            fn kind(&self) -> Type {
                Type::$array
            }
        }
    )*};
}

params! {
    i64 => INT8, INT8_ARRAY;
    f64 => FLOAT8, FLOAT8_ARRAY;
    bool => BOOL, BOOL_ARRAY;
    String => TEXT, TEXT_ARRAY;
    &str => TEXT, TEXT_ARRAY;
    Vec<u8> => BYTEA, BYTEA_ARRAY;
    Uuid => UUID, UUID_ARRAY;
}

/// Whole numbers that go as one array. Most columns of a job are such numbers, so they are written in one go.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Numbers(pub Vec<i64>);

/// Bytes of one number in an array: its length, and itself.
const NUMBER_BYTES: usize = 4 + size_of::<i64>();

impl ToSql for Numbers {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let count = i32::try_from(self.0.len())?;
        out.reserve(5 * size_of::<i32>() + self.0.len() * NUMBER_BYTES);
        // One dimension, none of them empty, the type, how many, the number of the first.
        for part in [1, 0, Type::INT8.oid().cast_signed(), count, 1] {
            out.extend_from_slice(&part.to_be_bytes());
        }
        for number in &self.0 {
            let mut element = [0; NUMBER_BYTES];
            let (length, value) = element.split_at_mut(4);
            length.copy_from_slice(&8_i32.to_be_bytes());
            value.copy_from_slice(&number.to_be_bytes());
            out.extend_from_slice(&element);
        }
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::INT8_ARRAY
    }

    to_sql_checked!();
}

impl Param for Numbers {
    fn kind(&self) -> Type {
        Type::INT8_ARRAY
    }
}

/// An id as PostgreSQL takes it.
pub fn uuid(id: JobId) -> Uuid {
    Uuid::from_bytes(*id.as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_the_array_that_the_driver_writes(numbers in prop::collection::vec(any::<i64>(), 0..40)) {
            let (mut ours, mut drivers) = (BytesMut::new(), BytesMut::new());
            numbers.to_sql(&Type::INT8_ARRAY, &mut drivers).unwrap();
            Numbers(numbers).to_sql(&Type::INT8_ARRAY, &mut ours).unwrap();
            prop_assert_eq!(ours, drivers);
        }
    }
}
