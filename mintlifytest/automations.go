package mintlifytest

import (
	"fmt"
	"net/http"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// AddAutomation adds an automation on a custom schedule, in every project: Trigger responds
// 404 to any other id. Its runs are among [Service.Requests], Acted. It panics if id is "".
func (s *Service) AddAutomation(id string) {
	mustHaveID("AddAutomation", id)
	defer s.lock()()
	s.automations[id] = true
}

func (s *Service) triggerAutomation(c *call) (any, *failure) {
	if !s.automations[c.id] {
		return nil, &failure{status: http.StatusNotFound, Error: "Automation not found"}
	}
	if failed := s.count(triggerQuota()); failed != nil {
		return nil, failed
	}

	s.runs++
	run := mintlify.AutomationRun{
		SchemaID:   c.id,
		InstanceID: fmt.Sprintf("run_%d", s.runs),
		JobID:      fmt.Sprintf("automation_job_%d", s.runs),
	}
	return run, nil
}
