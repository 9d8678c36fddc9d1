// Package mintlifytest is an in-memory fake of the service, for tests that need no
// network, no key and no waiting. A test of a function updateDocs, which creates a job
// and waits for it:
//
//	func TestUpdateDocsReportsAFailedJob(t *testing.T) {
//		svc := mintlifytest.NewService()
//		svc.ScriptJob(
//			mintlifytest.JobStep{Status: mintlify.JobActive},
//			mintlifytest.JobStep{Fault: &mintlifytest.Fault{Status: 503}}, // a poll that fails
//			mintlifytest.JobStep{Status: mintlify.JobFailed},
//		)
//		err := updateDocs(t.Context(), svc.Client(), "Document the flag --json")
//		if !errors.Is(err, mintlify.ErrJobFailed) {
//			t.Errorf("error is %v, want ErrJobFailed", err)
//		}
//		if sent := svc.Requests()[0]; sent.Prompt != "Document the flag --json" {
//			t.Errorf("sent the prompt %q", sent.Prompt)
//		}
//	}
//
// # What it does
//
// The service checks the key, responds 400 to a bad argument, 404 to an unknown job and
// 413 to a body of more than 10 MiB, sets a job that gets a message back to active, and
// pages visitors by offset and limit. [Service.ScriptJob] sets what a job reports, poll
// by poll, and [Service.SetVisitors] the rows of the export. [Service.Jobs] and
// [Service.Requests] return what a test has done.
//
// # Failures
//
// [Service.FailNext] makes the next requests of an operation fail, [Service.SucceedNext]
// lets some pass before it, and [JobStep].Fault fails one poll of a job. A [Fault] is a
// response with another status, body or header, a refused or lost connection, a
// truncated body, or a delay. The operation of a [mintlify.Client.Call] is its method and
// path. A fault that never occurred proves nothing: check [Service.UnusedFaults] at the end of a
// test.
// [Service.EnforceQuotas] has the service refuse requests beyond its quotas, and
// [Service.RefuseMessagesToEndedJobs] messages to jobs that have ended.
//
// Exports have their rows in the order, and with the nulls and times, that others recorded of the
// service itself. Ids are not like its own: job_1 is easier to read in a test that fails.
//
// # Time
//
// A client of [Service.Client] retries and polls without waiting. It opens no socket,
// so it works inside a testing/synctest bubble: with [WithRealSchedule] a client
// waits there as it does in production, and 45 minutes take no time.
//
// To serve the fake on a port, to programs in any language, run cmd/mintlify-mock. There jobs
// take real time, as [Service.SetJobTime] sets it.
package mintlifytest
