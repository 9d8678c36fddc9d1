// Package usage marks the errors that the user has to fix, in the command line or the set-up. The
// commands end with exit code 2 after one of them.
package usage

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/version"
)

type usageError struct{ error }

// Unwrap returns the error that the user has to fix.
func (e usageError) Unwrap() error { return e.error }

// Errorf returns an error that the user has to fix, with a text as [fmt.Errorf] formats it.
func Errorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Is reports whether err is, or wraps, one that [Errorf] has returned.
func Is(err error) bool { return errors.As(err, &usageError{}) }

// KeysPage is the page of the dashboard with the keys and the project id.
const KeysPage = "https://app.mintlify.com/settings/organization/api-keys"

// What is missing in the environment, and where to get it.
var (
	ErrNoKey     = Errorf("MINTLIFY_API_KEY is not set: make an admin key at %s", KeysPage)
	ErrNoProject = Errorf("MINTLIFY_PROJECT_ID is not set: copy the project id from %s", KeysPage)
)

// Keys refuses an environment without the key or the project id.
func Keys(getenv func(string) string) error {
	if strings.TrimSpace(getenv("MINTLIFY_API_KEY")) == "" {
		return ErrNoKey
	}
	if strings.TrimSpace(getenv("MINTLIFY_PROJECT_ID")) == "" {
		return ErrNoProject
	}
	return nil
}

// Client returns an error of [mintlify.NewClient] as one that the user has to fix. It names the variables that the
// arguments come from.
func Client(err error) error {
	argument := new(mintlify.ArgumentError)
	if errors.As(err, &argument) {
		name := argument.Name
		switch name {
		case "apiKey":
			name = "MINTLIFY_API_KEY"
		case "baseURL":
			name = "MINTLIFY_BASE_URL"
		}
		reason := strings.TrimSuffix(argument.Reason, ", or WithInsecureHTTP") // of Go
		err = &mintlify.ArgumentError{Name: name, Reason: reason}
	}
	return Errorf("%w", err)
}

// Parse parses a command line. It refuses a flag that is given and empty: the variable of its shell may not
// be set. It returns [flag.ErrHelp] for -h. It prints nothing: where the help goes, and how much of it stands
// beside an error, is the command's to say.
func Parse(flags *flag.FlagSet, args []string) error {
	flags.SetOutput(io.Discard)
	if name := givenAndEmpty(flags, args); name != "" {
		return Errorf("-%s is given and empty: is its variable set?", name)
	}

	err := flags.Parse(args)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		return Errorf("%w", err)
	}
	return err
}

// ParseOrPrint parses the command line of a program that has flags alone. It prints what -h and -version ask for to
// stdout, and then returns [flag.ErrHelp]. The help has its flags between intro and end.
func ParseOrPrint(flags *flag.FlagSet, args []string, stdout io.Writer, intro, end string) error {
	wantsVersion := flags.Bool("version", false, "print the version and the commit")
	err := Parse(flags, args)

	var text strings.Builder
	switch {
	case errors.Is(err, flag.ErrHelp):
		text.WriteString(intro)
		flags.SetOutput(&text)
		flags.PrintDefaults()
		text.WriteString(end)

	case err != nil:
		return err
	case *wantsVersion:
		text.WriteString(version.String(flags.Name()) + "\n")
	case flags.NArg() > 0:
		return Errorf("unexpected argument %q", flags.Arg(0))
	default:
		return nil
	}

	if _, err := io.WriteString(stdout, text.String()); err != nil {
		return fmt.Errorf("write to stdout: %w", err)
	}
	return flag.ErrHelp
}

// givenAndEmpty returns the name of the first flag whose value is blank, or "". It has package flag parse the command
// line for it beforehand, since the value of a [flag.FlagSet.Func] does not keep the text.
func givenAndEmpty(flags *flag.FlagSet, args []string) string {
	empty := ""
	texts := flag.NewFlagSet(flags.Name(), flag.ContinueOnError)
	texts.SetOutput(io.Discard)
	flags.VisitAll(func(f *flag.Flag) {
		note := func(text string) error {
			if strings.TrimSpace(text) == "" && empty == "" {
				empty = f.Name
			}
			return nil
		}

		value, ok := f.Value.(interface{ IsBoolFlag() bool })
		if ok && value.IsBoolFlag() { // it takes its value after a = only
			texts.BoolFunc(f.Name, "", note)
		} else {
			texts.Func(f.Name, "", note)
		}
	})

	_ = texts.Parse(args) // the flags themselves report what is wrong
	return empty
}
