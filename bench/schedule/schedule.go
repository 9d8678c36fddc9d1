// Package schedule simulates how often a wait polls, and how late it notices the
// end of a job, under the SDK's schedule and under others.
package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Longest is the longest job there is.
const Longest = 45 * time.Minute

const (
	shortest = 20 * time.Second
	median   = 4 * time.Minute
	sigma    = 0.8 // of the logarithm: two jobs in three take between 1.8 and 9 minutes
)

// Jobs draws the lengths of n jobs: lognormal, clipped at both ends.
func Jobs(n int, random *rand.Rand) []time.Duration {
	lengths := make([]time.Duration, n)
	for i := range lengths {
		length := time.Duration(float64(median) * math.Exp(sigma*random.NormFloat64()))
		lengths[i] = min(max(length, shortest), Longest)
	}
	return lengths
}

// Schedule says how long it is until the next poll. The first comes at once.
type Schedule struct {
	Name string
	Next func(waited, last time.Duration, random *rand.Rand) time.Duration // last is 0 at first
}

// SDK is the schedule that WaitUntilDone documents, written anew: a test holds it
// to the real one.
var SDK = Schedule{"SDK", func(waited, _ time.Duration, random *rand.Rand) time.Duration {
	interval := min(max(waited/20, 5*time.Second), time.Minute)
	return time.Duration(float64(interval) * (0.9 + 0.2*random.Float64()))
}}

// All is what is compared, the SDK's first.
var All = []Schedule{
	SDK,
	fixed("every 2 s", 2*time.Second),
	fixed("every 5 s", 5*time.Second),
	fixed("every 10 s", 10*time.Second),
	fixed("every 30 s", 30*time.Second),
	growing("1 s, doubling to 30 s", time.Second, 2, 30*time.Second),
	growing("1 s, doubling to 60 s", time.Second, 2, time.Minute),
	growing("1 s, doubling without end", time.Second, 2, time.Hour),
	growing("2 s, half as much again, to 60 s", 2*time.Second, 1.5, time.Minute),
	growing("5 s, a tenth more, to 60 s", 5*time.Second, 1.1, time.Minute),
}

func fixed(name string, interval time.Duration) Schedule {
	return Schedule{name, func(_, _ time.Duration, _ *rand.Rand) time.Duration { return interval }}
}

func growing(name string, first time.Duration, factor float64, most time.Duration) Schedule {
	return Schedule{name, func(_, last time.Duration, _ *rand.Rand) time.Duration {
		if last == 0 {
			return first
		}
		return min(time.Duration(float64(last)*factor), most)
	}}
}

// Result is what a schedule comes to over many jobs.
type Result struct {
	Name         string
	GETs         float64       // a job, on average
	LongestGETs  float64       // for the longest job, on average
	Lateness     time.Duration // on average
	LateShare95  float64       // 95th percentile of lateness as a share of the job's length
	OnParetoEdge bool          // no other schedule is as good in GETs and LateShare95, and better in one
}

// Simulate waits for each job under s.
func Simulate(s Schedule, jobs []time.Duration, random *rand.Rand) Result {
	var polls, late float64
	shares := make([]float64, 0, len(jobs))
	for _, length := range jobs {
		gets, lateness := wait(s, length, random)
		polls += float64(gets)
		late += float64(lateness)
		shares = append(shares, float64(lateness)/float64(length))
	}
	slices.Sort(shares)
	const longest = 1000
	var longestPolls float64
	for range longest {
		gets, _ := wait(s, Longest, random)
		longestPolls += float64(gets)
	}
	n := float64(len(jobs))
	return Result{
		Name:        s.Name,
		GETs:        polls / n,
		LongestGETs: longestPolls / longest,
		Lateness:    time.Duration(late / n),
		LateShare95: shares[len(shares)*95/100],
	}
}

func wait(s Schedule, length time.Duration, random *rand.Rand) (gets int, lateness time.Duration) {
	var waited, last time.Duration
	for gets = 1; waited < length; gets++ {
		last = s.Next(waited, last, random)
		waited += last
	}
	return gets, waited - length
}

// Compare simulates all schedules over the same jobs.
func Compare(jobs []time.Duration, random *rand.Rand) []Result {
	var results []Result
	for _, s := range All {
		results = append(results, Simulate(s, jobs, random))
	}
	for i := range results {
		results[i].OnParetoEdge = !slices.ContainsFunc(results, results[i].isBeatenBy)
	}
	return results
}

func (r Result) isBeatenBy(other Result) bool {
	return other.GETs <= r.GETs && other.LateShare95 <= r.LateShare95 && (other.GETs < r.GETs || other.LateShare95 < r.LateShare95)
}
