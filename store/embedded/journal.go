package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// file is what a journal and a snapshot use of *os.File.
type file interface {
	io.Writer
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
}

func openFile(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY, 0o600)
}

func createFile(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

// journal is the file that calls are appended to. memory.order guards everything in it except f.Sync.
type journal struct {
	f       file
	name    string
	gen     uint64
	salt    uint64
	size    int64          // end of the last whole record
	seq     uint64         // number of the last record
	calls   int            // number of calls in it
	lastUs  int64          // time of its last call; 0: none yet
	digest  uint32         // of what its last call wrote
	sources map[string]int // sha -> number of its source record
	err     error          // once set, nothing more is written
	failed  error          // of the last write
	buf     []byte
}

func journalName(gen uint64) string { return fmt.Sprintf("journal-%08d", gen) }

// createJournal makes an empty journal that is whole on the disk before it gets its name.
func (s *journals) createJournal(gen uint64) error {
	h := fileHeader{gen: gen, salt: newSalt()}
	return s.writeDurably(journalName(gen), func(w io.Writer) error {
		_, err := w.Write(h.encode(journalMagic))
		return err
	})
}

// readHeader reads the header of a journal.
func readHeader(dir string, gen uint64) (fileHeader, error) {
	path := filepath.Join(dir, journalName(gen))
	f, err := os.Open(path)
	if err != nil {
		return fileHeader{}, err
	}
	defer func() { _ = f.Close() }()
	return readHead(f, path, journalMagic, gen)
}

// readHead reads the header of a file, which begins there.
func readHead(r io.Reader, path, magic string, gen uint64) (fileHeader, error) {
	b := make([]byte, headerBytes)
	n, err := io.ReadFull(r, b)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return fileHeader{}, fmt.Errorf("embedded: %w", err)
	}
	return decodeHeader(path, magic, gen, b[:n])
}

// appendCall writes the call of a script, and its source if this journal does not have it yet, with one write(2).
func (j *journal) appendCall(sc *script, us int64, keys int, args []string) error {
	j.buf = j.buf[:0]
	seq := j.seq
	number, known := j.sources[sc.sha]
	if !known {
		number = len(j.sources)
		seq++
		j.buf = beginFrame(j.buf)
		j.buf = append(j.buf, kindSource)
		j.buf = append(j.buf, sc.source...)
		j.buf = endFrame(j.buf, 0, j.salt, seq)
	}
	seq++
	start := len(j.buf)
	j.buf = beginFrame(j.buf)
	j.buf = appendCall(j.buf, callRecord{
		sinceUs: uint64(us - j.lastUs), digest: j.digest, source: uint64(number), keys: uint64(keys), args: args,
	})
	if n := len(j.buf) - start - frameHeadBytes; n > recordBytesMax {
		return fmt.Errorf("a call of %d bytes exceeds the maximum size of a record", n)
	}
	j.buf = endFrame(j.buf, start, j.salt, seq)
	if err := j.write(); err != nil {
		return err
	}
	j.sources[sc.sha] = number
	j.seq, j.lastUs = seq, us
	j.calls++
	return nil
}

// appendMarker records that everything up to record synced was flushed to the disk. Failing to write a mark loses
// nothing: it only makes damage harder to tell from a torn tail.
func (j *journal) appendMarker(synced uint64) error {
	j.buf = binary.AppendUvarint(append(beginFrame(j.buf[:0]), kindMarker), synced)
	return j.appendOne()
}

// appendEnd ends the journal: it continues in generation next.
func (j *journal) appendEnd(next uint64) error {
	j.buf = append(beginFrame(j.buf[:0]), kindEnd)
	j.buf = binary.LittleEndian.AppendUint32(j.buf, j.digest)
	j.buf = binary.AppendUvarint(j.buf, next)
	return j.appendOne()
}

func (j *journal) appendOne() error {
	j.buf = endFrame(j.buf, 0, j.salt, j.seq+1)
	if err := j.write(); err != nil {
		return err
	}
	j.seq++
	return nil
}

// write appends j.buf, all or nothing. If even removing a partial write fails, nothing may be appended after it.
func (j *journal) write() error {
	if j.err != nil {
		return j.err
	}
	_, err := j.f.WriteAt(j.buf, j.size)
	j.failed = err
	if err == nil {
		j.size += int64(len(j.buf))
		if cap(j.buf) > idleBytesMax {
			j.buf = nil
		}
		return nil
	}
	if cut := j.f.Truncate(j.size); cut != nil {
		j.err = fmt.Errorf("%s could neither be written (%w) nor truncated (%w); restart chatd once the disk works again", j.name, err, cut)
		return j.err
	}
	return err
}

// writeDurably creates a file that is either absent or whole, whenever the power fails.
func (s *journals) writeDurably(name string, write func(io.Writer) error) (err error) {
	dir := s.opts.Dir
	tmp := filepath.Join(dir, name+".tmp")
	f, err := s.opts.create(tmp)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp)
		}
	}()
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
		return err
	}
	return syncDir(dir)
}
