//go:build unix && !linux

package processtest

import "syscall"

// DyingWithParent has a process killed when the test's ends, on Linux.
func DyingWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
