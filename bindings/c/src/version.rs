//! Which library this is.
use std::ffi::c_char;

use ojs_abi::error::AbiError;

use crate::error::{enter, ojs_error};

/// The interface: `major << 16 | minor`. A new minor adds, a new major changes.
pub const OJS_ABI: u32 = 1 << 16;

/// OJS_ABI of the library that runs, to compare with the one compiled against.
#[unsafe(no_mangle)]
pub extern "C" fn ojs_abi_version() -> u32 {
    OJS_ABI
}

/// An error when the library that runs cannot serve a program compiled against this header: `ojs_abi_check(OJS_ABI)`.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_abi_check(compiled: u32) -> Option<Box<ojs_error>> {
    enter("ojs_abi_check", || {
        if compiled >> 16 == OJS_ABI >> 16 && compiled <= OJS_ABI {
            return Ok(());
        }
        let (major, minor) = (compiled >> 16, compiled & 0xffff);
        let (ours, our_minor) = (OJS_ABI >> 16, OJS_ABI & 0xffff);
        Err(AbiError::invalid(format!(
            "the program was compiled for version {major}.{minor} of the interface, the library has {ours}.{our_minor}: install them together"
        )))
    })
}

/// The version of the package, as text.
#[unsafe(no_mangle)]
pub extern "C" fn ojs_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
