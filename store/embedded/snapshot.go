package embedded

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/alicebob/miniredis/v2"
	"github.com/tidwall/btree"
)

func snapshotName(gen uint64) string { return fmt.Sprintf("snapshot-%08d", gen) }

// snapshotWriter writes the frames of a snapshot.
type snapshotWriter struct {
	w     io.Writer
	salt  uint64
	seq   uint64
	bytes int64
	keys  uint64
	items uint64
	buf   []byte

	// What was captured: the frames of all other keys, and copies of the sorted sets.
	frames bytes.Buffer
	sets   []frozenSet
}

// frozenSet is a sorted set at the time of the capture.
type frozenSet struct {
	key   string
	order *btree.BTreeG[scored]
}

// capture captures what the store holds now. The caller holds order, so nothing changes meanwhile; reads go on. The sorted
// sets, which hold nearly everything, are copied on write and so cost little here: writeTo writes them while scripts run.
func (s *journals) capture(gen, seq uint64) (*snapshotWriter, error) {
	h := fileHeader{gen: gen, salt: newSalt(), seq: seq, lastUs: s.clock.lastUs}
	sw := &snapshotWriter{salt: h.salt, bytes: headerBytes}
	sw.frames.Write(h.encode(snapshotMagic))
	sw.w = &sw.frames
	db := s.m.DB(0)
	for _, key := range db.Keys() {
		if z := s.sets.byKey[key]; z != nil {
			sw.sets = append(sw.sets, frozenSet{key, z.order.Copy()})
			continue
		}
		if err := sw.key(db, key); err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
	}
	return sw, nil
}

// writeTo writes what was captured.
func (sw *snapshotWriter) writeTo(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<20)
	sw.w = out
	if _, err := sw.frames.WriteTo(out); err != nil {
		return err
	}
	for _, set := range sw.sets {
		if err := sw.set(set); err != nil {
			return fmt.Errorf("key %q: %w", set.key, err)
		}
	}
	sw.buf = append(beginFrame(sw.buf[:0]), kindTotal)
	sw.buf = binary.AppendUvarint(sw.buf, sw.keys)
	sw.buf = binary.AppendUvarint(sw.buf, sw.items)
	if err := sw.frame(); err != nil {
		return err
	}
	return out.Flush()
}

func (sw *snapshotWriter) set(set frozenSet) (err error) {
	sw.keys++
	sw.begin('z', set.key)
	set.order.Scan(func(e scored) bool {
		sw.buf = binary.LittleEndian.AppendUint64(sw.buf, math.Float64bits(e.score))
		err = sw.item('z', set.key, e.member)
		return err == nil
	})
	if err != nil {
		return err
	}
	return sw.frame()
}

// key writes one key in one or more chunks: its type, its name, and its items up to the end of the record.
func (sw *snapshotWriter) key(db *miniredis.RedisDB, key string) error {
	kind := db.Type(key)
	if kind == "" {
		return errors.New("disappeared while the snapshot was written")
	}
	letter := kind[0]
	if kind == "set" {
		letter = 'S' // s already means a string
	}
	sw.keys++
	sw.begin(letter, key)
	var values []string
	var err error
	switch kind {
	case "string":
		values = make([]string, 1)
		values[0], err = db.Get(key)
	case "hash":
		values, err = db.HKeys(key)
	case "list":
		values, err = db.List(key)
	case "set":
		values, err = db.Members(key)
	default:
		err = fmt.Errorf("a snapshot cannot hold a %s", kind)
	}
	for _, v := range values {
		if err != nil {
			break
		}
		if kind == "hash" {
			err = sw.item(letter, key, v, db.HGet(key, v))
		} else {
			err = sw.item(letter, key, v)
		}
	}
	if err != nil {
		return err
	}
	return sw.frame()
}

func (sw *snapshotWriter) begin(kind byte, key string) {
	sw.buf = append(beginFrame(sw.buf[:0]), kindChunk, kind)
	sw.buf = appendString(sw.buf, key)
}

// item adds the strings of one item, and starts another chunk once this one is large enough.
func (sw *snapshotWriter) item(kind byte, key string, parts ...string) error {
	for _, p := range parts {
		sw.buf = appendString(sw.buf, p)
	}
	sw.items++
	if len(sw.buf) < chunkBytes {
		return nil
	}
	if err := sw.frame(); err != nil {
		return err
	}
	sw.begin(kind, key)
	return nil
}

func (sw *snapshotWriter) frame() error {
	if n := len(sw.buf) - frameHeadBytes; n > recordBytesMax {
		return fmt.Errorf("an item of %d bytes exceeds the maximum size of a record", n)
	}
	sw.seq++
	sw.buf = endFrame(sw.buf, 0, sw.salt, sw.seq)
	sw.bytes += int64(len(sw.buf))
	_, err := sw.w.Write(sw.buf)
	return err
}

// snapshotReader applies the frames of a snapshot.
type snapshotReader struct {
	sets        *sortedSets
	db          *miniredis.RedisDB
	last        string
	keys, items uint64
	total       bool
}

// loadSnapshot loads a snapshot into the empty server and returns the number of the last record that it contains. A
// snapshot gets its name only once it is whole, so any flaw in it is damage.
func (s *journals) loadSnapshot(ctx context.Context, gen uint64) (seq uint64, err error) {
	path := filepath.Join(s.opts.Dir, snapshotName(gen))
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("embedded: %w", err)
	}
	defer func() { _ = f.Close() }()
	r := bufio.NewReaderSize(f, 1<<20)
	h, err := readHead(r, path, snapshotMagic, gen)
	if err != nil {
		return 0, err
	}
	sr := &snapshotReader{sets: s.sets, db: s.m.DB(0)}
	off := int64(headerBytes)
	for number := uint64(1); ; number++ {
		if number%64 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		payload, err := nextFrame(r, h.salt, number)
		if errors.Is(err, io.EOF) && sr.total {
			break
		}
		if err == nil {
			err = sr.record(payload)
		}
		if err != nil {
			return 0, &DamageError{path, off, fmt.Sprintf("record %d: %v", number, err)}
		}
		off += frameHeadBytes + int64(len(payload))
	}
	s.info.SnapshotBytes = off
	s.clock.lastUs = h.lastUs
	return h.seq, nil
}

// nextFrame reads a frame that must be whole and have the given number; io.EOF if the file ends before it.
func nextFrame(r io.Reader, salt, number uint64) ([]byte, error) {
	var head [frameHeadBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	h, ok := parseHead(head[:], salt)
	if !ok || h.seq != number {
		return nil, errors.New("its header does not match its checksum")
	}
	payload := make([]byte, h.bytes)
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, fmt.Errorf("the file ends within it: %w", io.ErrUnexpectedEOF)
	}
	if crc32.Checksum(payload, castagnoli) != h.crc {
		return nil, errors.New("it does not match its checksum")
	}
	return payload, nil
}

func (sr *snapshotReader) record(payload []byte) error {
	if sr.total || len(payload) == 0 {
		return errRecord
	}
	d := decoder{b: payload[1:]}
	switch payload[0] {
	case kindChunk:
		return sr.chunk(&d)
	case kindTotal:
		keys, items := d.uvarint(), d.uvarint()
		if d.end() != nil || keys != sr.keys || items != sr.items {
			return fmt.Errorf("%d keys and %d items were written, but %d and %d were read", keys, items, sr.keys, sr.items)
		}
		sr.total = true
		return nil
	}
	return errRecord
}

func (sr *snapshotReader) chunk(d *decoder) error {
	kind := d.bytes(1)
	key := d.string()
	if d.bad {
		return errRecord
	}
	if key != sr.last || sr.keys == 0 {
		sr.keys++
		sr.last = key
	}
	var items []string
	for len(d.b) > 0 {
		sr.items++
		var err error
		switch kind[0] {
		case 's':
			err = sr.db.Set(key, d.string())
		case 'h':
			items = append(items, d.string(), d.string())
		case 'z':
			score := math.Float64frombits(d.uint64())
			z, wrong := keyTarget{sr.sets, key}.create()
			if wrong != "" {
				return errRecord
			}
			z.add(scored{score, d.string()})
		case 'l', 'S':
			items = append(items, d.string())
		default:
			err = errRecord
		}
		if err != nil {
			return err
		}
	}
	if d.bad {
		return errRecord
	}
	var err error
	switch {
	case len(items) == 0:
	case kind[0] == 'h':
		sr.db.HSet(key, items...)
	case kind[0] == 'l':
		_, err = sr.db.Push(key, items...)
	case kind[0] == 'S':
		_, err = sr.db.SetAdd(key, items...)
	}
	return err
}
