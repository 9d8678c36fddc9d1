package mintlifytest

// step is what a thing reports at one poll, or how that poll fails.
type step interface{ fails() *Fault }

// script is what a thing reports, poll by poll. The last step stays.
type script[S step] struct {
	steps []S
	next  int
}

// poll returns the step that a poll is to report. It returns none if the poll fails:
// by a fault of FailNext's, which leaves the script where it is, or by the step's own.
func (s *script[S]) poll(c *call) (reported S, ok bool) {
	if c.fault.isFailure() {
		return reported, false
	}
	current := s.current()
	s.next = min(s.next+1, len(s.steps))
	if fault := current.fails(); fault != nil {
		delay := c.fault.Delay
		c.fault = *fault
		c.fault.Delay += delay
		return reported, false
	}
	return current, true
}

// current returns the step of the next poll.
func (s *script[S]) current() S { return s.steps[min(s.next, len(s.steps)-1)] }

// isOver reports whether no step but the last is left.
func (s *script[S]) isOver() bool { return s.next >= len(s.steps)-1 }
