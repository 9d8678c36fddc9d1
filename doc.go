// Package mintlify is an unofficial Go client for the Mintlify API. It runs jobs of the
// documentation agent, from a prompt to a pull request, publishes the documentation site,
// and exports how humans and AIs use it.
//
//	func updateDocs(ctx context.Context, client *mintlify.Client) error {
//		job, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Document the flag --json"})
//		if err != nil {
//			return err
//		}
//		fmt.Println(job.ID) // with it another process can wait, too
//
//		ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
//		defer cancel()
//		job, err = client.Jobs.WaitUntilDone(ctx, job.ID)
//		if err != nil {
//			return err
//		}
//		fmt.Println(job.PRLink)
//		return nil
//	}
//
// Package once makes at most one job per merge, release or ticket, also through crashes and
// restarts. Use it unless you keep such a record yourself.
//
// # Keys
//
// A [Client] authenticates with an admin API key, which starts with mint_; keys that start
// with mint_dsc_ or mint_us_ do not work. The SDK sends the key to the origin of the base URL
// and nowhere else, and shows it in no error and no log line. Use [WithKeySource] for keys
// that rotate and [Client.ForProject] for more projects under the same key.
//
// # Waiting
//
// [JobsService.WaitUntilDone] polls at once, and then after 5 % of the time waited so far,
// at least 5 s and at most 60 s, ±10 %. Failed polls do not end it until they have failed
// in a row for 10 minutes. It has no time limit of its own: give its context a deadline. An
// interrupted wait can be resumed by the job's id, also in another process. Right after a
// [JobsService.Message] the job may still have its status from before, so for 30 s, the settle
// time, a wait ignores that the job has ended ([WithSettleTime]). Programs that keep the schedule
// elsewhere, in a job queue for example, use [JobsService.Poll].
//
// # Exports
//
// [AnalyticsService.Visitors] ranges over the rows of an export, and
// [AnalyticsService.VisitorPages] over its pages of up to 250 rows, which cost a request
// each. An export that fails partway ends with an [*ExportError] that says where to resume. Take
// both values of the loop: for row := range drops the error. [Collect] returns all rows and the
// error. [WithPrefetch] overlaps requests with the loop's own work.
//
// # Retries
//
// Get, WaitUntilDone, Poll and the exports change nothing, and are safe to call again, also in
// another process. The SDK retries a GET, at most three times, after a network error (but not a
// refused certificate), a truncated body, 408, 425, 429, 499, and 5xx but 501, 505 and 511.
//
// A POST changes something. The SDK retries it only on proof that the service did not act on it: the
// service responded 425 or 429, or the request was never written to a connection, since nobody has
// read its body. A gateway that renews an HTTP/2 connection refuses some requests before anybody acts on
// them. The SDK makes these again at once, up to six times a call; this does not count as a retry.
//
// After every other failure it returns at once with an error that matches
// [ErrOutcomeUnknown], unless the service refused the request with a 4xx other than 408 and 499.
// Package once and https://github.com/mintlify-community/mintlify-go/blob/main/docs/once.md
// say what to do then.
//
// Between attempts the SDK waits as long as the service's Retry-After says, else by
// exponential back-off with full jitter from 500 ms to 30 s ([WithRetryWait]). It returns a
// longer Retry-After as an error, and the last attempt's error at once if a retry would begin only
// after the context's deadline. After a 401 a call is made once more if the key source has another
// key by then. Each attempt times out after 60 s ([WithHTTPClient]).
//
// If the context is canceled while a POST is in progress, the call waits for the response, but not
// beyond the context's deadline. What comes is the call's result, and nothing is retried. If nothing
// comes, the error matches [ErrOutcomeUnknown] and the context's. How long it waits, and how to return
// at once, is in https://github.com/mintlify-community/mintlify-go/blob/main/docs/faults.md.
// A deadline that passes ends the call at once, unless the response is arriving: then its header has
// up to 5 s, and its body 5 s from then. A cancel ends at once a GET, and a call that waits for its
// limiter, its key source, a connection or a retry. So the context of [signal.NotifyContext] is
// right for Create and WaitUntilDone alike.
//
// The SDK sends nothing once the context's deadline has passed by the wall clock, even if the machine
// was suspended and the context's timer is late. A call, a wait or an export then ends after its
// current pause.
//
// # Errors
//
// Use errors.Is for the kind, such as [ErrNotFound], [ErrRateLimited] or [ErrOutcomeUnknown], and
// errors.As for the details: [*APIError], [*MalformedResponseError], [*ArgumentError], [*WaitError],
// [*ExportError], [*JobFailedError] or [*DeploymentFailedError]. When a call ends with its context,
// the error matches the context's error, its cause, and the service's last response. If the cause is
// the error of another call, the error does not match that call's kind or type. [RetryAfter] says
// whether and when to make the call again. Errors built from exported fields, as in a mock, behave
// the same.
//
// # Quotas
//
// Each method says how often the service lets it be called, and
// https://github.com/mintlify-community/mintlify-go/blob/main/docs/reference.md lists all quotas.
// The SDK asks a limiter given by [WithRateLimiter] before every request.
//
// # Paths that the SDK does not cover
//
// [Client.Call] sends one authenticated request to any path, with the same retries,
// redaction, limits and errors.
//
// # Testing
//
// Package mintlifytest is the service in memory: no network, no key, no waiting, also inside a
// testing/synctest bubble. httpmock works as well, on a client given by [WithHTTPClient] or by a
// plain httpmock.Activate. An error that it returns to a POST matches [ErrOutcomeUnknown], since
// nothing proves that the request was not sent: for a refused connection use mintlifytest, with a
// Fault that has Refuse.
package mintlify
