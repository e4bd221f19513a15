//go:build unix

package disk

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock locks a file for this process, by another one beside it, because the file itself may be replaced.
func Lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another process uses %s: %w", path, err), f.Close())
	}
	return func() { _ = f.Close() }, nil // which also unlocks it
}
