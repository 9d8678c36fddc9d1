package database

import "fmt"

// UsageError marks an error that the user has to fix, in the command line or the set-up.
type UsageError struct{ error }

// Unwrap returns the error that the user has to fix.
func (e UsageError) Unwrap() error { return e.error }

// Usagef returns a [UsageError] with a formatted text.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }
