package embedded

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// The first byte of a payload is its kind.
const (
	kindCall   = 'C' // a script that changed something
	kindSource = 'L' // the source of a script, before its first call in this journal
	kindMarker = 'M' // everything up to a sequence number was synced
	kindEnd    = 'E' // the journal continues in the next generation
	kindChunk  = 'K' // snapshot: a part of one key
	kindTotal  = 'Z' // snapshot: its last record
)

var errRecord = errors.New("the record cannot be decoded")

// callRecord is one call of a script.
type callRecord struct {
	sinceUs uint64 // since the previous call in the same journal; the first counts from 1970
	digest  uint32 // of what the previous call in the same journal wrote
	source  uint64 // index of the journal's source record, from 0
	keys    uint64
	args    []string // keys first
}

// appendCall encodes r. Keys start alike, so each string is encoded as the number of bytes it shares with the previous
// one, and the rest.
func appendCall(b []byte, r callRecord) []byte {
	b = append(b, kindCall)
	b = binary.AppendUvarint(b, r.sinceUs)
	b = binary.LittleEndian.AppendUint32(b, r.digest)
	b = binary.AppendUvarint(b, r.source)
	b = binary.AppendUvarint(b, r.keys)
	b = binary.AppendUvarint(b, uint64(len(r.args)))
	before := ""
	for _, s := range r.args {
		shared := 0
		for shared < len(s) && shared < len(before) && s[shared] == before[shared] {
			shared++
		}
		b = binary.AppendUvarint(b, uint64(shared))
		b = appendString(b, s[shared:])
		before = s
	}
	return b
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// decodeCall decodes the bytes after kindCall.
func decodeCall(b []byte) (callRecord, error) {
	d := decoder{b: b}
	r := callRecord{sinceUs: d.uvarint(), digest: d.uint32(), source: d.uvarint(), keys: d.uvarint()}
	n := d.uvarint()
	if d.bad || n > uint64(len(d.b)) || r.keys > n {
		return r, errRecord
	}
	r.args = make([]string, 0, n)
	before := ""
	for range n {
		shared := d.uvarint()
		rest := d.string()
		if d.bad || shared > uint64(len(before)) {
			return r, errRecord
		}
		before = before[:shared] + rest
		r.args = append(r.args, before)
	}
	return r, d.end()
}

// decoder reads the fields of a payload. After the first missing field, all are zero and bad is set.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.b, d.bad = nil, true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.b, d.bad = nil, true
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string { return string(d.bytes(d.uvarint())) }

func (d *decoder) uint32() uint32 {
	if v := d.bytes(4); v != nil {
		return binary.LittleEndian.Uint32(v)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if v := d.bytes(8); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

func (d *decoder) end() error {
	if d.bad || len(d.b) > 0 {
		return errRecord
	}
	return nil
}

// digestCommand adds a command that changes something to the digest of its call.
func digestCommand(digest uint32, scratch []byte, cmd string, args []string) (uint32, []byte) {
	scratch = appendString(scratch[:0], cmd)
	for _, a := range args {
		scratch = appendString(scratch, a)
	}
	return crc32.Update(digest, castagnoli, scratch), scratch
}
