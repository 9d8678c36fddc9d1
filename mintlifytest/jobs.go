package mintlifytest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// repository is that of every job.
const repository = "https://github.com/example/docs"

// JobStep is what a job reports at one poll.
type JobStep struct {
	// Status is the status that the job reports. If it is "", the job reports active.
	Status mintlify.JobStatus
	// PRLink is the URL of the pull request that the job reports. If it is "", the
	// response has null.
	PRLink string
	// Fault makes the poll fail. Status and PRLink are then not reported.
	Fault *Fault
}

func (s JobStep) fails() *Fault { return s.Fault }

func (s JobStep) clone() JobStep {
	s.Fault = clonePointer(s.Fault, Fault.clone)
	return s
}

// ScriptJob sets what a job reports, poll by poll: the first call is for the job created
// next, the second call for the job after it, and so on. The last step repeats. A job
// without a script is active at its first poll, and at its second completed with a pull
// request.
//
// A message sets a job back to active. Later polls continue with the steps that are left;
// if only the last one is left, they report active once before it.
func (s *Service) ScriptJob(steps ...JobStep) {
	defer s.lock()()
	s.jobs.scripts.add(steps)
}

// SetJobTime has each job without a script that is created from now on work for d, however often it is polled:
// after its creation, and again after each message. It is for a fake that programs use in real time; 0 brings
// back the job of two polls.
func (s *Service) SetJobTime(d time.Duration) {
	defer s.lock()()
	s.jobs.workTime = d
}

// AddJob adds a job with this script to the project [ProjectID], as if it had just been
// created. It replaces a job with the same id. It panics if id is "".
func (s *Service) AddJob(id string, steps ...JobStep) {
	mustHaveID("AddJob", id)
	defer s.lock()()
	s.jobs.made++
	s.jobs.add(jobKey{ProjectID, id}, cloneSteps(steps))
}

// mustHaveID panics if no request could ask for the id.
func mustHaveID(method, id string) {
	if id == "" {
		panic("mintlifytest: " + method + " without an id")
	}
}

// Jobs returns all jobs, also those of [Service.AddJob], in the order of their creation. A
// job is here once the service has made it, whatever it responded.
func (s *Service) Jobs() []mintlify.Job {
	defer s.lock()()
	inOrder := slices.SortedFunc(maps.Values(s.jobs.byKey), func(a, b *job) int {
		return cmp.Compare(a.number, b.number)
	})
	return sliceOf(inOrder, func(j *job) mintlify.Job { return j.Job })
}

func (s *Service) createJob(c *call) (any, *failure) {
	if failed := s.checkPrompt(c); failed != nil {
		return nil, failed
	}
	return s.jobs.create(c.project).result(), nil
}

func (s *Service) getJob(c *call) (any, *failure) {
	j, failed := s.jobs.find(c)
	if failed != nil {
		return nil, failed
	}

	if step, ok := j.script.poll(c); ok && !time.Now().Before(j.worksUntil) {
		j.report(step)
	}
	return j.result(), nil
}

func (s *Service) sendMessage(c *call) (any, *failure) {
	j, failed := s.jobs.find(c)
	if failed != nil {
		return nil, failed
	}
	if failed := s.checkPrompt(c); failed != nil {
		return nil, failed
	}

	if s.refusesLateMessage && j.hasEnded() {
		return nil, &failure{status: http.StatusBadRequest, Error: "The job must be active"}
	}

	j.message()
	return j.result(), nil
}

// RefuseMessagesToEndedJobs has the service respond 400 to a message to a job that has ended, as
// one text about the service says it does; others say that it takes the message.
func (s *Service) RefuseMessagesToEndedJobs() {
	defer s.lock()()
	s.refusesLateMessage = true
}

func (s *Service) checkPrompt(c *call) *failure {
	if c.prompt == "" {
		return &failure{status: http.StatusBadRequest, Error: "prompt is required and must be at least 1 character"}
	}
	return s.count(agentQuota(c.project))
}

type jobs struct {
	byKey    map[jobKey]*job
	made     int              // so far: the number of the latest
	scripts  scripts[JobStep] // of those created next
	workTime time.Duration    // that those without a script work; 0: two polls
}

type jobKey struct{ project, id string }

func (all *jobs) find(c *call) (*job, *failure) {
	j := all.byKey[jobKey{c.project, c.id}]
	if j == nil {
		return nil, &failure{status: http.StatusNotFound, Error: "Job not found"}
	}
	return j, nil
}

func (all *jobs) create(project string) *job {
	return all.add(all.newKey(project), all.scripts.next())
}

func (all *jobs) newKey(project string) jobKey {
	for {
		all.made++
		key := jobKey{project: project, id: fmt.Sprintf("job_%d", all.made)}
		if all.byKey[key] == nil {
			return key
		}
	}
}

func (all *jobs) add(key jobKey, steps []JobStep) *job {
	j := &job{number: all.made, script: script[JobStep]{steps: steps}}
	j.Job = mintlify.Job{
		ID:        key.id,
		Status:    mintlify.JobActive,
		Source:    mintlify.JobSource{Repository: repository, Ref: "main"},
		Model:     "test-model",
		CreatedAt: now(),
	}
	if len(steps) == 0 {
		pullRequest := fmt.Sprintf("%s/pull/%d", repository, all.made)
		j.script.steps = []JobStep{{}, {Status: mintlify.JobCompleted, PRLink: pullRequest}}
		j.work(all.workTime)
	}
	all.byKey[key] = j
	return j
}

type job struct {
	mintlify.Job
	number int // in the order of creation
	script script[JobStep]

	workTime   time.Duration // that it works; 0: as the script says
	worksUntil time.Time     // until then it reports no step
}

// work has the job work for d by the clock; if d is 0, by its script alone.
func (j *job) work(d time.Duration) {
	if d == 0 {
		return
	}
	j.workTime = d
	j.worksUntil = time.Now().Add(d)
	j.script.next = len(j.script.steps) - 1
}

// hasEnded reports whether a poll has reported the end, or would report it by the clock.
func (j *job) hasEnded() bool {
	worksByClock := j.workTime > 0
	return j.Status.IsTerminal() || worksByClock && !time.Now().Before(j.worksUntil)
}

func (j *job) report(step JobStep) {
	j.Status = cmp.Or(step.Status, mintlify.JobActive)
	j.PRLink = step.PRLink
	if j.Status == mintlify.JobArchived && j.ArchivedAt.IsZero() {
		j.ArchivedAt = now()
	}
}

// message sets the job back to active. If its script is over, it ends again as before.
func (j *job) message() {
	if j.script.isOver() {
		j.script = script[JobStep]{steps: []JobStep{{}, j.script.current()}}
	}
	j.Status = mintlify.JobActive
	j.PRLink = ""
	j.ArchivedAt = time.Time{}
	j.work(j.workTime)
}

// result returns the job as the service reports it.
func (j *job) result() any { return asSent(j.Job, "prLink", "archivedAt") }
