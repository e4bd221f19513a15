package importer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/chatd/chatd/chat"
)

// Bounds of a file.
const (
	lineBytesMax = 1 << 20   // as a request
	idsMax       = 5_000_000 // lines with an id, at some 50 bytes of memory each
	faultsMax    = 100       // lines with faults that are reported of a file
)

// byteOrderMark begins a text file that some programs write.
const byteOrderMark = "\ufeff"

// summary is what a file holds.
type summary struct {
	messages int64
	entries  int64 // of the log: messages and reactions
	newest   int64 // which of them is the last message, from 0
	first    chat.Time
	last     chat.Time
	users    []string // who wrote or reacted, in the order of their first message; at most one more than was asked for
	sum      [sha256.Size]byte
	losses
}

// Source opens the file from its beginning.
type Source func() (io.ReadCloser, error)

// scanner reads a file line by line.
type scanner struct {
	limits   chat.Limits
	now      time.Time
	usersMax int
	lenient  bool
	// each gets every message, with the number of its entry, from 0, and that of the one it replies to, or -1. Nil: nobody does.
	each func(m message, at, replyTo int64) error

	summary
	known map[string]bool
	ids   map[[16]byte]int64 // hash of an id -> number of its entry
}

// scan reads a whole file and checks every line. Its error names the first faultsMax lines that are wrong, each with all its faults.
func (s *scanner) scan(ctx context.Context, open Source) (found summary, err error) {
	file, err := open()
	if err != nil {
		return summary{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	s.known, s.ids = map[string]bool{}, map[[16]byte]int64{}
	sum := sha256.New()
	lines := bufio.NewReaderSize(io.TeeReader(file, sum), lineBytesMax)
	var faults []error
	for n := 1; ; n++ {
		text, err := lines.ReadSlice('\n')
		fault := error(nil)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			fault = fmt.Errorf("longer than %d bytes", lineBytesMax)
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = lines.ReadSlice('\n')
			}
		case err != nil && !errors.Is(err, io.EOF):
			return summary{}, err
		default:
			if n == 1 {
				text = bytes.TrimPrefix(text, []byte(byteOrderMark))
			}
			if len(bytes.TrimSpace(text)) > 0 {
				fault = s.line(text)
			}
		}
		if fault != nil {
			faults = append(faults, fmt.Errorf("line %d: %w", n, fault))
		}
		switch {
		case len(faults) > 0 && s.each != nil: // it could not be written: the file was checked before
			return summary{}, faults[0]
		case len(faults) == faultsMax:
			return summary{}, errors.Join(append(faults, fmt.Errorf("and perhaps more: these are the first %d", faultsMax))...)
		case errors.Is(err, io.EOF):
			sum.Sum(s.sum[:0])
			return s.summary, errors.Join(faults...)
		case err != nil:
			return summary{}, err
		case ctx.Err() != nil:
			return summary{}, context.Cause(ctx)
		}
	}
}

func (s *scanner) line(text []byte) error {
	m, wrong := parse(text, s.limits, s.now, s.lenient)
	if sent := m.entry.SentAt; !sent.IsZero() && sent.Before(s.last.Time) {
		wrong.add(fmt.Errorf("sent_at: %s is before that of the line above, %s: sort the file by sent_at", sent, s.last))
	}
	replyTo := int64(-1)
	if m.replyTo != "" {
		at, ok := s.ids[hash(m.replyTo)]
		if !ok {
			wrong.add(fmt.Errorf("reply_to: no line above has the id %q", m.replyTo))
		}
		replyTo = at
	}
	if m.id != "" {
		_, taken := s.ids[hash(m.id)]
		switch {
		case taken:
			wrong.add(fmt.Errorf("id: %q is that of a line above", m.id))
		case len(s.ids) == idsMax:
			wrong.add(fmt.Errorf("id: at most %d lines may have one; leave out those that no reply_to names", idsMax))
		default:
			s.ids[hash(m.id)] = s.entries // of a faulty line, too, so that what replies to it is not another fault
		}
	}
	if len(wrong) > 0 {
		return wrong.err()
	}
	if s.each != nil {
		if err := s.each(m, s.entries, replyTo); err != nil {
			return err
		}
	}
	s.count(m)
	return nil
}

func (s *scanner) count(m message) {
	if s.messages == 0 {
		s.first = m.entry.SentAt
	}
	s.last, s.newest = m.entry.SentAt, s.entries
	s.messages++
	s.cut += m.cut
	s.dropped += m.dropped
	s.entries += m.entries()
	s.meet(m.entry.From)
	for _, r := range m.reactions {
		for _, user := range r.Users {
			s.meet(user)
		}
	}
}

// meet notes a user. Beyond the bound the others do not matter: the import is refused, unless it names its members.
func (s *scanner) meet(user string) {
	if !s.known[user] && len(s.users) <= s.usersMax {
		s.known[user] = true
		s.users = append(s.users, user)
	}
}

// hash is 128 bits of the SHA-256 of an id.
func hash(id ref) (h [16]byte) {
	sum := sha256.Sum256([]byte(id))
	copy(h[:], sum[:])
	return h
}

// worded is what an error of the domain says, without its code.
func worded(err error) error {
	var e *chat.Error
	if errors.As(err, &e) {
		return errors.New(e.Message)
	}
	return err
}
