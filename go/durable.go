package ojs

// Progress says how far the run has come: a fraction from 0 to 1, and a sentence for people, which may be empty. It
// returns at once; of many reports the latest is sent, a few a second at most. One that is lost does not harm the
// job.
func (c JobContext) Progress(fraction float64, message string) {
	// What JSON has no form for, such as NaN, is no progress.
	_ = c.ProgressData(fraction, message, nil)
}

// ProgressData is Progress with data of the application, at most 4,096 bytes as JSON. The error is about the form of
// what is reported.
func (c JobContext) ProgressData(fraction float64, message string, data any) error {
	report := Obj{"progress": fraction}
	if message != "" {
		report["message"] = message
	}
	if data != nil {
		report["data"] = data
	}
	text, err := encode(report)
	if err != nil || c.native == nil {
		return err
	}
	return c.native.progress(c.token, text)
}

// Checkpoint saves the checkpoint of the job in place of the one before, and returns its sequence: it is on the
// server's disk then, and every later attempt begins with it. It takes anything JSON has a form for, at most 1 MiB.
// When the lease is lost, the error is why the handler should stop, such as [ErrLeaseLost].
func (c JobContext) Checkpoint(state any) (int64, error) {
	return c.save("", state)
}

// LoadCheckpoint reads what this run, or an attempt before it, has saved; false when there is nothing.
func (c JobContext) LoadCheckpoint(into any) (bool, error) {
	text, err := c.saved("")
	if err != nil || text == nil {
		return false, err
	}
	return true, decode(text, into)
}

// HasCheckpoint is whether there is a checkpoint to go on from.
func (c JobContext) HasCheckpoint() bool {
	text, err := c.saved("")
	return err == nil && text != nil
}

// RunStep runs a step once across all attempts of the job, and returns its result, which is saved with the checkpoint:
// later attempts get it and do not run the step. A crash between the end of the step and the server's answer runs it
// again. The error of a step is not saved.
func RunStep[T any](c JobContext, name string, run func() (T, error)) (T, error) {
	var result T
	text, err := c.saved(name)
	if err != nil {
		return result, err
	}
	if text != nil {
		return result, decode(text, &result)
	}
	if result, err = run(); err != nil {
		return result, err
	}
	_, err = c.save(name, result)
	return result, err
}

func (c JobContext) save(step string, value any) (int64, error) {
	text, err := encode(value)
	if err != nil {
		return 0, err
	}
	if c.native == nil {
		return c.state.keep(step, text), nil
	}
	sequence, why, err := c.native.save(c.token, step, text)
	if err != nil {
		return 0, err
	}
	if why != 0 {
		c.state.cancel(why)
		return 0, why
	}
	return sequence, nil
}

func (c JobContext) saved(step string) ([]byte, error) {
	if c.native != nil {
		return c.native.saved(c.token, step)
	}
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	return c.state.kept[step], nil
}

// keep is for runs without a worker: what they save is kept for that run.
func (s *jobState) keep(step string, text []byte) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string][]byte{}
	}
	s.kept[step] = text
	return int64(len(s.kept))
}
