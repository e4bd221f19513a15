//go:build unix

package ws

import (
	"errors"
	"syscall"
)

// tryWrite writes to a non-blocking file descriptor.
func tryWrite(fd uintptr, b []byte) (n int, err error) {
	for {
		n, err = syscall.Write(int(fd), b)
		switch {
		case err == nil:
			return n, nil
		case errors.Is(err, syscall.EAGAIN):
			return 0, errWouldBlock
		case !errors.Is(err, syscall.EINTR):
			return 0, err
		}
	}
}
