// Package once makes at most one agent job for each thing that happened: a merge, a
// release, a ticket; and sends at most one message for each thing said to such a job.
//
//	runner, err := once.New(client, store)
//	record, err := runner.Do(ctx, once.Task{Key: "acme/api@5907854", Prompt: "Document the flag --json."})
//
// A [Store] that every process sees holds a [Record] of each thing. Of all the processes that try,
// one sends the prompt. If it dies before it has recorded the response, or the response is lost, the
// record is [Unknown], and nothing is sent for it until a person has looked for the pull request whose
// description has the line of the key's [Marker], and has called [Runner.Adopt], [Runner.MarkDone] or
// [Runner.SendAgain].
//
// # Asking first
//
// So that an outage leaves few unknown records, the package asks before it sends: one GET for a job
// that does not exist, whose 404 says that the service works. It does not ask if the project
// has responded well within the last minute, and no request has failed since. While the service does not work,
// nothing is sent: the record is [Pending], and Problem says why. [Runner.Do] returns the error. [Runner.Step],
// [Runner.Resume] and [Runner.Run] leave the project alone for a while.
//
// In a test with mintlifytest, FailNext for OpGetJob applies to this GET first, and SucceedNext(OpGetJob, 1)
// before it lets the GET pass. With httpmock, register the path of the job "preflight", with a 404.
//
// # Follow-ups
//
// A [Task] with After sends its prompt as a message to the job of that record, once the job
// has ended. The messages to a job are sent one at a time, in the order in which they were added,
// by whichever process:
//
//	_, _, err = runner.Add(ctx, once.Task{
//		Key:    "acme/api@5907854#comment-1",
//		After:  "acme/api@5907854",
//		Prompt: "Add an example.",
//	})
//
// If the response to a message is lost, the job tells: one that is at work has got the message.
//
// # How it ends
//
// [WithReport] has Run and Resume tell others how each record has ended, until they have taken it. [WithFinder]
// looks for what became of a record that is unknown.
//
// https://github.com/mintlify-community/mintlify-go/blob/main/docs/once.md says what to do
// about a record that is unknown, which store to use, and what an outage costs.
package once
