// Package usage marks the errors that the user has to fix, in the command line or the set-up. The
// commands end with exit code 2 after one of them.
package usage

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

type usageError struct{ error }

// Unwrap returns the error that the user has to fix.
func (e usageError) Unwrap() error { return e.error }

// Errorf returns an error that the user has to fix, with a text as [fmt.Errorf] formats it.
func Errorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Is reports whether err is, or wraps, one that [Errorf] has returned.
func Is(err error) bool { return errors.As(err, &usageError{}) }

// keysPage is the page of the dashboard with the keys and the project id.
const keysPage = "https://app.mintlify.com/settings/organization/api-keys"

// Keys refuses an environment without the key or the project id, and says where to get them.
func Keys(getenv func(string) string) error {
	if strings.TrimSpace(getenv("MINTLIFY_API_KEY")) == "" {
		return Errorf("MINTLIFY_API_KEY is not set: make an admin key at %s", keysPage)
	}
	if strings.TrimSpace(getenv("MINTLIFY_PROJECT_ID")) == "" {
		return Errorf("MINTLIFY_PROJECT_ID is not set: copy the project id from %s", keysPage)
	}
	return nil
}

// Parse parses a command line. It refuses a flag that is given and empty: the variable of its shell may not
// be set. It returns [flag.ErrHelp] for -h.
func Parse(flags *flag.FlagSet, args []string) error {
	if name := givenAndEmpty(args); name != "" {
		return Errorf("%s is given and empty: is its variable set?", name)
	}

	err := flags.Parse(args)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		return Errorf("%w", err)
	}
	return err
}

// givenAndEmpty returns the flag whose value is blank, or "". Package flag cannot tell: the value of a
// [flag.FlagSet.Func] has no text.
func givenAndEmpty(args []string) string {
	for i, arg := range args {
		name, value, isPair := strings.Cut(arg, "=")
		if strings.TrimSpace(arg) == "" && i > 0 {
			name = args[i-1]
			isPair = true
		}
		if isPair && strings.HasPrefix(name, "-") && strings.TrimSpace(value) == "" {
			return name
		}
	}
	return ""
}
