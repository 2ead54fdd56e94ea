//! The jobs that belong to a job: the outermost workflow that it is part of, as a tree.
use ojs_model::json::{member, members, object, string};
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::features::workflows::records::{StepRow, WorkflowRow};
use crate::kernel::job::JobView;
use crate::store::tables::Tables;

/// Most nodes of a tree. Larger workflows are cut off, and the answer says so.
const MAX_NODES: usize = 1000;
/// Most workflows inside each other.
const MAX_DEPTH: usize = 32;

/// Where a job comes from, and what belongs to it.
#[derive(Debug)]
pub struct Lineage(Value);

impl Lineage {
    /// As JSON text.
    pub(super) fn text(&self) -> String {
        self.0.to_string()
    }
}

/// The lineage of a job that the caller may see.
pub(super) fn of(tables: &mut dyn Tables, view: &JobView) -> Result<Lineage> {
    let envelope = object(&view.body.text);
    let named = |wanted: &str| member(&envelope, wanted).and_then(string);
    let mut chain = Vec::new();
    let mut above = if view.row.workflow == 0 { None } else { tables.workflow_by_num(view.row.workflow)? };
    while let Some(flow) = above.filter(|_| chain.len() < MAX_DEPTH) {
        above = if flow.parent == 0 { None } else { tables.workflow_by_num(flow.parent)? };
        chain.push(flow);
    }
    let mut left = MAX_NODES;
    let tree = match chain.last() {
        Some(root) => workflow(tables, root, 0, &mut left)?,
        None => {
            let (id, state) = (view.row.id.to_string(), view.row.state.as_str());
            json!({"kind": "job", "id": id, "type": named("type"), "state": state, "children": []})
        }
    };
    let flow = chain.first().map(|flow| flow.id.to_string());
    let root = chain.last().map(|flow| flow.id.to_string());
    Ok(Lineage(json!({
        "job_id": view.row.id.to_string(),
        "parent_id": named("parent_id"),
        "workflow_id": flow,
        "root_id": root.or_else(|| named("root_id").map(Into::into)),
        "tree": tree,
        "truncated": left == 0,
    })))
}

fn workflow(tables: &mut dyn Tables, flow: &WorkflowRow, depth: usize, left: &mut usize) -> Result<Value> {
    let mut children = Vec::new();
    for step in tables.steps(flow.num, -3)? {
        if *left == 0 {
            break;
        }
        *left -= 1;
        let inner = if step.child == 0 || depth == MAX_DEPTH { None } else { tables.workflow_by_num(step.child)? };
        children.push(match inner {
            Some(inner) => {
                let mut node = workflow(tables, &inner, depth + 1, left)?;
                place(node.as_object_mut(), &step);
                node
            }
            None => job(&step),
        });
    }
    let (id, state) = (flow.id.to_string(), flow.state.as_str());
    Ok(json!({"kind": "workflow", "id": id, "name": flow.name, "state": state, "children": children}))
}

/// A step that is a job; its id is null until it has one.
fn job(step: &StepRow) -> Value {
    let request = members(&step.request).unwrap_or_default();
    let job_type = request.iter().find(|(name, _)| name == "type").and_then(|(_, raw)| string(raw));
    let id = step.job.map(|id| id.to_string());
    let mut node = json!({"kind": "job", "id": id, "type": job_type, "state": step.state.as_str(), "children": []});
    place(node.as_object_mut(), step);
    node
}

fn place(node: Option<&mut Map<String, Value>>, step: &StepRow) {
    if let Some(node) = node {
        node.insert("step".to_owned(), json!(step.index));
        node.insert("step_name".to_owned(), json!(step.name));
    }
}
