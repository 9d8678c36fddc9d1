//go:build unix && !linux

package oncetest

import "syscall"

func dyingWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
