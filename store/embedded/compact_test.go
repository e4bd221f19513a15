package embedded

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// stuckFile is a file whose first write says so and waits.
type stuckFile struct {
	file
	once    sync.Once
	writing chan<- struct{}
	release <-chan struct{}
}

func (f *stuckFile) Write(b []byte) (int, error) {
	f.once.Do(func() {
		close(f.writing)
		<-f.release
	})
	return f.file.Write(b)
}

// TestScriptsRunWhileASnapshotIsWritten: the snapshot holds what was there when it began, the journal what came meanwhile.
func TestScriptsRunWhileASnapshotIsWritten(t *testing.T) {
	dir, writing, release := t.TempDir(), make(chan struct{}), make(chan struct{})
	s := openStore(t, Options{Dir: dir, create: func(path string) (file, error) {
		f, err := createFile(path)
		if err != nil || !strings.Contains(path, "snapshot-") {
			return f, err
		}
		return &stuckFile{file: f, writing: writing, release: release}, nil
	}})
	c := client(t, s)
	for range 200 {
		mustSend(t, c, "before")
	}
	compacted := make(chan error, 1)
	go func() { compacted <- s.Compact() }()
	<-writing
	sent := make(chan error, 1)
	go func() {
		for range 200 { // as many again: every part of the captured set changes
			if _, err := send(context.Background(), c, "meanwhile"); err != nil {
				sent <- err
				return
			}
		}
		sent <- c.Eval(context.Background(), "return redis.call('ZREMRANGEBYRANK', KEYS[1], 0, 99)", sendKeys[1:]).Err()
	}()
	select {
	case err := <-sent:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("scripts wait for the snapshot")
	}
	close(release)
	if err := <-compacted; err != nil {
		t.Fatal(err)
	}
	want := contents(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, Options{Dir: dir, CompactStartBytes: 1 << 40})
	if got := contents(t, s); got != want {
		t.Errorf("after a restart:\n%.2000s\nwant\n%.2000s", got, want)
	}
	if i := s.Info(); i.SnapshotBytes == 0 || i.Calls != 201 {
		t.Errorf("loaded a snapshot of %d bytes and %d calls, want a snapshot and 201", i.SnapshotBytes, i.Calls)
	}
}
