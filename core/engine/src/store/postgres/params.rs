//! Values that go to PostgreSQL, each with its type: statements need no look-up of types and work unprepared.
use ojs_model::JobId;
use tokio_postgres::types::{ToSql, Type};
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

/// An id as PostgreSQL takes it.
pub fn uuid(id: JobId) -> Uuid {
    Uuid::from_bytes(*id.as_bytes())
}
