//! The key that enqueued a job, and the part of the job that other keys may see.
use ojs_model::json::{member, object, push_member, push_text, string};

use crate::kernel::job::JobView;
use crate::kernel::placed::Placed;
use crate::kernel::render;

/// Whether the text of a job names another key as the one that enqueued it. A job that names no key belongs to every
/// key: older versions did not write the name.
pub fn is_foreign(key: Option<&str>, body: &str) -> bool {
    let whole = object(body);
    let owner = member(&whole, ojs_model::envelope::ENQUEUED_BY).and_then(string);
    owner.is_some_and(|owner| key != Some(&*owner))
}

/// Appends the members that every key may see that knows the id.
pub fn outline(out: &mut String, view: &JobView) {
    let whole = object(&view.body.text);
    out.push('{');
    push_text(out, "id", &view.row.id.to_string());
    push_member(out, "type", member(&whole, "type").unwrap_or("null"));
    push_text(out, "queue", &view.queue);
    push_text(out, "state", view.row.state.as_str());
    out.push('}');
}

/// Appends a job as its enqueue is answered.
pub fn placed(out: &mut String, placed: &Placed) {
    if placed.foreign { outline(out, &placed.job) } else { render::job(out, &placed.job) }
}
