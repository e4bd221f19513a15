package ship

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

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

// processState is what a processor must not forget, although the server regards the parts as seen. It is saved before each ack.
type processState struct {
	Epoch   string          `json:"epoch"`
	Pending []pendingResult `json:"pending,omitempty"`
	Ended   bool            `json:"ended,omitempty"` // the end mark was handled, and Process has not returned yet
	// Over is the shipment that ended last, and End the id of its end mark. First is that of its first part whose result the shipper
	// takes; 0: of none.
	Over  string `json:"over,omitempty"`
	End   int64  `json:"end,omitempty"`
	First int64  `json:"first,omitempty"`
	// Ships are the shipments under way, that of the newest part last.
	Ships []shipProgress `json:"ships,omitempty"`

	path  string
	dirty bool // the file says something else
}

// shipsMax is how many shipments are remembered: a shipper that begins again leaves one behind that never ends.
const shipsMax = 16

// shipProgress is what a processor has handled of a shipment.
type shipProgress struct {
	From  string `json:"from"`
	Ship  string `json:"ship"`
	Parts int64  `json:"parts"` // the number of the last one
	Last  string `json:"last"`  // its digest
	Bytes int64  `json:"bytes"`
	// Digest is the state of the SHA-256 of all parts; empty if the processor does not know the first ones.
	Digest []byte `json:"digest,omitempty"`
	First  int64  `json:"first,omitempty"` // as in processState
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
	old := processState{path: path}
	if err := json.Unmarshal(data, &old); err != nil {
		return fmt.Errorf("state in %s: %w", path, err)
	}
	if old.Epoch == epoch { // else it is about a group that no longer exists
		*s = old
	}
	return nil
}

func (s *processState) save() error {
	if s.dirty = false; s.path == "" {
		return nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return permanent(disk.Replace(s.path, data))
}

// progress finds what was handled of a shipment; nil: nothing is remembered.
func (s *processState) progress(from, ship string) *shipProgress {
	for i := range s.Ships {
		if s.Ships[i].From == from && s.Ships[i].Ship == ship {
			return &s.Ships[i]
		}
	}
	return nil
}

// underWay finds the newest shipment of a shipper that has not ended; nil: none.
func (s *processState) underWay(from string) *shipProgress {
	for i := range slices.Backward(s.Ships) {
		if s.Ships[i].From == from {
			return &s.Ships[i]
		}
	}
	return nil
}

// drop forgets a shipment.
func (s *processState) drop(from, ship string) {
	s.Ships = slices.DeleteFunc(s.Ships, func(p shipProgress) bool { return p.From == from && p.Ship == ship })
}

// put remembers how far a shipment is.
func (s *processState) put(p shipProgress) {
	s.drop(p.From, p.Ship)
	s.Ships = append(s.Ships, p)
	s.Ships = s.Ships[max(0, len(s.Ships)-shipsMax):]
}

// goOn says how to continue after a refusal.
func (s *processState) goOn() string {
	if s.path == "" {
		return "without what was remembered of it, the rest is processed, and checked by count and order only"
	}
	return fmt.Sprintf("to go on all the same, remove the state file %s: the rest is then checked by count and order only", s.path)
}

// follows checks that a part is the one after those that were handled. again: it is the last of them once more, because of a crash
// or because its shipper repeated it.
func (s *processState) follows(was *shipProgress, part Part) (again bool, err error) {
	switch {
	case was == nil || part.Number == was.Parts+1:
		return false, nil
	case part.Number == was.Parts && part.SHA256 == was.Last:
		return true, nil
	}
	return false, permanent(fmt.Errorf("message %d: part %d of shipment %s by %s came after part %d, so parts are missing or were changed; %s",
		part.ID, part.Number, part.Ship, part.From, was.Parts, s.goOn()))
}

// fits compares an end mark with what was handled: with all of it, or by count where the first parts are not known. Of a shipment
// of which nothing is known there is nothing to compare, unless another one by the same shipper is under way: then it is that one's
// end mark that was changed.
func (s *processState) fits(was *shipProgress, end End) error {
	if was == nil {
		if other := s.underWay(end.From); other != nil {
			return permanent(fmt.Errorf("message %d: the end mark is of shipment %s by %s, of which nothing was processed, while shipment %s is at part %d; %s",
				end.ID, end.Ship, end.From, other.Ship, other.Parts, s.goOn()))
		}
		was = &shipProgress{Parts: end.Parts}
		if end.Parts == 0 {
			was.setDigest(sha256.New())
		}
	}
	whole := len(was.Digest) > 0
	got := fmt.Sprintf("%d parts", was.Parts)
	want := fmt.Sprintf("%d parts", end.Parts)
	if whole {
		digest, err := was.digest()
		if err != nil {
			return permanent(fmt.Errorf("state in %s: %w", s.path, err))
		}
		got += fmt.Sprintf(" with %d bytes and the digest %x", was.Bytes, digest.Sum(nil))
		want += fmt.Sprintf(" with %d bytes and the digest %s", end.Bytes, strings.ToLower(end.SHA256))
	}
	if got != want {
		return permanent(fmt.Errorf("message %d: the end mark of shipment %s by %s counts %s, but what was processed is %s; %s",
			end.ID, end.Ship, end.From, want, got, s.goOn()))
	}
	return nil
}

func (p *shipProgress) setDigest(h hash.Hash) { p.Digest = digestState(h) }

// digest is that of the parts so far; nil if the first ones are not known.
func (p *shipProgress) digest() (hash.Hash, error) {
	if len(p.Digest) == 0 {
		return nil, nil
	}
	return digestOf(p.Digest)
}

// retryKey is a key that is the same in every attempt.
func retryKey(what, of string, n int64) string {
	return what + "-" + of + "-" + strconv.FormatInt(n, 10)
}
