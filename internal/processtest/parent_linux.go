package processtest

import "syscall"

// DyingWithParent has a process killed when the test's ends, whatever ends it.
func DyingWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
