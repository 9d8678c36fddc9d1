package mintlifytest

// step is what a job or a deployment reports at one poll, or how that poll fails.
type step[S any] interface {
	fails() *Fault
	clone() S
}

// scripts are the scripts of what is created next, in order.
type scripts[S step[S]] [][]S

func (all *scripts[S]) add(steps []S) { *all = append(*all, cloneSteps(steps)) }

// next removes the first script and returns it; nil if there is none.
func (all *scripts[S]) next() []S {
	if len(*all) == 0 {
		return nil
	}
	first := (*all)[0]
	*all = (*all)[1:]
	return first
}

// script is what a job or a deployment reports, poll by poll. The last step repeats.
type script[S step[S]] struct {
	steps []S
	next  int
}

// poll returns the step that a poll reports. It reports false if the poll fails: by a fault
// of FailNext, which does not advance the script, or by the step's own.
func (s *script[S]) poll(c *call) (S, bool) {
	var none S
	if c.fault.isFailure() {
		return none, false
	}

	current := s.current()
	s.next = min(s.next+1, len(s.steps))
	fault := current.fails()
	if fault == nil {
		return current, true
	}

	delay := c.fault.Delay
	c.fault = *fault
	c.fault.Delay += delay
	return none, false
}

func (s *script[S]) current() S { return s.steps[min(s.next, len(s.steps)-1)] }

// isOver reports whether only the last step is left.
func (s *script[S]) isOver() bool { return s.next >= len(s.steps)-1 }

// cloneSteps returns steps that share nothing with the test's.
func cloneSteps[S step[S]](steps []S) []S { return sliceOf(steps, S.clone) }
