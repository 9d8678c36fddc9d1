// Package mintlify is an unofficial Go client for the Mintlify API. It runs jobs of the
// documentation agent, from a prompt to a pull request, publishes the documentation site,
// and exports how humans and AIs use it.
//
//	func updateDocs(ctx context.Context, client *mintlify.Client) error {
//		// A signal must not interrupt the creation: the job's id would be lost.
//		create, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
//		defer cancel()
//		job, err := client.Jobs.Create(create, mintlify.CreateJobParams{Prompt: "Document the flag --json"})
//		if job == nil {
//			return err
//		}
//		job, err = client.Jobs.WaitUntilDone(ctx, job.ID)
//		if err != nil {
//			return err
//		}
//		fmt.Println(job.PRLink)
//		return nil
//	}
//
// # Keys
//
// A [Client] authenticates with an admin API key, which begins with mint_; keys that begin
// with mint_dsc_ or mint_us_ do not work. The key is sent to the origin of the base URL
// and nowhere else, and appears in no error and no log line. Use [WithKeySource] for keys
// that rotate and [Client.ForProject] for further projects under the same key.
//
// # Waiting
//
// [JobsService.WaitUntilDone] polls at once, and then after 5 % of the time waited so far,
// at least 5 s and at most 60 s, ±10 %. Failed polls do not end it until they have failed
// in a row for 10 minutes. An interrupted wait can be resumed by the job's id, in another
// process too. After a [JobsService.Message] give it a [WithSettleTime]. Programs that keep
// the schedule elsewhere, in a job queue for example, use [JobsService.Poll].
//
// # Exports
//
// [AnalyticsService.Visitors] ranges over the rows of an export, and
// [AnalyticsService.VisitorPages] over its pages of up to 250 rows, a request each. An
// export that fails partway ends with a [*PageError] that says where to resume.
// [WithPrefetch] overlaps requests with the loop's own work.
//
// DateTo is exclusive. Give both dates: which range the service takes without them is not
// documented, nor is the order of the rows.
//
// # Retries
//
// A GET is retried, three times at most, after a network error (a refused certificate
// apart), a truncated body, and 429, 500, 502, 503 or 504. A POST changes something, so it
// is retried only on proof that the service did not act on it: it responded 429, or no
// connection was made. After every other failure it returns at once with an error that
// matches [ErrOutcomeUnknown], unless the service refused it with a 4xx other than 408.
// What to do then, and how a program makes at most one job of a thing through crashes and
// deployments: https://github.com/mintlify-community/mintlify-go/blob/main/docs/once.md
//
// Between attempts the SDK waits as long as the service's Retry-After says, else by
// exponential back-off with full jitter from 500 ms to 30 s ([WithRetryWait]). A
// Retry-After of more than that is returned as an error. An attempt has 60 s
// ([WithHTTPClient]).
//
// # Errors
//
// Use errors.Is for the kind, such as [ErrNotFound], [ErrRateLimited] or
// [ErrOutcomeUnknown], and errors.As for the details: [*APIError], [*ResponseError],
// [*ArgumentError], [*WaitError], [*PageError], [*JobFailedError] or
// [*DeploymentFailedError]. When a call ends with its context, the error matches the
// context's error, its cause, and the service's last response. [RetryAfter] says whether
// the call may be made again later, and when.
//
// # Quotas
//
// Creating jobs and sending messages: 100 per project and hour. Analytics: 100 requests per
// organization and hour. Triggering updates and automations: 10 per organization and 10
// seconds; previews: 5 a minute. A limiter given by [WithRateLimiter] is asked before every
// request.
//
// # Testing
//
// Package mintlifytest is the service in memory: no network, no key, no waiting, also
// inside a testing/synctest bubble. httpmock works as well, on a client given by
// [WithHTTPClient] or by a plain httpmock.Activate.
package mintlify
