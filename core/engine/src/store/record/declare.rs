//! The macro that declares a record.

/// Declares a record: its struct, its table and how one becomes the other. See [`crate::store::record`].
macro_rules! record {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident in $table:literal {
            $keyword:ident ($($key:literal),+);
            $(fixed ($($fixed:literal),+);)?
            $(remember $remember:ident;)?
            $(unique $unique:ident = $unique_name:literal ($($unique_column:literal),+);)*
            $(index $index:ident = $index_name:literal ($($index_column:literal),+) $($positive:ident)?;)*
            $(
                $(#[$field_meta:meta])*
                pub $field:ident: $type:ty $(as $column:literal $(via $codec:ident)?)? $(= $default:literal)?
            ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $( $(#[$field_meta])* pub $field: $type, )+
        }

        impl $name {
            /// The order of the key.
            pub const KEY: $crate::store::record::Index = $crate::store::record::Index {
                name: "",
                columns: &[$($key),+],
                unique: true,
                positive: false,
            };
            /// Columns that stay as they were inserted.
            const FIXED: &'static [&'static str] = &[$($($fixed),+)?];
            $(
                /// A unique index.
                pub const $unique: $crate::store::record::Index = $crate::store::record::Index {
                    name: $unique_name,
                    columns: &[$($unique_column),+],
                    unique: true,
                    positive: false,
                };
            )*
            $(
                /// An index.
                pub const $index: $crate::store::record::Index = $crate::store::record::Index {
                    name: $index_name,
                    columns: &[$($index_column),+],
                    unique: false,
                    positive: $crate::store::record::declare::given!($($positive)?),
                };
            )*
        }

        impl $crate::store::record::Record for $name {
            const TABLE: &'static $crate::store::record::Table = &$crate::store::record::Table {
                name: $table,
                columns: &[$({
                    const NAME: &str = $crate::store::record::declare::column_name!($field $(, $column)?);
                    type Own = $crate::store::record::declare::codec!($($($codec)?)?);
                    $crate::store::record::Column {
                        name: NAME,
                        kind: <Own as $crate::store::record::Codec<$type>>::KIND,
                        optional: <Own as $crate::store::record::Codec<$type>>::OPTIONAL,
                        default: $crate::store::record::declare::default_text!($($default)?),
                        is_key: $crate::store::record::is_listed(Self::KEY.columns, NAME),
                        is_fixed: $crate::store::record::is_listed(Self::FIXED, NAME),
                    }
                }),+],
                key: Self::KEY,
                numbered: $crate::store::record::is_listed(&["numbered", "gathered"], stringify!($keyword)),
                gathered: $crate::store::record::is_listed(&["gathered"], stringify!($keyword)),
                indexes: &[$(Self::$unique,)* $(Self::$index),*],
                remember: $crate::store::record::declare::remember!($($remember)?),
            };

            fn each<E>(
                &self,
                take: &mut impl FnMut($crate::store::record::Cell<'_>) -> std::result::Result<(), E>,
            ) -> std::result::Result<(), E> {
                $({
                    type Own = $crate::store::record::declare::codec!($($($codec)?)?);
                    take(<Own as $crate::store::record::Codec<$type>>::cell(&self.$field))?;
                })+
                Ok(())
            }

            fn cells(&self) -> Vec<$crate::store::record::Cell<'_>> {
                vec![$(
                    <$crate::store::record::declare::codec!($($($codec)?)?) as $crate::store::record::Codec<$type>>::cell(&self.$field)
                ),+]
            }

            fn read<C: $crate::store::record::Cells + ?Sized>(
                row: &mut $crate::store::record::Reader<'_, C>,
            ) -> $crate::error::Result<Self> {
                Ok(Self {
                    $($field: row.take::<$type, $crate::store::record::declare::codec!($($($codec)?)?)>()?),+
                })
            }
        }
    };
}

macro_rules! given {
    () => {
        false
    };
    (positive) => {
        true
    };
}

macro_rules! column_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident, $column:literal) => {
        $column
    };
}

macro_rules! codec {
    () => {
        $crate::store::record::Plain
    };
    ($codec:ident) => {
        $codec
    };
}

macro_rules! default_text {
    () => {
        None
    };
    ($default:literal) => {
        Some(stringify!($default))
    };
}

macro_rules! remember {
    () => {
        $crate::store::record::Remember::Nothing
    };
    ($remember:ident) => {
        $crate::store::record::Remember::$remember
    };
}

pub(crate) use {codec, column_name, default_text, given, record, remember};
