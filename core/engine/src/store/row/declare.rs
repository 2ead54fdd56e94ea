//! The macro that declares a row.

/// Declares a row: its struct, its columns and how one becomes the other. See [`crate::store::row`].
macro_rules! row {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident in $table:literal {
            $($section:ident {$(
                $(#[$field_meta:meta])*
                pub $field:ident: $type:ty $(as $column:literal $(from $from:ident to $to:ident)?)?
            ),+ $(,)?})+
        } $(and {$(
            $(#[$derived_meta:meta])*
            pub $derived:ident: $derived_type:ty = $read:ident($source:ident)
        ),+ $(,)?})?
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($( $(#[$field_meta])* pub $field: $type, )+)+
            $($( $(#[$derived_meta])* pub $derived: $derived_type, )+)?
        }

        impl $crate::store::row::Row for $name {
            const TABLE: &'static $crate::store::record::Table = &$crate::store::record::Table {
                name: $table,
                columns: &[$($($crate::store::record::Column {
                    name: $crate::store::record::declare::column_name!($field $(, $column)?),
                    kind: <$crate::store::record::Plain as $crate::store::record::Codec<$type>>::KIND,
                    optional: <$crate::store::record::Plain as $crate::store::record::Codec<$type>>::OPTIONAL,
                    default: None,
                    is_key: matches!($crate::store::row::declare::section!($section), $crate::store::row::Section::Key),
                    is_fixed: false,
                }),+),+],
                key: $crate::store::record::Index { name: "", columns: &[], unique: true, positive: false },
                numbered: false,
                gathered: false,
                indexes: &[],
                remember: $crate::store::record::Remember::Nothing,
            };
            const SECTIONS: &'static [$crate::store::row::Section] = &[$($({
                const _: &str = stringify!($field);
                $crate::store::row::declare::section!($section)
            }),+),+];

            #[inline]
            fn each<E>(
                &self,
                wanted: impl Fn($crate::store::row::Section) -> bool,
                mut take: impl FnMut($crate::store::record::Cell<'_>) -> std::result::Result<(), E>,
            ) -> std::result::Result<(), E> {
                $(if wanted($crate::store::row::declare::section!($section)) {
                    $(take(<$crate::store::record::Plain as $crate::store::record::Codec<$type>>::cell(
                        &$crate::store::row::declare::value!(self, $field $($(, $from)?)?),
                    ))?;)+
                })+
                Ok(())
            }

            #[inline]
            fn differs(&self, before: &Self, section: $crate::store::row::Section) -> bool {
                $(if section == $crate::store::row::declare::section!($section)
                    && ($($crate::store::row::declare::value!(self, $field $($(, $from)?)?)
                        != $crate::store::row::declare::value!(before, $field $($(, $from)?)?))||+)
                {
                    return true;
                })+
                false
            }

            #[inline]
            fn read<C: $crate::store::record::Cells + ?Sized>(
                row: &mut $crate::store::record::Reader<'_, C>,
            ) -> $crate::error::Result<Self> {
                $($(let $field = row.take::<$type, $crate::store::record::Plain>()?;)+)+
                Ok(Self {
                    $($($derived: $read($source),)+)?
                    $($($field: $crate::store::row::declare::read!($field $($(, $to)?)?),)+)+
                })
            }
        }
    };
}

macro_rules! section {
    (key) => {
        $crate::store::row::Section::Key
    };
    (fixed) => {
        $crate::store::row::Section::Fixed
    };
    (moved) => {
        $crate::store::row::Section::Moved
    };
    (changing) => {
        $crate::store::row::Section::Changing
    };
    (ending) => {
        $crate::store::row::Section::Ending
    };
    (later) => {
        $crate::store::row::Section::Later
    };
}

macro_rules! value {
    ($row:ident, $field:ident) => {
        $row.$field
    };
    ($row:ident, $field:ident, $from:ident) => {
        $row.$from()
    };
}

macro_rules! read {
    ($field:ident) => {
        $field
    };
    ($field:ident, $to:ident) => {
        $to($field)
    };
}

pub(crate) use {read, row, section, value};
