//go:build cgo

package ojs

// Registry has the worker's handlers with its middleware, for jobs that arrive by another way than the worker's
// fetches. Handlers and middleware cannot change afterwards.
func (w *Worker) Registry() (*Registry, error) {
	plan, err := w.plan()
	if err != nil {
		return nil, err
	}
	if len(plan) == 0 {
		return nil, invalid("the worker has no handlers: register some before their first job")
	}
	registry := &Registry{plan: plan}
	// An empty chain: it has nothing to be wrong about. From now on its changes are refused.
	_, err = registry.chain.freeze()
	return registry, err
}
