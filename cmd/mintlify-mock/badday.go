package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// decode reads a body, named what, such as the example, which has all the fields that there are.
func decode(body io.Reader, into any, what, example string) error {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()

	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("the body is not %s, such as %s, which has all the fields that there are: %w",
			what, example, err)
	}
	return nil
}

// fault is the body of POST /_mock/fail.
type fault struct {
	Operation mintlify.Operation `json:"operation"`
	Times     int                `json:"times"`
	Status    int                `json:"status"`
	Acted     bool               `json:"acted"`
	Drop      bool               `json:"drop"`
	Delay     string             `json:"delay"`
}

// fail queues the fault of a body. It returns what FailNext panics at as an error.
func fail(fake *mintlifytest.Service, body io.Reader) (err error) {
	f := fault{Times: 1, Delay: "0s"}
	err = decode(body, &f, "a fault",
		`{"operation":"create job","times":2,"status":503,"acted":true,"drop":false,"delay":"2s"}`)
	if err != nil {
		return err
	}

	delay, err := time.ParseDuration(f.Delay)
	switch {
	case err != nil:
		return fmt.Errorf("delay: %w", err)
	case f.Status != 0 && (f.Status < 200 || f.Status > 599): // net/http panics at most others
		return fmt.Errorf("status is %d, want 200 to 599", f.Status)
	}

	defer func() {
		if reason := recover(); reason != nil {
			err = errors.New(strings.TrimPrefix(fmt.Sprint(reason), "mintlifytest: "))
		}
	}()
	fake.FailNext(f.Operation, f.Times,
		mintlifytest.Fault{Status: f.Status, Acted: f.Acted, Drop: f.Drop, Delay: delay})
	return nil
}

// maxScripts is for how many jobs or deployments one request says how they end.
const maxScripts = 1000

// scriptJobs says how the next jobs end: each is active at its first poll, and has the status of the body
// from the second on.
func scriptJobs(fake *mintlifytest.Service, body io.Reader) error {
	end := struct {
		Times  int                `json:"times"`
		Status mintlify.JobStatus `json:"status"`
		PRLink string             `json:"prLink"`
	}{Times: 1}

	err := decode(body, &end, "the end of a job",
		`{"times":2,"status":"completed","prLink":"https://github.com/example/docs/pull/9"}`)
	if err != nil {
		return err
	}

	known := []mintlify.JobStatus{
		mintlify.JobFailed, mintlify.JobCompleted, mintlify.JobArchived, mintlify.JobActive,
	}
	if err := checkScript(end.Times, end.Status, known); err != nil {
		return err
	}

	for range end.Times {
		fake.ScriptJob(mintlifytest.JobStep{}, mintlifytest.JobStep{Status: end.Status, PRLink: end.PRLink})
	}
	return nil
}

// scriptDeployments says how the next deployments end: each is in progress at its first poll, and is as the
// body says from the second on.
func scriptDeployments(fake *mintlifytest.Service, body io.Reader) error {
	end := struct {
		Times   int                       `json:"times"`
		Status  mintlify.DeploymentStatus `json:"status"`
		Summary string                    `json:"summary"`
		Logs    []string                  `json:"logs"`
	}{Times: 1}

	err := decode(body, &end, "the end of a deployment",
		`{"times":2,"status":"failure","summary":"1 link is broken","logs":["Checking links","/a: no such page"]}`)
	if err != nil {
		return err
	}

	known := []mintlify.DeploymentStatus{
		mintlify.DeploymentFailed, mintlify.DeploymentSucceeded, mintlify.DeploymentSkipped,
		mintlify.DeploymentInProgress, mintlify.DeploymentQueued,
	}
	if err := checkScript(end.Times, end.Status, known); err != nil {
		return err
	}

	for range end.Times {
		fake.ScriptDeployment(mintlifytest.DeploymentStep{},
			mintlifytest.DeploymentStep{Status: end.Status, Summary: end.Summary, Logs: end.Logs})
	}
	return nil
}

func checkScript[S ~string](times int, status S, known []S) error {
	switch {
	case times < 1 || times > maxScripts:
		return fmt.Errorf("times is %d, want 1 to %d", times, maxScripts)
	case !slices.Contains(known, status):
		return fmt.Errorf("status is %q, want one of %q", status, known)
	}
	return nil
}
