//go:build unix

package ship

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockState locks a state file for this process, by a file beside it, because the state file itself is replaced at every save.
func lockState(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another process uses the state file %s: %w", path, err), f.Close())
	}
	return func() { _ = f.Close() }, nil // which also unlocks it
}
