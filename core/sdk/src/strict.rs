//! Finds in a value what JSON has no form for, before it is written: `serde_json` writes null for NaN, and turns the
//! numbers of map keys into text.
use std::fmt;

use serde::ser::{
    Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// What is wrong with a value, and the way to it, which grows on the way out.
#[derive(Debug)]
pub(crate) struct Unfit {
    path: String,
    problem: String,
}

impl Unfit {
    fn new(problem: impl Into<String>) -> Self {
        Self { path: String::new(), problem: problem.into() }
    }

    fn within(mut self, step: &str) -> Self {
        self.path.insert_str(0, step);
        self
    }

    /// The place among the arguments of a job: a value that is no list is the only one of them.
    pub(crate) fn among_args(self) -> Self {
        let step = if self.path.starts_with('[') { "args" } else { "args[0]" };
        self.within(step)
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.trim_start_matches('.') {
            "" => f.write_str(&self.problem),
            path => write!(f, "{path}: {}", self.problem),
        }
    }
}

impl std::error::Error for Unfit {}

impl serde::ser::Error for Unfit {
    fn custom<T: fmt::Display>(problem: T) -> Self {
        Self::new(problem.to_string())
    }
}

/// Looks through a value without writing it.
pub(crate) fn check<T: Serialize + ?Sized>(value: &T) -> Result<(), Unfit> {
    value.serialize(Look)
}

struct Look;

/// Where a list, or an object, has been looked through to.
struct Items {
    variant: &'static str,
    index: usize,
}

struct Members {
    variant: &'static str,
    key: String,
}

impl Items {
    fn of(variant: &'static str) -> Self {
        Self { variant, index: 0 }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        let index = self.index;
        self.index += 1;
        value.serialize(Look).map_err(|unfit| in_variant(unfit.within(&format!("[{index}]")), self.variant))
    }
}

impl Members {
    fn of(variant: &'static str) -> Self {
        Self { variant, key: String::new() }
    }

    fn member<T: Serialize + ?Sized>(&self, name: &str, value: &T) -> Result<(), Unfit> {
        value.serialize(Look).map_err(|unfit| in_variant(unfit.within(&format!(".{name}")), self.variant))
    }
}

fn in_variant(unfit: Unfit, variant: &str) -> Unfit {
    if variant.is_empty() { unfit } else { unfit.within(&format!(".{variant}")) }
}

fn finite(value: f64) -> Result<(), Unfit> {
    if value.is_finite() { Ok(()) } else { Err(Unfit::new(format!("JSON has no form for {value}: pass None, or text"))) }
}

/// Methods of a serializer for which any value is as good as another.
macro_rules! any {
    ($($method:ident: $kind:ty),*) => {
        $(fn $method(self, _: $kind) -> Result<(), Unfit> { Ok(()) })*
    };
}

impl Serializer for Look {
    type Ok = ();
    type Error = Unfit;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = Members;

    any!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_char: char,
        serialize_str: &str, serialize_bytes: &[u8], serialize_unit_struct: &'static str
    );

    fn serialize_f32(self, value: f32) -> Result<(), Unfit> {
        finite(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Unfit> {
        finite(value)
    }

    fn serialize_none(self) -> Result<(), Unfit> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unfit> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unfit> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Unfit> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Unfit> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Unfit> {
        value.serialize(self).map_err(|unfit| in_variant(unfit, variant))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items, Unfit> {
        Ok(Items::of(""))
    }

    fn serialize_tuple(self, _: usize) -> Result<Items, Unfit> {
        Ok(Items::of(""))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items, Unfit> {
        Ok(Items::of(""))
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Items, Unfit> {
        Ok(Items::of(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members, Unfit> {
        Ok(Members::of(""))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members, Unfit> {
        Ok(Members::of(""))
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Members, Unfit> {
        Ok(Members::of(variant))
    }
}

macro_rules! items {
    ($($part:ident: $method:ident),*) => {
        $(impl $part for Items {
            type Ok = ();
            type Error = Unfit;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
                self.item(value)
            }

            fn end(self) -> Result<(), Unfit> {
                Ok(())
            }
        })*
    };
}

items!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
);

macro_rules! members {
    ($($part:ident),*) => {
        $(impl $part for Members {
            type Ok = ();
            type Error = Unfit;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unfit> {
                self.member(name, value)
            }

            fn end(self) -> Result<(), Unfit> {
                Ok(())
            }
        })*
    };
}

members!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Members {
    type Ok = ();
    type Error = Unfit;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unfit> {
        self.key = key.serialize(Key)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        self.member(&self.key, value)
    }

    fn end(self) -> Result<(), Unfit> {
        Ok(())
    }
}

/// Reads the key of a map, which must be text.
struct Key;

type NoKey = Impossible<String, Unfit>;

fn no_text<T>(shown: impl fmt::Display) -> Result<T, Unfit> {
    Err(Unfit::new(format!("a map with the key {shown}, which JSON would turn into text: pass a map whose keys are text")))
}

macro_rules! refused {
    ($($method:ident: $kind:ty),*) => {
        $(fn $method(self, value: $kind) -> Result<String, Unfit> { no_text(value) })*
    };
}

impl Serializer for Key {
    type Ok = String;
    type Error = Unfit;
    type SerializeSeq = NoKey;
    type SerializeTuple = NoKey;
    type SerializeTupleStruct = NoKey;
    type SerializeTupleVariant = NoKey;
    type SerializeMap = NoKey;
    type SerializeStruct = NoKey;
    type SerializeStructVariant = NoKey;

    refused!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_f32: f32,
        serialize_f64: f64
    );

    fn serialize_char(self, value: char) -> Result<String, Unfit> {
        Ok(value.to_string())
    }

    fn serialize_str(self, value: &str) -> Result<String, Unfit> {
        Ok(value.to_owned())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<String, Unfit> {
        no_text("of bytes")
    }

    fn serialize_none(self) -> Result<String, Unfit> {
        no_text("None")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<String, Unfit> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<String, Unfit> {
        no_text("()")
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<String, Unfit> {
        no_text(name)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<String, Unfit> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<String, Unfit> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, Unfit> {
        no_text(name)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<NoKey, Unfit> {
        no_text("that is a list")
    }

    fn serialize_tuple(self, _: usize) -> Result<NoKey, Unfit> {
        no_text("that is a tuple")
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<NoKey, Unfit> {
        no_text(name)
    }

    fn serialize_tuple_variant(self, name: &'static str, _: u32, _: &'static str, _: usize) -> Result<NoKey, Unfit> {
        no_text(name)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<NoKey, Unfit> {
        no_text("that is a map")
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<NoKey, Unfit> {
        no_text(name)
    }

    fn serialize_struct_variant(self, name: &'static str, _: u32, _: &'static str, _: usize) -> Result<NoKey, Unfit> {
        no_text(name)
    }
}
