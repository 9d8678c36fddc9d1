// Package usage marks the errors that the user has to fix, in the command line or the set-up. The
// commands end with exit code 2 after one of them.
package usage

import (
	"errors"
	"fmt"
)

type usageError struct{ error }

// Unwrap returns the error that the user has to fix.
func (e usageError) Unwrap() error { return e.error }

// Errorf returns an error that the user has to fix, with a text as [fmt.Errorf] formats it.
func Errorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Is reports whether err is, or wraps, one that [Errorf] has returned.
func Is(err error) bool { return errors.As(err, &usageError{}) }
