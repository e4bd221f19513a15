package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/layout"
)

// Bounds of what a file may hold. A file comes from anywhere: nothing of it is trusted before it was checked, and nothing in it
// decides alone how much memory is taken.
const (
	lineBytesMax  = 16 << 20       // of a line: the largest value, with the largest CHATD_MAX_BODY and everything in it escaped, takes 10 MiB
	valuesMax     = 2 * valuesStep // of a part: an export writes as many
	keyBytesMax   = 512            // of a key without prefix and partition
	versionMax    = 200            // bytes of the version in a manifest
	editsMax      = 1000           // of an archived message: five times what chat.Limits allows
	contentMax    = 1 << 20        // bytes of the body and of the data of an archived message: the largest CHATD_MAX_BODY
	integerMax    = 1<<53 - 1      // whole numbers of the store
	unpackedFree  = 32 << 20       // bytes that a file may unpack to, however small it is
	unpackedTimes = 1000           // how many times its own size a file may unpack to beyond that
)

// check refuses what no export writes.
func (m Manifest) check() error {
	switch {
	case m.Partitions < 1 || m.Partitions > queue.PartitionsMax:
		return fmt.Errorf("the file has %d partitions: must be 1 to %d", m.Partitions, queue.PartitionsMax)
	case m.Layout != store.LayoutVersion:
		return fmt.Errorf("the file has layout %d, but this chatd knows layout %d: import it with the version that wrote it, %s",
			m.Layout, store.LayoutVersion, m.Chatd)
	}
	return nil
}

// check refuses a line that no export writes behind the line before.
func (l line) check(m Manifest, before line) error {
	switch {
	case l.Part != nil && l.Log == nil:
		return l.Part.check(m, before.Part)
	case l.Log != nil && l.Part == nil && m.Archive:
		return l.Log.check(before.Log)
	}
	return errors.New("it is neither part of a key nor of an archive in the file")
}

func (p part) check(m Manifest, before *part) error {
	if p.Partition < 0 || p.Partition >= m.Partitions {
		return fmt.Errorf("partition %d: must be 0 to %d", p.Partition, m.Partitions-1)
	}
	strange := func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '{' || c == '}' }
	if p.Key == "" || len(p.Key) > keyBytesMax || strings.ContainsFunc(p.Key, strange) {
		return fmt.Errorf("%.100q is no key of an export", p.Key)
	}
	key, known := layout.Find(p.Partition, p.Key)
	switch {
	case !known:
		return fmt.Errorf("%q is a key that this chatd does not know: import the file with the version that wrote it, %s", p.Key, m.Chatd)
	case key.Move == layout.Left:
		return fmt.Errorf("%.100q is no key of an export", p.Key)
	case p.Kind != key.Type:
		return fmt.Errorf("%q is a %.20q: must be a %s", p.Key, p.Kind, key.Type)
	case !validOwners(key):
		return fmt.Errorf("the key %.300q names no valid group or user", p.Key)
	case !key.InHome(m.Partitions):
		return fmt.Errorf("%q is in partition %d, which is not its own", p.Key, p.Partition)
	case len(p.Values) == 0:
		return fmt.Errorf("%q has no values", p.Key)
	case p.At == 0:
	case before == nil || before.Key != p.Key || before.Partition != p.Partition || before.next() != p.At:
		return fmt.Errorf("%q: its values from %d on do not follow the line before", p.Key, p.At)
	}
	if err := p.checkValues(); err != nil {
		return err
	}
	return p.checkContent(key)
}

// next is what part.At is of the following line of the same key.
func (p part) next() int64 {
	if p.Kind == "zset" {
		return p.At + int64(len(p.Values)/2)
	}
	return p.At + int64(len(p.Values))
}

func (p part) checkValues() error {
	switch p.Kind {
	case "string":
		counts := strings.HasSuffix(p.Key, ":id") || strings.HasSuffix(p.Key, ":bytes")
		if n, err := strconv.ParseInt(string(p.Values[0]), 10, 64); counts && (err != nil || n < 0 || n > integerMax) {
			return fmt.Errorf("%q is %.40q: must be a whole number below 2^53", p.Key, p.Values[0])
		}
		if len(p.Values) > 1 || p.At > 0 {
			return fmt.Errorf("%q has several values", p.Key)
		}
	case "hash", "zset":
		if len(p.Values)%2 > 0 {
			return fmt.Errorf("%q has %d values: they must come in pairs", p.Key, len(p.Values))
		}
	}
	for n := 0; p.Kind == "zset" && n < len(p.Values); n += 2 {
		if score, err := strconv.ParseFloat(string(p.Values[n]), 64); err != nil || math.IsNaN(score) || math.Abs(score) > integerMax {
			return fmt.Errorf("%q has the score %.40q: must be a number within 2^53", p.Key, p.Values[n])
		}
	}
	return nil
}

func (l logRun) check(before *logRun) error {
	if !chat.ValidGroupID(l.Group) || len(l.Messages) == 0 {
		return fmt.Errorf("it is a log of %.100q with %d messages: must be of a group, with one at least", l.Group, len(l.Messages))
	}
	last := int64(0)
	if before != nil && before.Group == l.Group && before.Epoch == l.Epoch {
		last = before.Messages[len(before.Messages)-1].ID
	}
	for _, m := range l.Messages {
		if _, err := chat.ParsePosition(chat.FormatPosition(l.Epoch, m.ID, m.Mark)); err != nil || m.ID <= last || m.ID > integerMax {
			return fmt.Errorf("message %d of %s: wrong epoch, id or mark", m.ID, l.Group)
		}
		last = m.ID
		var e chat.Entry
		if err := json.Unmarshal(m.Entry, &e); err != nil || !entryOf(e, m.ID, l.Group) {
			return fmt.Errorf("message %d of %s: its entry cannot be read, or is of another one", m.ID, l.Group)
		}
		if e.Body != nil && len(*e.Body) > contentMax || len(e.Data) > contentMax {
			return fmt.Errorf("message %d of %s: its body or data has more than %d bytes", m.ID, l.Group, contentMax)
		}
	}
	return nil
}

// strictly decodes exactly one value of JSON without unknown fields.
func strictly(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows its value")
	}
	return nil
}

// atMost decodes a list of at most so many elements. It looks at the number before it makes room for the next one: an empty element
// takes two bytes of a file, and many times as many of memory.
func atMost[T any](data []byte, most int) (list []T, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if token, err := d.Token(); err != nil || token != json.Delim('[') {
		return nil, errors.New("must be a list")
	}
	for d.More() {
		if len(list) == most {
			return nil, fmt.Errorf("must have at most %d elements", most)
		}
		var one T
		if err := d.Decode(&one); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	_, err = d.Token()
	return list, err
}
