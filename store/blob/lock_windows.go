package blob

import (
	"errors"
	"os"
	"syscall"
)

// What Windows returns when a disk is full.
const (
	errHandleDiskFull = syscall.Errno(39)
	errDiskFull       = syscall.Errno(112)
)

// lockFile does nothing: the folder belongs to one node on Windows, and a node writes to an upload once at a time.
func lockFile(*os.File) error { return nil }

// syncFolder does nothing: Windows cannot flush a folder, and journals names itself.
func syncFolder(string) error { return nil }

func isFull(err error) bool { return errors.Is(err, errDiskFull) || errors.Is(err, errHandleDiskFull) }
