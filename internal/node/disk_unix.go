//go:build linux || darwin || freebsd

package node

import "syscall"

// diskOf returns the bytes that this process may still write to the disk of a folder, and its size.
func diskOf(dir string) (free, size uint64, known bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, 0, false
	}
	block := uint64(fs.Bsize)                                 //nolint:gosec // no file system has blocks of a negative size
	return uint64(fs.Bavail) * block, fs.Blocks * block, true //nolint:gosec,unconvert // it is signed on FreeBSD
}
