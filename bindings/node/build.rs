//! What the linker needs to know about a Node.js addon.
fn main() {
    napi_build::setup();
}
