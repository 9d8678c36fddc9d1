package main

import "syscall"

// dyingWithParent has a process killed when the test's ends, whatever ends it.
func dyingWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
