// Package mintlify is an unofficial client of the Mintlify API: it runs jobs of
// the documentation agent, from prompt to pull request, and exports how many
// humans and AIs visit the documentation.
//
//	client, err := mintlify.NewClient(apiKey, projectID)
//	...
//	job, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Document the flag --json"})
//	...
//	job, err = client.Jobs.WaitUntilDone(ctx, job.ID)
//	...
//	fmt.Println(job.PRLink)
//
// # Keys
//
// A [Client] authenticates with an admin API key, which begins with mint_; the
// keys that begin with mint_dsc_ and mint_us_ do not work. The key is sent to
// the origin of the base URL and nowhere else, and appears in no error and no log
// line. [WithKeySource] is for keys that rotate, [Client.ForProject] for further
// projects under the same key.
//
// # Waiting
//
// [JobsService.WaitUntilDone] polls at once, and then after 5 % of the time
// waited so far, at least 5 s and at most 60 s, give or take 10 %. Failed polls do
// not end it until they have failed in a row for 10 minutes. A wait that was cut
// short can be taken up again by the job's id, in another process too. After a
// [JobsService.Message] give it a [WithSettleTime].
//
// # Exports
//
// [AnalyticsService.Visitors] ranges over the visitors of each page of the
// documentation, and [AnalyticsService.VisitorPages] over pages of up to 250 of
// them, a request each. An error in the midst is a [*PageError] with the offset to
// go on from. [WithPrefetch] overlaps requests with the loop's own work.
//
// DateTo is exclusive. Give both dates: which range the service takes without
// them is not documented, nor is the order of the rows.
//
// # What is sent again, and what never
//
// A GET is sent again, three times at most, after a network error (a certificate
// that is refused apart), a body cut off midway, and 429, 500, 502, 503 or 504. A
// POST, which carries a prompt, is sent again only on proof that the service did
// not act on it: it answered 429, or no connection was made. After every other
// failure it comes back at once as an error that matches [ErrOutcomeUnknown],
// unless the service refused it with a 4xx other than 408.
//
// Between tries the SDK waits as long as the service's Retry-After says, else by
// exponential back-off with full jitter from 500 ms to 30 s ([WithRetryWait]). A
// Retry-After of more than that comes back as an error. A try has 60 s
// ([WithHTTPClient]).
//
// # Errors
//
// errors.Is tells the kind, such as [ErrNotFound], [ErrRateLimited] or
// [ErrOutcomeUnknown]; errors.As gives the details as [*APIError],
// [*ResponseError], [*ArgumentError], [*WaitError], [*PageError] or
// [*JobFailedError]. When a call ends with its context, the error matches the
// context's error, its cause, and the service's last answer.
//
// # Quotas
//
// Creating jobs and sending messages: 100 per project and hour. Analytics: 100
// requests per organization and hour. A limiter given by [WithRateLimiter] is asked
// before every request.
//
// # Testing
//
// Package mintlifytest is the service in memory: no network, no key, no waiting,
// also inside a testing/synctest bubble. httpmock works as well, on a client given
// by [WithHTTPClient] or by a plain httpmock.Activate.
package mintlify
