package outage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

const (
	threads  = 20 // jobs
	messages = 100
)

// message is a prompt for a job that there is already.
type message struct {
	prompt string
	job    string
}

// chat is where results are told. It is down while the service is: each call then fails, but every
// tenth result is told although its call fails.
type chat struct {
	way *gateway

	mu sync.Mutex
	// failed is the number of calls that have failed.
	failed int
	// told counts how often the result of each prompt was told.
	told map[string]int
	// missed has the prompts whose result was to be told, and was not yet.
	missed map[string]bool
	// latest is when the last of those was told.
	latest time.Time
}

var errDown = errors.New("the chat is down")

func (c *chat) tell(prompt string) error {
	time.Sleep(latency)
	c.mu.Lock()
	defer c.mu.Unlock()

	if !c.way.isDown() {
		c.take(prompt)
		return nil
	}

	c.failed++
	if c.failed%actedEvery == 0 {
		c.take(prompt)
	} else if c.told[prompt] == 0 {
		c.missed[prompt] = true
	}
	return errDown
}

// take notes that a result is told. The lock is held.
func (c *chat) take(prompt string) {
	c.told[prompt]++
	if c.missed[prompt] {
		delete(c.missed, prompt)
		c.latest = time.Now()
	}
}

type threadsCost struct {
	// unknown is how many messages a person has to look for.
	unknown int
	// twice is how many messages were sent more than once.
	twice int
	// disordered is how many messages were first sent after a later one of their job.
	disordered int
	// untold is how many messages have an end that nobody was told.
	untold int
	// toldTwice is how many messages have an end that was told more than once.
	toldTwice int
	// late is from the end of the outage until the last result was told that the chat had not taken.
	late time.Duration
}

// measureThreads has a program send messages through an outage, and tell how each ended.
func measureThreads(ctx context.Context, send messenger, readsWork bool) (threadsCost, error) {
	service := mintlifytest.NewService()
	service.EnforceQuotas()
	for i := range threads {
		service.AddJob(fmt.Sprint("job-", i), mintlifytest.JobStep{Status: mintlify.JobCompleted})
	}

	var all []message
	for i := range messages {
		job := fmt.Sprint("job-", i%threads)
		all = append(all, message{prompt: fmt.Sprint("Message ", i), job: job})
	}

	way := &gateway{service: service, created: time.Now(), readsWork: readsWork, length: length}
	c := &chat{way: way, told: map[string]int{}, missed: map[string]bool{}}
	unknown, err := send(ctx, way, c, all)
	if err != nil {
		return threadsCost{}, err
	}

	cost := threadsCost{unknown: unknown}
	cost.countSent(service, all)
	cost.countTold(c, all)
	return cost, nil
}

// countSent compares the messages that the service acted on with the queue.
func (cost *threadsCost) countSent(service *mintlifytest.Service, queue []message) {
	place := map[string]int{} // in the queue
	for i, m := range queue {
		place[m.prompt] = i
	}

	sends := map[string]int{}
	last := map[string]int{} // of each job, the place of the last message
	for _, request := range service.Requests() {
		if request.Operation != mintlify.OpSendMessage || !request.Acted {
			continue
		}

		i := place[request.Prompt]
		job := queue[i].job
		sends[request.Prompt]++
		switch {
		case sends[request.Prompt] == 2:
			cost.twice++
		case sends[request.Prompt] == 1 && i < last[job]:
			cost.disordered++
		}
		last[job] = max(last[job], i)
	}
}

func (cost *threadsCost) countTold(c *chat, queue []message) {
	for _, m := range queue {
		switch times := c.told[m.prompt]; {
		case times == 0:
			cost.untold++
		case times > 1:
			cost.toldTwice++
		}
	}

	if !c.latest.IsZero() {
		cost.late = c.latest.Sub(c.way.created.Add(start + length))
	}
}
