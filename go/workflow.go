//go:build cgo

package ojs

import "encoding/json"

// Step is a part of a workflow: a JobRequest, or a Workflow inside another.
type Step interface {
	json.Marshaler
	step()
}

func (JobRequest) step() {}
func (Workflow) step()   {}

// Workflow describes what belongs together; Client.CreateWorkflow sends it.
type Workflow struct {
	kind      string
	name      string
	steps     []Step
	callbacks Callbacks
	options   map[string]any
}

// Callbacks are the jobs that a batch ends in; nil for none.
type Callbacks struct {
	// OnComplete runs in any case.
	OnComplete Step
	// OnSuccess runs when all jobs succeeded.
	OnSuccess Step
	// OnFailure runs when any job failed.
	OnFailure Step
}

// Chain runs one step after the other; every step sees the results of those before it in Job.ParentResults.
func Chain(steps ...Step) Workflow { return Workflow{kind: "chain", steps: steps} }

// Group runs all jobs at the same time, in no order.
func Group(jobs ...Step) Workflow { return Workflow{kind: "group", steps: jobs} }

// Batch runs all jobs at the same time, then the callbacks that apply.
func Batch(jobs []Step, callbacks Callbacks) Workflow {
	return Workflow{kind: "batch", steps: jobs, callbacks: callbacks}
}

// Graph runs every node as soon as those before it are done.
func Graph(nodes ...Node) Workflow {
	workflow := Workflow{kind: "graph"}
	for _, node := range nodes {
		workflow.steps = append(workflow.steps, node)
	}
	return workflow
}

// Node is a step of a graph.
type Node struct {
	// ID is its name in the graph.
	ID string
	// Job is what runs: a JobRequest, or a Workflow inside the graph.
	Job Step
	// After are the nodes that must have completed before it begins.
	After []string
}

func (Node) step() {}

// MarshalJSON writes the node as the wire has it.
func (n Node) MarshalJSON() ([]byte, error) {
	if job, ok := n.Job.(JobRequest); ok {
		job.ID = n.ID
		return job.encode(n.After)
	}
	workflow, ok := n.Job.(Workflow)
	if !ok {
		return nil, invalid("a node of a graph has a JobRequest or a Workflow")
	}
	wire, err := workflow.wire()
	if err != nil {
		return nil, err
	}
	wire["id"] = n.ID
	if len(n.After) > 0 {
		wire["depends_on"] = n.After
	}
	return encode(wire)
}

// Named is the same workflow with a name.
func (w Workflow) Named(name string) Workflow {
	w.name = name
	return w
}

// With is the same workflow with options for the whole, by their names on the wire.
func (w Workflow) With(options map[string]any) Workflow {
	w.options = options
	return w
}

// MarshalJSON writes the description as the wire has it.
func (w Workflow) MarshalJSON() ([]byte, error) {
	wire, err := w.wire()
	if err != nil {
		return nil, err
	}
	return encode(wire)
}

// wire has the members of the description.
func (w Workflow) wire() (map[string]any, error) {
	if len(w.steps) == 0 {
		return nil, invalid("a workflow needs at least one job")
	}
	wire := map[string]any{}
	switch w.kind {
	case "chain", "graph":
		wire["type"], wire["steps"] = w.kind, w.steps
	default:
		wire["type"], wire["jobs"] = w.kind, w.steps
	}
	if w.name != "" {
		wire["name"] = w.name
	}
	callbacks := map[string]Step{}
	for name, step := range map[string]Step{"on_complete": w.callbacks.OnComplete, "on_success": w.callbacks.OnSuccess, "on_failure": w.callbacks.OnFailure} {
		if step != nil {
			callbacks[name] = step
		}
	}
	if len(callbacks) > 0 {
		wire["callbacks"] = callbacks
	}
	if len(w.options) > 0 {
		wire["options"] = w.options
	}
	return wire, nil
}
