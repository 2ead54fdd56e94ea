//! A database per test.
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Error, sql};

/// An empty database; dropped with this, connections and all.
#[derive(Debug)]
pub struct Database {
    server: String,
    name: String,
    url: String,
}

impl Database {
    /// On the server behind the URL of one of its databases. About 30 ms.
    ///
    /// # Errors
    /// The server does not answer, or its user may not create databases.
    pub fn create(server: &str) -> Result<Self, Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // Several processes may share the server, and process ids come again.
        let second = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |age| age.as_secs());
        let name = format!("ojs_{second}_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        // template0 has no connections, so copies can be made at the same time.
        sql::run(server, &format!("CREATE DATABASE {name} TEMPLATE template0"))?;
        Ok(Self { url: with_name(server, &name), server: server.to_owned(), name })
    }

    /// The URL of the database, as its owner.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Leaves it to the server, and returns its URL.
    #[must_use]
    pub fn keep(self) -> String {
        let mut kept = std::mem::ManuallyDrop::new(self);
        std::mem::take(&mut kept.url)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The server may have been stopped on purpose; its databases go with it.
        let _ = sql::run(&self.server, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

/// The URL with another database: what stands between the authority and the parameters.
fn with_name(url: &str, name: &str) -> String {
    let (address, parameters) = url.split_once('?').map_or((url, None), |(address, parameters)| (address, Some(parameters)));
    let scheme = address.find("://").map_or(0, |at| at + 3);
    let (_, rest) = address.split_at(scheme);
    let authority = rest.find('/').map_or(address.len(), |at| scheme + at);
    let (authority, _) = address.split_at(authority);
    parameters.map_or_else(|| format!("{authority}/{name}"), |parameters| format!("{authority}/{name}?{parameters}"))
}

#[cfg(test)]
mod tests {
    use super::with_name;

    #[test]
    fn the_name_in_a_url() {
        for (url, expected) in [
            ("postgres://u@h:1/postgres", "postgres://u@h:1/x"),
            ("postgres://u@h:1", "postgres://u@h:1/x"),
            ("postgres://h/a?sslmode=disable", "postgres://h/x?sslmode=disable"),
            ("postgres://h?host=/tmp", "postgres://h/x?host=/tmp"),
        ] {
            assert_eq!(with_name(url, "x"), expected);
        }
    }
}
