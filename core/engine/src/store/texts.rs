//! SQL texts that are built from declarations, each once.
use std::hash::Hash;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use foldhash::HashMap;

/// Texts by what they are built from. There are as many as there are uses in the program, so they are never freed. A
/// reader takes no lock: a process may fork while another of its threads builds a text.
pub(crate) struct Texts<K>(ArcSwapOption<HashMap<K, &'static str>>);

impl<K: Clone + Eq + Hash> Texts<K> {
    /// An empty collection.
    pub(crate) const fn new() -> Self {
        Self(ArcSwapOption::const_empty())
    }

    /// The text of `key`, built when it is asked for the first time. It is the same memory each time, so a connection
    /// prepares it once.
    pub(crate) fn get(&self, key: K, build: impl FnOnce() -> String) -> &'static str {
        if let Some(text) = self.known(&key) {
            return text;
        }
        let built: &'static str = build().leak();
        let mut kept = built;
        self.0.rcu(|texts| {
            let mut texts = texts.as_deref().cloned().unwrap_or_default();
            // Another thread may have added the text meanwhile: that one is kept.
            kept = texts.entry(key.clone()).or_insert(built);
            Some(Arc::new(texts))
        });
        kept
    }

    fn known(&self, key: &K) -> Option<&'static str> {
        self.0.load().as_ref()?.get(key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_get_the_same_text() {
        static TEXTS: Texts<usize> = Texts::new();
        let asked = || (0..100).map(|n| TEXTS.get(n, || format!("text {n}")).as_ptr() as usize).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(asked)).collect();
        let first = asked();
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), first));
        assert_eq!(TEXTS.get(7, String::new), "text 7");
    }
}
