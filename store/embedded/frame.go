package embedded

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Journals and snapshots are a file header and then frames:
//
//	u32 bytes of payload | u64 sequence number | u32 CRC of payload | u32 CRC of salt and the 16 bytes before | payload
//
// All little-endian, all CRC-32C. The head of a frame has its own CRC so that its length can be trusted: a whole head
// whose payload is cut short by the end of the file can only be an interrupted write.
const frameHeadBytes = 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// DamageError means that a file of the store is not as it was written. Nothing was loaded.
type DamageError struct {
	File   string
	Offset int64
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("embedded: %s is damaged at byte %d: %s (nothing was loaded or changed; restore the folder from a backup)",
		e.File, e.Offset, e.Reason)
}

// beginFrame reserves the head; endFrame fills it in once the payload follows it.
func beginFrame(b []byte) []byte {
	return append(b, make([]byte, frameHeadBytes)...)
}

func endFrame(b []byte, start int, salt, seq uint64) []byte {
	head, payload := b[start:start+frameHeadBytes], b[start+frameHeadBytes:]
	binary.LittleEndian.PutUint32(head, uint32(len(payload)))
	binary.LittleEndian.PutUint64(head[4:], seq)
	binary.LittleEndian.PutUint32(head[12:], crc32.Checksum(payload, castagnoli))
	binary.LittleEndian.PutUint32(head[16:], headCRC(salt, head))
	return b
}

// headCRC includes the salt of the file, so that a frame from another file is never mistaken for one of this file.
func headCRC(salt uint64, head []byte) uint32 {
	var s [8]byte
	binary.LittleEndian.PutUint64(s[:], salt)
	return crc32.Update(crc32.Checksum(s[:], castagnoli), castagnoli, head[:16])
}

type frameHead struct {
	bytes int
	seq   uint64
	crc   uint32
}

// parseHead parses the head of a frame at the beginning of b; ok is false if b is too short or the head is not whole.
func parseHead(b []byte, salt uint64) (h frameHead, ok bool) {
	if len(b) < frameHeadBytes || headCRC(salt, b) != binary.LittleEndian.Uint32(b[16:]) {
		return h, false
	}
	h = frameHead{
		bytes: int(binary.LittleEndian.Uint32(b)),
		seq:   binary.LittleEndian.Uint64(b[4:]),
		crc:   binary.LittleEndian.Uint32(b[12:]),
	}
	return h, h.bytes <= recordBytesMax
}

// frames walks the frames of b from byte off on and calls each for those that are whole and in sequence, the first of
// them numbered seq. It returns the end of the last whole frame and, if bytes follow it, that they are a torn tail. A
// tail is torn if no whole frame comes after it:
//
//   - a killed process or a full disk leaves a frame that is cut short by the end of the file;
//   - a power failure may leave zeros or noise up to the end, but only in place of data that was not yet synced, because every
//     sync is followed by a mark, which is a whole frame.
//
// Damage that is followed by whole frames is never a torn tail: it is refused.
func frames(file string, b []byte, off int, salt, seq uint64, each func(off int, seq uint64, payload []byte) error) (end int, err error) {
	for off < len(b) {
		rest := b[off:]
		h, ok := parseHead(rest, salt)
		whole := ok && len(rest)-frameHeadBytes >= h.bytes
		var payload []byte
		if whole {
			payload = rest[frameHeadBytes : frameHeadBytes+h.bytes]
			whole = crc32.Checksum(payload, castagnoli) == h.crc
		}
		if !whole {
			if at, found := wholeFrameAfter(b, off+1, salt); found {
				return off, &DamageError{file, int64(off), fmt.Sprintf("record %d is incomplete, but a complete one follows at byte %d", seq, at)}
			}
			return off, nil
		}
		if h.seq != seq {
			return off, &DamageError{file, int64(off), fmt.Sprintf("found record %d, want record %d", h.seq, seq)}
		}
		if err := each(off, seq, payload); err != nil {
			return off, err
		}
		off += frameHeadBytes + h.bytes
		seq++
	}
	return off, nil
}

// wholeFrameAfter searches for a whole frame at any byte from off on. Two CRCs must match, so it finds none by chance.
func wholeFrameAfter(b []byte, off int, salt uint64) (at int, found bool) {
	for ; off+frameHeadBytes <= len(b); off++ {
		h, ok := parseHead(b[off:], salt)
		if !ok || len(b)-off-frameHeadBytes < h.bytes {
			continue
		}
		if crc32.Checksum(b[off+frameHeadBytes:off+frameHeadBytes+h.bytes], castagnoli) == h.crc {
			return off, true
		}
	}
	return 0, false
}

// fileHeader is at the start of a journal or a snapshot.
type fileHeader struct {
	gen    uint64 // the generation of the store that the file belongs to
	salt   uint64 // random
	seq    uint64 // snapshot: number of the last record that it contains
	lastUs int64  // snapshot: time of the last call that it contains, in us since 1970
}

const (
	journalMagic  = "chatdjnl"
	snapshotMagic = "chatdsnp"
	formatVersion = 1
	headerBytes   = 8 + 4 + 8*4 + 4
)

func (h fileHeader) encode(magic string) []byte {
	b := append(make([]byte, 0, headerBytes), magic...)
	b = binary.LittleEndian.AppendUint32(b, formatVersion)
	b = binary.LittleEndian.AppendUint64(b, h.gen)
	b = binary.LittleEndian.AppendUint64(b, h.salt)
	b = binary.LittleEndian.AppendUint64(b, h.seq)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.lastUs))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// decodeHeader checks the header of a file. The header is written before the file gets its name, so a short one is not
// an interrupted write.
func decodeHeader(file, magic string, gen uint64, b []byte) (h fileHeader, err error) {
	if len(b) < headerBytes {
		return h, &DamageError{file, int64(len(b)), "the file ends within its header"}
	}
	b = b[:headerBytes]
	if string(b[:8]) != magic {
		return h, &DamageError{file, 0, "this is not a file of chatd's embedded store"}
	}
	if crc32.Checksum(b[:headerBytes-4], castagnoli) != binary.LittleEndian.Uint32(b[headerBytes-4:]) {
		return h, &DamageError{file, 0, "the header does not match its checksum"}
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != formatVersion {
		return h, fmt.Errorf("embedded: %s has format %d, but this chatd reads format %d", file, v, formatVersion)
	}
	h = fileHeader{
		gen:    binary.LittleEndian.Uint64(b[12:]),
		salt:   binary.LittleEndian.Uint64(b[20:]),
		seq:    binary.LittleEndian.Uint64(b[28:]),
		lastUs: int64(binary.LittleEndian.Uint64(b[36:])),
	}
	if h.gen != gen {
		return h, &DamageError{file, 0, fmt.Sprintf("the header belongs to generation %d", h.gen)}
	}
	return h, nil
}
