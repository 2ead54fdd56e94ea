//! The records of the fakes of all languages, and the search for the jobs that a test expects.
use crate::error::AbiError;

/// The jobs that a request enqueues, as a JSON array, in the form in which they go over the wire: see
/// [`ojs::testing::recorded`]. `[]` for other requests.
#[must_use]
pub fn recorded(method: &str, path: &str, body: &[u8]) -> String {
    format!("[{}]", ojs::testing::recorded(method, path, body).join(","))
}

/// Where in a JSON array of recorded jobs those stand that are `wanted`: see [`ojs::testing::matching`].
///
/// # Errors
/// An option that does not exist, or text of another form.
pub fn matching(jobs: &str, wanted: &str) -> Result<Vec<u32>, AbiError> {
    let found = ojs::testing::matching(jobs, wanted)?;
    Ok(found.into_iter().filter_map(|at| u32::try_from(at).ok()).collect())
}
