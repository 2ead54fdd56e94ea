//! The answer to an enqueue of many jobs.
use ojs_model::OjsError;
use ojs_model::json::{push_bare, push_member, push_text};

use crate::kernel::placed::Placed;
use crate::kernel::{owner, render};

/// Status and body of the answer to an enqueue of many.
#[must_use]
pub fn enqueue_answer(results: &[Result<Placed, OjsError>], atomic: bool) -> (u16, String) {
    let failed = results.iter().filter(|result| result.is_err()).count();
    let mut out = String::with_capacity(512 * results.len());
    out.push('{');
    push_bare(&mut out, "total", results.len());
    push_bare(&mut out, "succeeded", results.len() - failed);
    push_bare(&mut out, "failed", failed);
    push_member(&mut out, "items", "");
    render::list(&mut out, results.iter().enumerate(), |out, (index, result)| item(out, index, result));
    out.push('}');
    (status(results.len(), failed, if atomic { 201 } else { 200 }), out)
}

fn item(out: &mut String, index: usize, result: &Result<Placed, OjsError>) {
    out.push('{');
    push_bare(out, "index", index);
    match result {
        Ok(placed) => {
            push_text(out, "status", if placed.deduplicated { "duplicate" } else { "created" });
            push_member(out, "job", "");
            owner::placed(out, placed);
            if !placed.warnings.is_empty() {
                push_member(out, "warnings", &serde_json::json!(placed.warnings).to_string());
            }
        }
        Err(error) => {
            push_text(out, "status", "failed");
            push_member(out, "error", &error.to_object().to_string());
        }
    }
    out.push('}');
}

/// 207 when only some succeeded, 422 when none did.
#[must_use]
pub fn status(total: usize, failed: usize, success: u16) -> u16 {
    match failed {
        0 => success,
        _ if failed == total => 422,
        _ => 207,
    }
}
