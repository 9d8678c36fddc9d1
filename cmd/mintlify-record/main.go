// Mintlify-record records how the service responds, for whoever has a key. -h says how.
//
// Exit codes: 0 recorded, whatever came; 1 a POST may have acted and its id is unknown, or interrupted;
// 2 set-up, or nobody is there.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/cmd/internal/version"
	"github.com/mintlify-community/mintlify-go/internal/recording"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

//go:embed usage.txt
var help string

func main() {
	p := program{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, untilSignal: ci.UntilSignal, transport: transport(),
	}
	os.Exit(p.main(os.Args[1:]))
}

// transport returns a transport that sends each request once. net/http sends a GET again if it has failed on
// a connection that was used before, and over HTTP/2 if the service refuses it.
func transport() http.RoundTripper {
	t := mintlify.NewTransport()
	t.DisableKeepAlives = true
	t.ForceAttemptHTTP2 = false
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	return t
}

// program is what the command needs of its process.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	untilSignal    func() context.Context
	transport      http.RoundTripper
}

func (p program) main(args []string) int {
	err := p.run(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}

	fmt.Fprintln(p.stderr, "mintlify-record:", safetext.OneLine(err.Error(), 1000))
	if usage.Is(err) {
		return 2
	}
	return 1
}

// settings are what the flags set.
type settings struct {
	recording.Settings
	output string
	yes    bool
}

func (p program) run(args []string) error {
	s, err := parse(args, p.stdout)
	if err != nil {
		return err
	}
	if err = usage.Keys(p.getenv); err != nil {
		return err
	}
	p.complete(&s)

	if err = p.confirm(s); err != nil {
		return err
	}
	ctx := p.untilSignal() // before, a signal ends the process

	file, err := os.CreateTemp(filepath.Dir(s.output), ".mintlify-record-*")
	if err != nil {
		return usage.Errorf("-o: %w", err)
	}
	defer func() {
		file.Close()
		_ = os.Remove(file.Name()) // unless it is the recording by then
	}()

	result, err := recording.Record(ctx, s.Settings)
	if err != nil {
		return usage.Client(err)
	}

	if err = write(file, result.File, s.output); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s\nRecorded in %s.\n", result.Summary(), s.output)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted: the file has what came before")
	case result.Uncertain:
		return errors.New("the service may have acted, and no id came: see above")
	}
	return nil
}

// parse parses the command line. It prints what -h and -version ask for, and then returns [flag.ErrHelp].
func parse(args []string, stdout io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("mintlify-record", flag.ContinueOnError)
	flags.StringVar(&s.output, "o", "mintlify-recording.json", "the `file` to write")
	flags.StringVar(&s.JobID, "job-id", "", "read the job with this `id`, too")
	flags.BoolVar(&s.Job, "job", false, "write: run a job, which costs about 112 credits and opens a pull request, or "+
		"publishes to the live site")
	flags.StringVar(&s.Prompt, "prompt", "Add one line to a page named docs-sdk-check.", "the `text` of -job")
	flags.BoolVar(&s.Message, "message", false, "write: send a message to the job of -job-id or -job once it has "+
		"ended, which costs about 112 credits if the service takes it")
	flags.StringVar(&s.Preview, "preview", "", "write: deploy a preview of this `branch`")
	flags.BoolVar(&s.Update, "update", false, "write: deploy the live site")
	flags.BoolVar(&s.yes, "yes", false, "write without asking")
	flags.DurationVar(&s.Timeout, "timeout", 15*time.Minute, "how long to wait for the end of a job or a deployment")

	err := usage.ParseOrPrint(flags, args, stdout, help, "")
	switch {
	case err != nil:
		return s, err
	case s.Message && !s.Job && s.JobID == "":
		return s, usage.Errorf("-message needs -job, or the id of a job in -job-id")
	case s.Timeout <= 0:
		return s, usage.Errorf("-timeout is %v, want more than 0", s.Timeout)
	}
	return s, nil
}

// complete adds what does not come from flags.
func (p program) complete(s *settings) {
	where := "the default base URL"
	if baseURL := p.getenv("MINTLIFY_BASE_URL"); baseURL != "" {
		where = "another base URL"
		s.Options = append(s.Options, mintlify.WithBaseURL(baseURL))
	}

	s.About = fmt.Sprintf("%s, %s, %s, %s", version.String("mintlify-record"), runtime.Version(),
		time.Now().UTC().Format(time.DateOnly), where)
	s.Key = p.getenv("MINTLIFY_API_KEY")
	s.ProjectID = p.getenv("MINTLIFY_PROJECT_ID")
	s.Transport = p.transport
	s.Terminal = p.stderr
}

// confirm asks a person whether to write, unless nothing would be written or -yes is given.
func (p program) confirm(s settings) error {
	writes := s.Writes()
	if len(writes) == 0 || s.yes {
		return nil
	}

	fmt.Fprintf(p.stderr, "%s\n\nDo all this? Type yes: ", strings.Join(writes, "\n"))
	line, _ := bufio.NewReader(p.stdin).ReadString('\n') // without an answer it is not yes
	if !strings.EqualFold(strings.TrimSpace(line), "yes") {
		return usage.Errorf("nothing was sent: the answer is not yes, and -yes is not given")
	}
	return nil
}

// write writes the recording in place of an earlier one.
func write(file *os.File, content *recording.File, path string) error {
	encoder := json.NewEncoder(file)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(content); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
