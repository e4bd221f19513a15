//go:build !linux && !darwin && !freebsd

package node

// diskOf is not known here.
func diskOf(string) (free, size uint64, known bool) { return 0, 0, false }
