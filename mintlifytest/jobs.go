package mintlifytest

import (
	"fmt"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Of every job.
const (
	repository = "https://github.com/example/docs"
	ref        = "main"
	model      = "test-model"
)

// Step is what a job reports at one poll.
type Step struct {
	Status mintlify.JobStatus // "" is active
	PRLink string             // completed without one is a job that changed no file
	Fault  *Fault             // this poll fails so, and Status and PRLink are not reported
}

// ScriptJob sets what the next created job that has no script yet reports, poll
// by poll; the last step stays. A job without a script is active at its first
// poll and then completed with a pull request.
//
// A message sets the job back to active. Polls then go on with the steps that
// are left; where no more than the last is, they report active once before it.
func (s *Service) ScriptJob(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts = append(s.scripts, slices.Clone(steps))
}

// AddJob adds a job to the project [ProjectID], or replaces the one of that id,
// as if it had been created with that script.
func (s *Service) AddJob(id string, steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool { return j.id == id && j.project == ProjectID })
	s.addJob(id, ProjectID, slices.Clone(steps))
}

// Jobs returns the jobs as they stand, in the order of their making, those of
// [Service.AddJob] included: what the service has acted on, whatever it responded.
func (s *Service) Jobs() []mintlify.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs := make([]mintlify.Job, len(s.jobs))
	for i, j := range s.jobs {
		jobs[i] = mintlify.Job{ID: j.id, Status: j.status, PRLink: j.prLink, Model: model, CreatedAt: j.created, ArchivedAt: j.archived,
			Source: mintlify.JobSource{Repository: repository, Ref: ref}}
	}
	return jobs
}

// job is a job of the service. Times are kept to the millisecond, as they are reported.
type job struct {
	id, project       string
	status            mintlify.JobStatus
	prLink            string
	created, archived time.Time
	steps             []Step
	next              int // step reported at the next poll
}

func (s *Service) addJob(id, project string, steps []Step) *job {
	if len(steps) == 0 {
		pullRequest := fmt.Sprintf("%s/pull/%d", repository, len(s.jobs)+1)
		steps = []Step{{Status: mintlify.JobActive}, {Status: mintlify.JobCompleted, PRLink: pullRequest}}
	}
	j := &job{id: id, project: project, status: mintlify.JobActive, created: now(), steps: steps}
	s.jobs = append(s.jobs, j)
	return j
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// step returns what the next poll reports.
func (j *job) step() Step { return j.steps[min(j.next, len(j.steps)-1)] }

// poll reports the next step.
func (j *job) poll() {
	step := j.step()
	j.next = min(j.next+1, len(j.steps))
	if step.Fault != nil {
		return
	}
	j.status, j.prLink = step.Status, step.PRLink
	if j.status == "" {
		j.status = mintlify.JobActive
	}
	if j.status == mintlify.JobArchived && j.archived.IsZero() {
		j.archived = now()
	}
}

func (j *job) message() {
	if j.next >= len(j.steps)-1 {
		j.steps, j.next = []Step{{Status: mintlify.JobActive}, j.step()}, 0
	}
	j.status, j.prLink, j.archived = mintlify.JobActive, "", time.Time{}
}

func (s *Service) freeID(to route) string {
	for n := len(s.jobs) + 1; ; n++ {
		to.jobID = fmt.Sprintf("job_%d", n)
		if s.find(to) == nil {
			return to.jobID
		}
	}
}

func (s *Service) find(to route) *job {
	for _, j := range s.jobs {
		if j.id == to.jobID && j.project == to.project {
			return j
		}
	}
	return nil
}

// json is the job as the service reports it: null, not left out, where there is nothing.
func (j *job) json() map[string]any {
	fields := map[string]any{
		"id": j.id, "status": j.status, "model": model, "prLink": nil,
		"source":    map[string]any{"repository": repository, "ref": ref},
		"createdAt": timestamp(j.created), "archivedAt": nil,
	}
	if j.prLink != "" {
		fields["prLink"] = j.prLink
	}
	if !j.archived.IsZero() {
		fields["archivedAt"] = timestamp(j.archived)
	}
	return fields
}

func timestamp(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z") }
