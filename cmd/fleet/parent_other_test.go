//go:build unix && !linux

package main

import "syscall"

func dyingWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
