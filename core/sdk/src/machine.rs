//! The machine that this program runs on.
use ojs_model::lazy::Lazy;

/// Its name, where it can be read without a system call of its own.
static NAME: Lazy<Option<String>> = Lazy::new(|| {
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let told = told.or_else(|| std::env::var("HOSTNAME").or_else(|_| std::env::var("COMPUTERNAME")).ok());
    told.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
});

/// Its name, where it can be read.
pub fn name() -> Option<&'static str> {
    NAME.as_deref()
}
