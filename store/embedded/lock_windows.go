package embedded

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// errSharingViolation is what Windows returns if another process has opened the file exclusively.
const errSharingViolation = syscall.Errno(32)

// Lock locks the folder that a file is in for this process, by that file, that nobody else may open meanwhile.
func Lock(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharingViolation) {
		return nil, fmt.Errorf("%w: %s", ErrLocked, path)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return os.NewFile(uintptr(h), path), nil
}

// syncDir does nothing: Windows cannot flush a folder, and journals names itself.
func syncDir(string) error { return nil }
