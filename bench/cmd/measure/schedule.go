package main

import (
	"context"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/calls"
	"github.com/mintlify-community/mintlify-go/bench/columns"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

const (
	jobs        = 5000
	shortestJob = 20 * time.Second
	medianJob   = 4 * time.Minute
	longestJob  = 45 * time.Minute
	sigma       = 0.8 // of the logarithm: two jobs in three take between 1.8 and 9 minutes
)

// schedule simulates waits for jobs: how often they poll, and how late they notice the
// end. Responses take no time. The SDK itself says when its next poll is.
func schedule(_ string, column columns.Column) error {
	next := func(time.Duration) (time.Duration, error) { return bench.PollInterval, nil }
	if column.Package == "sdk" {
		transport := service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)}
		client, err := mintlify.NewClient(bench.Key, bench.Project, mintlify.WithBaseURL(calls.Nowhere), mintlify.WithHTTPClient(&http.Client{Transport: transport}))
		if err != nil {
			return err
		}
		next = func(waited time.Duration) (time.Duration, error) {
			poll, err := client.Jobs.Poll(context.Background(), "job_1", waited)
			return poll.Next, err
		}
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same jobs for all
	var polls, late float64
	for range jobs {
		length := time.Duration(float64(medianJob) * math.Exp(sigma*random.NormFloat64()))
		gets, lateness, err := wait(min(max(length, shortestJob), longestJob), next)
		if err != nil {
			return err
		}
		polls += float64(gets)
		late += lateness.Seconds()
	}
	longest, _, err := wait(longestJob, next)
	report("polls", column, polls/jobs)
	report("polls of the longest", column, float64(longest))
	report("seconds late", column, late/jobs)
	return err
}

func wait(length time.Duration, next func(waited time.Duration) (time.Duration, error)) (gets int, late time.Duration, err error) {
	var waited time.Duration
	for gets = 1; waited < length; gets++ {
		interval, err := next(waited)
		if err != nil {
			return 0, 0, err
		}
		waited += interval
	}
	return gets, waited - length, nil
}
