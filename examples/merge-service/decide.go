package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/mintlify-community/mintlify-go/once"
)

const usage = `wrong usage of merge-service. Run it with the settings of the service, as README.md says:
  merge-service                        serve
  merge-service decide                 list what needs a person
  merge-service decide KEY -pull URL   the pull request was found, or it has the change that the comment asks for
  merge-service decide KEY -job ID     the job was found: wait for it
  merge-service decide KEY -again      nothing was found: send the prompt again. If you are wrong, there are two jobs
  merge-service decide -refused        send all refused prompts again`

var errUsage = errors.New(usage)

// decide stores what a person has decided about a record. A service at work on the same records goes on with
// it within seconds.
func decide(ctx context.Context, runner *once.Runner, store once.Store, args []string, out io.Writer) error {
	if len(args) == 0 {
		return list(ctx, store, out, once.Unknown, once.Failed, once.Refused)
	}

	var key string
	if !strings.HasPrefix(args[0], "-") {
		key = args[0]
		args = args[1:]
	}

	flags := flag.NewFlagSet("decide", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	pull := flags.String("pull", "", "")
	job := flags.String("job", "", "")
	again := flags.Bool("again", false, "")
	refused := flags.Bool("refused", false, "")
	err := flags.Parse(args)
	if err != nil || flags.NArg() > 0 || flags.NFlag() != 1 || (key == "") != *refused {
		return errUsage
	}

	var record once.Record
	switch {
	case *refused:
		return sendRefusedAgain(ctx, runner, store, out)
	case *pull != "":
		record, err = runner.MarkDone(ctx, key, *pull)
	case *job != "":
		record, err = runner.Adopt(ctx, key, *job)
	case *again:
		record, err = runner.SendAgain(ctx, key)
	default:
		return errUsage
	}

	if err != nil {
		return err
	}
	fmt.Fprintln(out, describe(record))
	return nil
}

// sendRefusedAgain is for after a person has mended the project. A refused prompt has made no job.
func sendRefusedAgain(ctx context.Context, runner *once.Runner, store once.Store, out io.Writer) error {
	refused, err := store.List(ctx, once.Refused)
	if err != nil {
		return err
	}

	for _, record := range refused {
		pending, err := runner.SendAgain(ctx, record.Key)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, describe(pending))
	}
	return nil
}

func list(ctx context.Context, store once.Store, out io.Writer, states ...once.State) error {
	records, err := store.List(ctx, states...)
	if err != nil {
		return err
	}

	for _, record := range records {
		fmt.Fprintln(out, describe(record))
	}
	return nil
}

// describe says how a record ended, and the next step if it is a person's.
func describe(r once.Record) string {
	text := fmt.Sprintf("Docs for %s: %s", r.Key, r.State)
	for _, more := range []string{r.PRLink, r.Problem} {
		if more != "" {
			text += " " + more
		}
	}

	switch {
	case r.State == once.Unknown && r.After != "":
		return text + fmt.Sprintf("\nNext: look whether the pull request has the change. If so, "+
			"merge-service decide %s -pull URL; else merge-service decide %[1]s -again", r.Key)
	case r.State == once.Unknown:
		return text + fmt.Sprintf("\nNext: wait an hour, and look for a pull request with the line %q. "+
			"If there is one, merge-service decide %s -pull URL; "+
			"if you are sure that there is none, merge-service decide %[2]s -again",
			once.Marker(r.Key), r.Key)
	case r.State == once.Refused:
		return text + fmt.Sprintf("\nNext: mend it, then merge-service decide %s -again, or "+
			"merge-service decide -refused for all", r.Key)
	case r.State == once.Failed:
		return text + fmt.Sprintf("\nNext: merge-service decide %s -again, if it is worth another job", r.Key)
	}
	return text
}
