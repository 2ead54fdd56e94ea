//! Memory in both directions.
use std::mem::MaybeUninit;
use std::ptr;

use bytes::Bytes;
use ojs_abi::error::AbiError;

/// Bytes that are lent: their owner frees them. `ptr` may be NULL when `len` is 0.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ojs_slice {
    /// The first byte.
    pub ptr: *const u8,
    /// How many.
    pub len: usize,
}

impl ojs_slice {
    /// What Rust owns, for C to look at.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { ptr: bytes.as_ptr(), len: bytes.len() }
    }

    /// No bytes.
    pub(crate) const EMPTY: Self = Self { ptr: ptr::null(), len: 0 };

    /// The bytes, for the time of the call.
    ///
    /// # Errors
    /// A NULL pointer with a length.
    pub(crate) fn bytes(&self, name: &str) -> Result<&[u8], AbiError> {
        if self.len == 0 {
            return Ok(&[]);
        }
        if self.ptr.is_null() {
            return Err(AbiError::invalid(format!("{name} is NULL, but its length is {}", self.len)));
        }
        // SAFETY: rule 2 of the header: it points at `len` bytes that live until the call returns.
        Ok(unsafe { std::slice::from_raw_parts(self.ptr, self.len) })
    }

    /// The bytes as text.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes), or not UTF-8.
    pub(crate) fn text(&self, name: &str) -> Result<&str, AbiError> {
        std::str::from_utf8(self.bytes(name)?).map_err(|e| AbiError::invalid(format!("{name} is not UTF-8: {e}")))
    }

    /// The same as a string of ours; `None` when it is empty.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub(crate) fn string(&self, name: &str) -> Result<Option<String>, AbiError> {
        Ok(Some(self.text(name)?).filter(|text| !text.is_empty()).map(str::to_owned))
    }

    /// The bytes as ours; `None` when there are none.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub(crate) fn owned(&self, name: &str) -> Result<Option<Bytes>, AbiError> {
        Ok(Some(self.bytes(name)?).filter(|bytes| !bytes.is_empty()).map(Bytes::copy_from_slice))
    }
}

/// An array of slices: `count` of them at `first`.
///
/// # Errors
/// NULL with a count, or one that is wrong.
pub(crate) fn strings(first: *const ojs_slice, count: usize, name: &str) -> Result<Vec<String>, AbiError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if first.is_null() {
        return Err(AbiError::invalid(format!("{name} is NULL, but there shall be {count} of them")));
    }
    // SAFETY: rule 2 of the header: an array of `count` slices that lives until the call returns.
    let slices = unsafe { std::slice::from_raw_parts(first, count) };
    slices.iter().map(|slice| slice.text(name).map(str::to_owned)).collect()
}

/// Writes a value out; NULL throws it away.
pub(crate) fn put<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: rule 1 of the header: it points at room for one value. What is there is not read or dropped.
        unsafe { out.write(value) }
    }
}

/// Hands an object to C, which frees it; NULL throws it away.
pub(crate) fn put_new<T>(out: *mut *mut T, object: T) {
    if !out.is_null() {
        put(out, Box::into_raw(Box::new(object)));
    }
}

/// Writes the value with this index into a list, which has room for it.
pub(crate) fn put_at<T>(list: *mut T, at: usize, value: T) {
    // SAFETY: as above; a list that is handed in has room for as many as the caller was told, and `at` is below that.
    put(unsafe { list.add(at) }, value);
}

/// A structure of options that a program fills in. It begins with its size.
///
/// # Safety
/// The structure is `repr(C)`. `BOOLS` has the place and the name of each `bool` in it, because only the bytes 0 and 1 are values of
/// that type; every other member takes any pattern of bytes, as numbers, pointers and slices do.
pub(crate) unsafe trait Options: Copy {
    /// Place and name of each `bool`.
    const BOOLS: &'static [(usize, &'static str)];
}

