package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/chatd/chatd/store/dump"
)

// partFile is a file that is being written: FILE.part. Where an export can go on is in FILE.part.json.
type partFile struct {
	*os.File
	path  string
	saved bool
}

func openPart(path string) (*partFile, error) {
	file, err := os.OpenFile(path+".part", os.O_CREATE|os.O_WRONLY, 0o600) // it holds everything, secrets too
	return &partFile{File: file, path: path}, err
}

func (p *partFile) note() string { return p.path + ".part.json" }

// resume returns where an export goes on that was interrupted; nil where none was.
func (p *partFile) resume() *dump.Checkpoint {
	var c dump.Checkpoint
	text, err := os.ReadFile(p.note())
	if err != nil || json.Unmarshal(text, &c) != nil || c.ID == "" {
		return nil
	}
	if info, err := p.Stat(); err != nil || info.Size() < c.Offset {
		return nil
	}
	if p.cut(c.Offset) != nil {
		return nil
	}
	p.saved = true
	return &c
}

// begin begins the file again.
func (p *partFile) begin() error {
	p.saved = false
	if err := os.Remove(p.note()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return p.cut(0)
}

func (p *partFile) cut(size int64) error {
	if err := p.Truncate(size); err != nil {
		return err
	}
	_, err := p.Seek(size, 0)
	return err
}

// save notes where the export can go on, once the file is on the disk that far.
func (p *partFile) save(c dump.Checkpoint) error {
	text, err := json.Marshal(c)
	if err == nil {
		err = p.Sync()
	}
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.note()+".new", text, 0o600); err != nil {
		return err
	}
	p.saved = true
	return os.Rename(p.note()+".new", p.note())
}

// close gives a complete file its name, after an export that failed or not. What an interrupted one leaves stays, if it can go on.
func (p *partFile) close(failed error) error {
	goesOn := failed != nil && p.saved && !errors.Is(failed, dump.ErrChanged) && !errors.Is(failed, dump.ErrRunning)
	switch {
	case failed == nil:
		failed = p.Sync()
	case goesOn:
		failed = fmt.Errorf("%w; repeat the command: it goes on where it was", failed)
	}
	err := errors.Join(failed, p.Close())
	if err == nil {
		err = publish(p.Name(), p.path, os.Link)
	}
	if !goesOn {
		_ = os.Remove(p.Name())
		_ = os.Remove(p.note())
	}
	return errors.Join(err, syncDir(filepath.Dir(p.path)))
}

// publish gives a file another name, unless there is a file of that name. Where the file system has no hard links, an empty file
// takes the name first.
func publish(part, path string, link func(from, to string) error) error {
	err := link(part, path)
	if err == nil || errors.Is(err, os.ErrExist) {
		return err
	}
	empty, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(empty.Close(), os.Rename(part, path))
}

// syncDir makes the names in a folder last.
func syncDir(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
