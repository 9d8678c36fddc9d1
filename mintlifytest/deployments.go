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

// DeploymentStep is what a deployment reports at one poll.
type DeploymentStep struct {
	// Status is the status that the deployment reports. If it is "", the deployment
	// reports in_progress.
	Status mintlify.DeploymentStatus
	// Summary is the summary that the deployment reports. If it is "", the response has none.
	Summary string
	// Logs are all log lines so far.
	Logs []string
	// Fault makes the poll fail. The other fields are then not reported.
	Fault *Fault
}

func (s DeploymentStep) fails() *Fault { return s.Fault }

func (s DeploymentStep) clone() DeploymentStep {
	s.Logs = slices.Clone(s.Logs)
	s.Fault = clonePointer(s.Fault, Fault.clone)
	return s
}

// ScriptDeployment sets what a deployment reports, poll by poll: the first call is for the
// deployment triggered next, the second call for the deployment after it, and so on. The
// last step repeats. A deployment without a script is in progress at its first poll and has
// succeeded at its second.
func (s *Service) ScriptDeployment(steps ...DeploymentStep) {
	defer s.lock()()
	s.deployments.scripts.add(steps)
}

// AddDeployment adds a deployment with this script to the project [ProjectID], as if it had
// just been triggered. It replaces a deployment with the same id. It panics if id is "".
func (s *Service) AddDeployment(id string, steps ...DeploymentStep) {
	mustHaveID("AddDeployment", id)
	defer s.lock()()
	s.deployments.made++
	s.deployments.add(id, ProjectID, "main", cloneSteps(steps))
}

// Deployments returns all deployments, also those of [Service.AddDeployment], in the order of
// their creation. A deployment is here once the service has queued it, whatever it responded.
func (s *Service) Deployments() []mintlify.Deployment {
	defer s.lock()()
	inOrder := slices.SortedFunc(maps.Values(s.deployments.byID), func(a, b *deployment) int {
		return cmp.Compare(a.number, b.number)
	})
	return sliceOf(inOrder, (*deployment).clone)
}

func (s *Service) triggerUpdate(c *call) (any, *failure) {
	if failed := s.count(triggerQuota()); failed != nil {
		return nil, failed
	}

	d := s.deployments.create(c.project, "main")
	return &mintlify.QueuedDeployment{ID: d.ID}, nil
}

func (s *Service) triggerPreview(c *call) (any, *failure) {
	branch := c.field("branch")
	if branch == "" {
		return nil, &failure{
			status: http.StatusBadRequest,
			Error:  "branch is required and must be at least 1 character",
		}
	}
	if failed := s.count(previewQuota()); failed != nil {
		return nil, failed
	}

	d := s.deployments.create(c.project, branch)
	preview := s.deployments.preview(c.project, branch)
	result := &mintlify.QueuedDeployment{
		ID:         d.ID,
		PreviewURL: fmt.Sprintf("https://%s-preview-%d.example.com", c.project, preview),
	}
	return result, nil
}

func (s *Service) getDeployment(c *call) (any, *failure) {
	d := s.deployments.byID[c.id]
	if d == nil {
		return nil, &failure{status: http.StatusNotFound, Error: "Deployment not found"}
	}

	if step, ok := d.script.poll(c); ok {
		d.report(step)
	}
	return asSent(d.Deployment), nil
}

type deployments struct {
	byID     map[string]*deployment
	made     int                     // so far: the number of the latest
	scripts  scripts[DeploymentStep] // of those triggered next
	previews []string                // a project and a branch each: a branch keeps its preview
}

func (all *deployments) create(project, branch string) *deployment {
	return all.add(all.newID(), project, branch, all.scripts.next())
}

func (all *deployments) newID() string {
	for {
		all.made++
		id := fmt.Sprintf("deployment_%d", all.made)
		if all.byID[id] == nil {
			return id
		}
	}
}

func (all *deployments) add(id, project, branch string, steps []DeploymentStep) *deployment {
	if len(steps) == 0 {
		steps = []DeploymentStep{
			{Logs: []string{"Building"}},
			{Status: mintlify.DeploymentSucceeded, Summary: "Deployed", Logs: []string{"Building", "Deployed"}},
		}
	}

	d := &deployment{number: all.made, script: script[DeploymentStep]{steps: steps}}

	d.Deployment = mintlify.Deployment{
		ID:        id,
		ProjectID: project,
		Status:    mintlify.DeploymentQueued,
		Subdomain: project,
		Source:    "api",
		CreatedAt: now(),
		Author:    mintlify.DeploymentAuthor{Name: "Example Author"},
	}
	d.Commit = mintlify.DeploymentCommit{
		SHA:     fmt.Sprintf("%040x", all.made),
		Ref:     branch,
		Message: "Change the introduction",
		FilesChanged: mintlify.DeploymentFiles{
			Added:    []string{},
			Modified: []string{"introduction.mdx"},
			Removed:  []string{},
		},
	}

	all.byID[id] = d
	return d
}

// preview returns the number of a branch's preview, the same each time.
func (all *deployments) preview(project, branch string) int {
	key := project + "/" + branch
	if i := slices.Index(all.previews, key); i >= 0 {
		return i + 1
	}

	all.previews = append(all.previews, key)
	return len(all.previews)
}

// deployment is a deployment of the service. It marshals as the service reports it.
type deployment struct {
	mintlify.Deployment
	number int // in the order of creation
	script script[DeploymentStep]
}

// clone returns the deployment as a client reads it.
func (d *deployment) clone() mintlify.Deployment {
	clone := d.Deployment
	clone.Logs = slices.Clone(clone.Logs)
	clone.Commit.FilesChanged.Modified = slices.Clone(clone.Commit.FilesChanged.Modified)
	return clone
}

func (d *deployment) report(step DeploymentStep) {
	d.Status = cmp.Or(step.Status, mintlify.DeploymentInProgress)
	d.Summary = step.Summary
	d.Logs = step.Logs

	d.EndedAt = time.Time{}
	if d.Status.IsTerminal() {
		d.EndedAt = now()
	}
}
