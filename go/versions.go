//go:build cgo

package ojs

import (
	"encoding/json"
	"fmt"
)

// versions is what a worker says about the versions of one job type. Which jobs the worker takes and which changes
// are made is decided by the engine.
type versions struct {
	version string
	ranges  []string
	changes []change
}

// change turns arguments of one version into those of another.
type change struct {
	from, to string
	run      func(Args) (Args, error)
}

// said is what the engine reads.
func (v *versions) said() map[string]any {
	said := map[string]any{}
	if v.version != "" {
		said["version"] = v.version
	}
	if v.ranges != nil {
		said["versions"] = v.ranges
	}
	transforms := [][2]string{}
	for _, change := range v.changes {
		transforms = append(transforms, [2]string{change.from, change.to})
	}
	said["transforms"] = transforms
	return said
}

// around is the call of the type, with the arguments changed before it runs.
func (v *versions) around(call HandlerFunc) (HandlerFunc, error) {
	if v == nil || len(v.changes) == 0 {
		return call, nil
	}
	said, err := encode(v.said())
	if err != nil {
		return nil, err
	}
	return func(ctx JobContext) error {
		if err := v.apply(ctx.Job, said); err != nil {
			return err
		}
		return call(ctx)
	}, nil
}

func (v *versions) apply(job *Job, said []byte) error {
	numbers, err := nativeVersionChanges(job.Type, said, job.Raw)
	if err != nil {
		return err
	}
	var path []int
	if err := json.Unmarshal(numbers, &path); err != nil {
		return err
	}
	for _, number := range path {
		change := v.changes[number]
		args, err := change.run(job.Args)
		if err == nil {
			// Numbers and structures are as in a job that comes from a server.
			var data []byte
			if data, err = encode(args); err == nil {
				job.Args = nil
				err = decode(data, &job.Args)
			}
		}
		if err != nil {
			message := fmt.Sprintf("The arguments cannot become those of version %s: %v", change.to, err)
			return &JobError{Code: "version_transform", Message: message, NonRetryable: true}
		}
	}
	return nil
}

// Versions names the ranges of versions that the handler of a job type runs, such as ">=2.0 <4.0", in place of those
// that follow from [WithVersion] among the defaults of [Worker.Register].
func (w *Worker) Versions(jobType string, ranges ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versionsOf(jobType).ranges = append([]string{}, ranges...)
}

// Transform registers how arguments of version from become those of version to:
//
//	worker.Register("user.welcome", welcome, ojs.WithVersion("2.0"))
//	worker.Transform("user.welcome", "1.0", "2.0", func(args ojs.Args) (ojs.Args, error) {
//		return ojs.Args{ojs.Obj{"name": args[0]}}, nil
//	})
//
// Changes are made one after the other, before the middleware and the handler see the job, as long as there is one
// for the version that the arguments have then. One that fails ends the job with the code version_transform. A job
// that no change brings to a version of its handler fails with the code unsupported_version, or goes back to its
// queue ([WithUnknownTypes]). Changes that contradict each other are an error of Start.
func (w *Worker) Transform(jobType, from, to string, run func(args Args) (Args, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.wrong != nil:
	case w.run != nil:
		w.wrong = invalid("register transforms before the worker starts")
	case run == nil:
		w.wrong = invalid("the transform of '%s' from %s to %s is nil", jobType, from, to)
	default:
		of := w.versionsOf(jobType)
		of.changes = append(of.changes, change{from, to, run})
	}
}

// versionsOf is what is said about a type; the caller holds the lock.
func (w *Worker) versionsOf(jobType string) *versions {
	if w.versions[jobType] == nil {
		w.versions[jobType] = &versions{}
	}
	return w.versions[jobType]
}

// saidVersions is what is said about all types, as JSON for the engine; nil when nothing is. The caller holds the lock.
func (w *Worker) saidVersions() ([]byte, error) {
	said := map[string]any{}
	for jobType, of := range w.versions {
		said[jobType] = of.said()
	}
	if len(said) == 0 {
		return nil, nil
	}
	return encode(said)
}
