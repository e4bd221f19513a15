package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chatd/chatd/store/embedded"
)

const (
	throwawayLock   = "throwaway.lock" // is locked as long as the process lives
	throwawayBegins = time.Minute      // that a process may take to lock its folder
)

// Throwaway makes a folder in temp for a server of which nothing is kept, and returns what removes it. Folders with the same prefix that
// killed processes left go first: those that were made a minute ago or earlier, and that no process has locked.
func Throwaway(temp, prefix string) (dir string, remove func() error, err error) {
	removeThrown(temp, prefix, time.Now().Add(-throwawayBegins))
	if dir, err = os.MkdirTemp(temp, prefix+"*"); err != nil {
		return "", nil, err
	}
	lock, err := embedded.Lock(filepath.Join(dir, throwawayLock))
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() error {
		_ = lock.Close() // or Windows keeps the file
		return os.RemoveAll(dir)
	}, nil
}

// removeThrown leaves what it cannot remove, such as a folder of another user.
func removeThrown(temp, prefix string, before time.Time) {
	entries, _ := os.ReadDir(temp)
	for _, e := range entries {
		dir := filepath.Join(temp, e.Name())
		path := filepath.Join(dir, throwawayLock)
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if lock, err := os.Lstat(path); err != nil || !lock.Mode().IsRegular() || lock.ModTime().After(before) {
			continue
		}
		if own, err := embedded.Lock(path); err == nil {
			_ = own.Close()
			_ = os.RemoveAll(dir)
		}
	}
}
