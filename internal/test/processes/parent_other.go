//go:build !linux

package processes

import "syscall"

// DyingWithParent has an effect on Linux only.
func DyingWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
