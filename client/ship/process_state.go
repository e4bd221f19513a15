package ship

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/chatd/chatd/client/internal/disk"
)

// pendingMax is how many results wait to be posted before the processor waits too.
const pendingMax = 100

// pendingResult is a result that the group could not take yet.
type pendingResult struct {
	ID     int64  `json:"id"` // of the message with the part
	Ship   string `json:"ship"`
	Number int64  `json:"number"`
	Text   string `json:"text"`
}

// processState is what a processor must not forget, although the server regards the parts as seen.
type processState struct {
	Epoch   string          `json:"epoch"`
	Pending []pendingResult `json:"pending,omitempty"`
	Ended   bool            `json:"ended,omitempty"` // the end mark was handled, and Process has not returned yet

	path string
	kept bool // the file says something
}

func (s *processState) load(path, epoch string) error {
	s.path, s.Epoch = path, epoch
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var old processState
	if err := json.Unmarshal(data, &old); err != nil {
		return fmt.Errorf("state in %s: %w", path, err)
	}
	if old.Epoch == epoch { // else it is about a group that no longer exists
		s.Pending, s.Ended, s.kept = old.Pending, old.Ended, true
	}
	return nil
}

func (s *processState) save() error {
	if s.path == "" {
		return nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	s.kept = len(s.Pending) > 0 || s.Ended
	return permanent(disk.Replace(s.path, data))
}

// saveIfKept saves, unless the file says nothing anyway.
func (s *processState) saveIfKept() error {
	if !s.kept && len(s.Pending) == 0 && !s.Ended {
		return nil
	}
	return s.save()
}

// retryKey is a key that is the same in every attempt.
func retryKey(what, of string, n int64) string {
	return what + "-" + of + "-" + strconv.FormatInt(n, 10)
}
