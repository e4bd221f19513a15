//go:build unix

package node

import "syscall"

// openFilesMax returns how many files this process may have open. The Go runtime has raised it to the hard limit at the
// start.
func openFilesMax() (n uint64, known bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, false
	}
	return uint64(limit.Cur), true //nolint:unconvert // it is signed on FreeBSD
}
