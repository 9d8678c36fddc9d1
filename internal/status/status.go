// Package status says what the HTTP status of the service's response means. Everything that
// decides by a status asks it.
package status

// ClientClosed is the status of a gateway, such as nginx or Cloudflare, that has seen the connection
// of the client close. The service may have acted on the request.
const ClientClosed = 499

// Meaning is what a status means.
type Meaning struct {
	// Kind is the kind of error.
	Kind Kind
	// Passes says that the same request may get another response later.
	Passes bool
	// MayHaveActed says that the service may have acted on a request that changes something.
	MayHaveActed bool
	// NeedsPerson says that a person must mend something before any request of the project succeeds.
	NeedsPerson bool
	// About is what the service objects to.
	About About
}

// Kind is a kind of error. 0 is none.
type Kind int

// The kinds.
const (
	BadRequest Kind = iota + 1
	Unauthorized
	PaymentRequired
	Forbidden
	NotFound
	RateLimited
	Server
)

// About is what a response objects to. 0 is nothing in the request.
type About int

// What a response may object to.
const (
	// Prompt is the prompt alone.
	Prompt About = iota + 1
	// PromptOrSetup is the prompt, or how the project is set up: the service says no more.
	PromptOrSetup
	// Job is the job that a message is for. For a new job it is the project, or another job at work.
	Job
)

// Row is a row of the table: a range of statuses, and what they mean.
type Row struct {
	// First and Last are the first and the last status of the range.
	First, Last int
	Meaning
}

// Table returns what each status means: the first row that has the status counts. A status that is
// in none, such as 1xx and 3xx, means that the service may have acted.
func Table() []Row {
	return []Row{
		{400, 400, Meaning{Kind: BadRequest, About: PromptOrSetup}},
		{401, 401, Meaning{Kind: Unauthorized, NeedsPerson: true}},
		{402, 402, Meaning{Kind: PaymentRequired, NeedsPerson: true}},
		{403, 403, Meaning{Kind: Forbidden, NeedsPerson: true}},
		{404, 404, Meaning{Kind: NotFound, NeedsPerson: true, About: Job}},
		{407, 407, Meaning{NeedsPerson: true}},
		{408, 408, Meaning{Passes: true, MayHaveActed: true}},
		{409, 409, Meaning{About: Job}},
		{413, 413, Meaning{About: Prompt}},
		{422, 422, Meaning{Kind: BadRequest, About: Prompt}},
		{425, 425, Meaning{Passes: true}},
		{429, 429, Meaning{Kind: RateLimited, Passes: true}},
		{ClientClosed, ClientClosed, Meaning{Passes: true, MayHaveActed: true}},
		{400, 499, Meaning{About: PromptOrSetup}},
		{501, 501, Meaning{Kind: Server, MayHaveActed: true}},
		{505, 505, Meaning{Kind: Server, MayHaveActed: true}},
		{511, 511, Meaning{Kind: Server, MayHaveActed: true, NeedsPerson: true}},
		{500, 599, Meaning{Kind: Server, Passes: true, MayHaveActed: true}},
	}
}

// Of returns what a status means.
func Of(code int) Meaning {
	for _, row := range Table() {
		if row.First <= code && code <= row.Last {
			return row.Meaning
		}
	}
	return Meaning{MayHaveActed: true}
}
