package processes

import "syscall"

// DyingWithParent makes Linux kill a process when the test's own process ends for any reason.
func DyingWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
