//go:build unix

package main

import (
	"io/fs"
	"syscall"
)

// links counts the names of a file.
func links(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink) //nolint:unconvert // is narrower on other systems
	}
	return 1
}
