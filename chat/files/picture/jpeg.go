package picture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// Markers of JPEG (ITU T.81, table B.1).
const (
	markerSOF2 = 0xc2 // a frame of progressive scans
	markerSOS  = 0xda
	markerEOI  = 0xd9
	markerAPP1 = 0xe1
)

// scanJPEG walks the segments before the first scan, for the orientation that EXIF gives (1 if none) and for whether the
// picture is progressive. Damage is left to the decoder to find; the error is that of r.
func scanJPEG(r io.Reader) (orientation int, progressive bool, err error) {
	b := bufio.NewReader(r)
	orientation, found := 1, false
	if _, err := b.Discard(2); err != nil {
		return 1, false, ended(err)
	}
	for {
		marker, length, err := nextSegment(b)
		if err != nil || marker == markerSOS || marker == markerEOI {
			return orientation, progressive, ended(err)
		}
		progressive = progressive || marker == markerSOF2
		if marker != markerAPP1 || found {
			if _, err := b.Discard(length); err != nil {
				return orientation, progressive, ended(err)
			}
			continue
		}
		segment := make([]byte, length) // at most 64 KiB
		if _, err := io.ReadFull(b, segment); err != nil {
			return orientation, progressive, ended(err)
		}
		if tiff, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); ok {
			orientation, found = tiffOrientation(tiff), true
		}
	}
}

// nextSegment reads up to the content of the next segment.
func nextSegment(b *bufio.Reader) (marker byte, length int, err error) {
	for {
		if marker, err = b.ReadByte(); err != nil {
			return 0, 0, err
		}
		if marker != 0xff {
			continue // the decoder skips garbage between segments too
		}
		for marker == 0xff {
			if marker, err = b.ReadByte(); err != nil {
				return 0, 0, err
			}
		}
		if marker == 0 || marker >= 0xd0 && marker < markerEOI || marker == 1 {
			continue // no segment, or one without content
		}
		if marker == markerEOI {
			return marker, 0, nil
		}
		var size [2]byte
		if _, err := io.ReadFull(b, size[:]); err != nil {
			return 0, 0, err
		}
		return marker, max(int(binary.BigEndian.Uint16(size[:]))-2, 0), nil
	}
}

// ended ignores that the picture ends too early.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// tiffOrientation finds the tag Orientation (0x0112) in the first directory of a TIFF header; 1 if there is none.
func tiffOrientation(tiff []byte) int {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case len(tiff) < 8:
		return 1
	case tiff[0] == 'M':
		order = binary.BigEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			return 1
		}
		if order.Uint16(entries) == 0x0112 {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			return 1
		}
		entries = entries[12:]
	}
	return 1
}

// scans counts the scans of a JPEG while it is decoded, and ends the decoding at too many. Within a scan, 0xff is followed by
// a 0, so that what looks like a marker is one; those in embedded previews count too.
type scans struct {
	r     io.Reader
	last  byte
	count int
}

func (s *scans) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	for _, b := range p[:n] {
		if s.last == 0xff && b == markerSOS {
			s.count++
		}
		s.last = b
	}
	if s.count > scansMax {
		return 0, ErrTooLarge
	}
	return n, err
}