/// Takes a structure of options of any version: of a shorter, older one what it has, over the defaults.
///
/// # Errors
/// Its size cannot be (`_init` was not called), or a `bool` in it is neither 0 nor 1.
pub(crate) fn options<T: Options>(given: *const T, defaults: T, name: &str) -> Result<T, AbiError> {
    if given.is_null() {
        return Ok(defaults);
    }
    // SAFETY: every version of the structure begins with its size, a u32.
    let size = unsafe { given.cast::<u32>().read() };
    let size = usize::try_from(size).unwrap_or(0);
    if size < size_of::<u32>() || size > 4096 {
        return Err(AbiError::invalid(format!("{name}.size is {size}: call {name}_init() first")));
    }
    let mut taken = MaybeUninit::new(defaults);
    let bytes = taken.as_mut_ptr().cast::<u8>();
    // SAFETY: the caller's structure has `size` bytes, ours has room for as many as are copied.
    unsafe { ptr::copy_nonoverlapping(given.cast::<u8>(), bytes, size.min(size_of::<T>())) };
    for (at, member) in T::BOOLS {
        // SAFETY: a byte of the structure, which the defaults or the copy have written.
        let byte = unsafe { bytes.add(*at).read() };
        if byte > 1 {
            return Err(AbiError::invalid(format!("{name}.{member} is {byte}: a bool is 0 or 1; call {name}_init() first")));
        }
    }
    // SAFETY: each bool is 0 or 1, and the other members take any bytes: `Options` demands it.
    Ok(unsafe { taken.assume_init() })
}

/// Bytes that came out of the library. Free with ojs_buf_free().
pub struct ojs_buf(pub(crate) Bytes);

impl ojs_buf {
    /// Bytes of ours.
    pub(crate) fn new(bytes: impl Into<Bytes>) -> Self {
        Self(bytes.into())
    }

    /// A value as JSON.
    pub(crate) fn json(value: &impl serde::Serialize) -> Result<Self, AbiError> {
        Ok(Self::new(serde_json::to_vec(value).map_err(|error| AbiError::System(error.to_string()))?))
    }

    /// Bytes whose owner has looked whether there is anywhere to put them.
    pub(crate) fn leaked(bytes: impl Into<Bytes>) -> *mut Self {
        Box::into_raw(Box::new(Self::new(bytes)))
    }
}

/// The bytes; none of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_buf_slice(buf: Option<&ojs_buf>) -> ojs_slice {
    buf.map_or(ojs_slice::EMPTY, |buf| ojs_slice::of(&buf.0))
}

/// Frees a buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_buf_free(buf: Option<Box<ojs_buf>>) {
    drop(buf);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::ojs_server_options;

    #[test]
    fn a_bool_of_a_program_that_is_neither_0_nor_1_is_refused() {
        for (byte, accepted) in [(0_u8, Some(false)), (1, Some(true)), (2, None), (255, None)] {
            let mut given = MaybeUninit::new(ojs_server_options::default());
            let at = std::mem::offset_of!(ojs_server_options, test_mode);
            // SAFETY: a byte of the structure.
            unsafe { given.as_mut_ptr().cast::<u8>().add(at).write(byte) };
            match options(given.as_ptr(), ojs_server_options::default(), "ojs_server_options") {
                Ok(taken) => assert_eq!(Some(taken.test_mode), accepted),
                Err(error) => assert!(accepted.is_none() && format!("{error}").contains("ojs_server_options.test_mode is")),
            }
        }
    }

    #[test]
    fn an_older_shorter_structure_keeps_the_defaults_of_what_it_lacks() {
        let mut given = ojs_server_options { test_mode: true, insecure: false, ..ojs_server_options::default() };
        given.size = u32::try_from(std::mem::offset_of!(ojs_server_options, insecure)).unwrap();
        let taken = options(&raw const given, ojs_server_options::default(), "ojs_server_options").unwrap();
        assert!(taken.test_mode && taken.insecure);
    }
}
