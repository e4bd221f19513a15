package ship

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/internal/disk"
)

// shipState is where a shipper is. It is saved before a part is uploaded and after its message is acknowledged, so that a
// shipper which was killed does exactly what it would have done.
type shipState struct {
	Group string `json:"group"`
	Epoch string `json:"epoch"` // of the group
	Ship  string `json:"ship"`  // id of the shipment, part of every retry key
	Was   string `json:"was"`   // that of the one before: some results of it may still come
	Parts int64  `json:"parts"` // that the group has
	Bytes int64  `json:"bytes"` // in them
	// Digest is the state of the SHA-256 of these bytes.
	Digest []byte        `json:"digest"`
	Files  []*fileState  `json:"files"`
	Part   *pendingState `json:"part,omitempty"` // the part that is under way
	Ending bool          `json:"ending,omitempty"`
	End    int64         `json:"end,omitempty"` // id of the end mark

	path string
}

// fileState is how far a file is shipped. A file is known by its inode and its first bytes, whatever its name is now.
type fileState struct {
	Path    string `json:"path"`
	Inode   uint64 `json:"inode"`
	Offset  int64  `json:"offset"`
	Head    string `json:"head"`              // SHA-256 of its first bytes, hexadecimal
	HeadLen int64  `json:"head_len"`          // how many
	Shipped bool   `json:"shipped,omitempty"` // it was removed after it was shipped
}

// headBytes are compared to recognize a file.
const headBytes = 256

// pendingState is a part that may have been posted or not.
type pendingState struct {
	Path   string `json:"path"`
	Inode  uint64 `json:"inode"`
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Open   bool   `json:"open,omitempty"`
}

// loadShip reads the state, or makes a new one.
func loadShip(path, group, epoch string) (*shipState, error) {
	s := &shipState{Group: group, Epoch: epoch, path: path}
	if path == "" {
		s.renew()
		return s, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		s.renew()
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("state in %s: %w", path, err)
	}
	if s.Group != group || s.Epoch != epoch {
		return nil, fmt.Errorf("the state in %s is of another group: of %s, in its life %s; name another file, or remove it to ship everything again", path, s.Group, s.Epoch)
	}
	return s, nil
}

// renew begins a new shipment; the positions in the files stay.
func (s *shipState) renew() {
	s.Was = s.Ship
	s.Ship, s.Parts, s.Bytes, s.Part, s.Ending, s.End = client.NewKey()[:16], 0, 0, nil, false, 0
	s.Files = slices.DeleteFunc(s.Files, func(f *fileState) bool { return f.Shipped })
	s.setDigest(sha256.New())
}

func (s *shipState) save() error {
	if s.path == "" {
		return nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return permanent(disk.Replace(s.path, data))
}

func (s *shipState) setDigest(h hash.Hash) { s.Digest = digestState(h) }

func (s *shipState) digest() (hash.Hash, error) {
	h, err := digestOf(s.Digest)
	if err != nil {
		return nil, permanent(fmt.Errorf("state in %s: %w", s.path, err))
	}
	return h, nil
}

// digestState is the state of a SHA-256, from which digestOf goes on.
func digestState(h hash.Hash) []byte {
	state, _ := h.(encoding.BinaryMarshaler).MarshalBinary() // that of crypto/sha256 does not fail
	return state
}

func digestOf(state []byte) (hash.Hash, error) {
	h := sha256.New()
	return h, h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
}

// find returns the state of an open file, nil if it is not known or was truncated since.
func (s *shipState) find(path string, file *os.File, info fs.FileInfo) (*fileState, error) {
	inode := inodeOf(info)
	for _, f := range s.Files {
		if f.Shipped || !f.is(inode, path) || info.Size() < f.Offset {
			continue
		}
		head, err := headOf(file, f.HeadLen)
		if err != nil {
			return nil, err
		}
		if f.HeadLen == 0 || head == f.Head {
			return f, nil
		}
	}
	return nil, nil
}

// add begins with a file.
func (s *shipState) add(path string, info fs.FileInfo) *fileState {
	inode := inodeOf(info)
	s.Files = slices.DeleteFunc(s.Files, func(f *fileState) bool { return f.Path == path && f.Inode == inode }) // it was another file, or is truncated
	f := &fileState{Path: path, Inode: inode}
	s.Files = append(s.Files, f)
	return f
}

// is reports whether f may be the file with this inode, or without inodes the one with this path.
func (f *fileState) is(inode uint64, path string) bool {
	return f.Inode == inode && (inode != 0 || f.Path == path)
}

// advance moves the position behind a segment.
func (f *fileState) advance(seg *segment) {
	f.Offset, f.Head, f.HeadLen = seg.Offset+seg.Bytes, seg.head, seg.headN
}

// headOf is the digest of the first n bytes of a file.
func headOf(file *os.File, n int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(file, 0, n)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
