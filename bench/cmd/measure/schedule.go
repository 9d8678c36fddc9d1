package main

import (
	"context"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/callcost"
	"github.com/mintlify-community/mintlify-go/bench/clients"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

const (
	jobs        = 5000
	shortestJob = 20 * time.Second
	medianJob   = 4 * time.Minute
	longestJob  = 45 * time.Minute
	sigma       = 0.8 // of the logarithm: two jobs in three take between 1.8 and 9 minutes
)

type interval func(waited time.Duration) (time.Duration, error)

// schedule simulates waits for jobs: how often they poll, and how late they notice the
// end. Responses take no time.
func schedule(_ string, column clients.Column) error {
	next, err := intervalOf(column)
	if err != nil {
		return err
	}

	random := rand.New(rand.NewPCG(1, 2)) // the same jobs for all
	var polls int
	var late time.Duration
	for range jobs {
		length := time.Duration(float64(medianJob) * math.Exp(sigma*random.NormFloat64()))
		wait, err := simulate(min(max(length, shortestJob), longestJob), next)
		if err != nil {
			return err
		}
		polls += wait.polls
		late += wait.late
	}
	longest, err := simulate(longestJob, next)
	if err != nil {
		return err
	}

	report("polls", column, float64(polls)/jobs)
	report("polls of the longest", column, float64(longest.polls))
	report("seconds late", column, late.Seconds()/jobs)
	return nil
}

// intervalOf returns the interval of a client. The SDK itself says when its next poll is.
func intervalOf(column clients.Column) (interval, error) {
	if column.Package != "sdk" {
		return func(time.Duration) (time.Duration, error) { return bench.PollInterval, nil }, nil
	}

	transport := service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)}
	client, err := mintlify.NewClient(bench.Key, bench.Project,
		mintlify.WithBaseURL(callcost.Nowhere), mintlify.WithHTTPClient(&http.Client{Transport: transport}))
	if err != nil {
		return nil, err
	}
	next := func(waited time.Duration) (time.Duration, error) {
		poll, err := client.Jobs.Poll(context.Background(), "job_1", waited)
		return poll.Next, err
	}
	return next, nil
}

type simulatedWait struct {
	polls int
	late  time.Duration // from the end of the job to the last poll
}

func simulate(length time.Duration, next interval) (simulatedWait, error) {
	polls := 1
	var waited time.Duration
	for waited < length {
		pause, err := next(waited)
		if err != nil {
			return simulatedWait{}, err
		}
		waited += pause
		polls++
	}
	return simulatedWait{polls: polls, late: waited - length}, nil
}
