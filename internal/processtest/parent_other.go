//go:build unix && !linux

package processtest

import "syscall"

// DyingWithParent has an effect on Linux only.
func DyingWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
