//go:build unix

package ship

import (
	"io/fs"
	"syscall"
)

// inodeOf identifies a file on its file system, whatever its name is.
func inodeOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}
