package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store/blob"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var alice = chattest.As("alice")

// bench is a service over a real Redis and a real folder, and the group g of alice and bob.
type bench struct {
	*chattest.Bench
	*files.Service
	server *redistest.Server
	folder string
	blobs  *blobs
	log    bytes.Buffer
}

func newBench(t *testing.T, uploadsMax int) *bench {
	t.Helper()
	server := redistest.Start(t)
	b := &bench{server: server, folder: t.TempDir()}
	b.Bench = chattest.Open(t, server.URL(), func(o *chat.Options) { o.Limits.UserUploadsMax = uploadsMax })
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	kept, err := blob.Open(b.Ctx, "dir:"+b.folder)
	b.Must(err)
	b.blobs = &blobs{Blobs: kept}
	_, err = b.Store.RecordBlobs(b.Ctx, kept.Identity())
	b.Must(err)
	b.Service = b.service(b.Store, b.blobs)
	return b
}

// service is one of a process of its own, two hours later: what is left undone is old by then.
func (b *bench) service(s files.Store, kept files.Blobs) *files.Service {
	return files.New(b.Bench.Service, s, kept, files.Options{SizeMax: 1 << 20, Sole: true, Log: slog.New(slog.NewTextHandler(&b.log, nil)),
		Now: func() time.Time { return time.Now().Add(2 * time.Hour) }})
}

// blobs is a blob store as the domain asks it. step, if set, comes before and after each call.
type blobs struct {
	files.Blobs
	step func() error
	full bool // the disk takes three bytes more
}

func (b *blobs) around(do func() error) error {
	if b.step == nil {
		return do()
	}
	if err := b.step(); err != nil {
		return err
	}
	return errors.Join(do(), b.step())
}

func (b *blobs) Write(ctx context.Context, id string, offset int64, r io.Reader) (n int64, err error) {
	if b.step != nil && b.step() != nil {
		return 0, errCrash
	}
	if b.full {
		n, err = b.Blobs.Write(ctx, id, offset, io.LimitReader(r, 3))
		return n, errors.Join(err, files.ErrFull)
	}
	if n, err = b.Blobs.Write(ctx, id, offset, r); err == nil && b.step != nil {
		err = b.step()
	}
	return n, err
}

func (b *blobs) Finish(ctx context.Context, id string, size int64) error {
	return b.around(func() error { return b.Blobs.Finish(ctx, id, size) })
}

func (b *blobs) Copy(ctx context.Context, from, to string) error {
	return b.around(func() error { return b.Blobs.Copy(ctx, from, to) })
}

func (b *blobs) Remove(ctx context.Context, id string) error {
	return b.around(func() error { return b.Blobs.Remove(ctx, id) })
}

var errCrash = &chat.Error{Code: chat.CodeUnavailable, Message: "the process was killed"}

// crashing is a store whose calls count as steps too: one before its effect, and one after it, whose answer is lost.
type crashing struct {
	files.Store
	step func() error
}

func stepped[T any](step func() error, do func() (T, error)) (none T, err error) {
	if err := step(); err != nil {
		return none, err
	}
	done, err := do()
	if err != nil {
		return none, err
	}
	return done, step()
}

func (c crashing) ReserveFile(ctx context.Context, user, group, id string, bytes int64) error {
	_, err := stepped(c.step, func() (int, error) { return 0, c.Store.ReserveFile(ctx, user, group, id, bytes) })
	return err
}

func (c crashing) CreateFile(ctx context.Context, group string, r files.Record) (files.Record, error) {
	return stepped(c.step, func() (files.Record, error) { return c.Store.CreateFile(ctx, group, r) })
}

func (c crashing) LockFile(ctx context.Context, group, user, id, token, sole string, lease time.Duration) (files.Record, error) {
	return stepped(c.step, func() (files.Record, error) { return c.Store.LockFile(ctx, group, user, id, token, sole, lease) })
}

func (c crashing) CommitFile(ctx context.Context, commit files.Commit) (files.Record, error) {
	return stepped(c.step, func() (files.Record, error) { return c.Store.CommitFile(ctx, commit) })
}

func (c crashing) FinishFile(ctx context.Context, group, user, id, token string, json []byte) (files.Record, error) {
	return stepped(c.step, func() (files.Record, error) { return c.Store.FinishFile(ctx, group, user, id, token, json) })
}

func (c crashing) SettleFile(ctx context.Context, user, id string) error {
	_, err := stepped(c.step, func() (int, error) { return 0, c.Store.SettleFile(ctx, user, id) })
	return err
}

func (c crashing) ReleaseFile(ctx context.Context, user, id string) error {
	_, err := stepped(c.step, func() (int, error) { return 0, c.Store.ReleaseFile(ctx, user, id) })
	return err
}

func (c crashing) RemoveFile(ctx context.Context, group, user, id string) error {
	_, err := stepped(c.step, func() (int, error) { return 0, c.Store.RemoveFile(ctx, group, user, id) })
	return err
}

// TestKilledAtEachStep kills a process at each step of an upload, before the step and after it. Another process goes on where it
// was; what is named stays, and at the end nothing is left.
func TestKilledAtEachStep(t *testing.T) {
	b := newBench(t, 1)
	for at := 0; ; at++ {
		left, killed := at, false
		step := func() error {
			if left--; left < 0 {
				killed = true
				return errCrash
			}
			return nil
		}
		dying := b.service(crashing{b.Store, step}, &blobs{Blobs: b.blobs.Blobs, step: step})
		f, err := dying.Create(b.Ctx, alice, "g", files.Draft{Name: "n", Size: 5})
		if err == nil {
			_, _ = dying.Write(b.Ctx, alice, "g", f.ID, files.Piece{Body: strings.NewReader("hello")})
		}
		if f.ID != "" {
			b.goesOn(at, f.ID)
		}
		b.leavesNothing(at)
		if !killed {
			if at < 15 {
				t.Fatalf("an upload has %d steps only", at)
			}
			return
		}
	}
}

// TestFullDisk: what the disk took counts, and the upload goes on once there is room.
func TestFullDisk(t *testing.T) {
	b := newBench(t, 1)
	f, err := b.Create(b.Ctx, alice, "g", files.Draft{Name: "n", Size: 10})
	b.Must(err)
	content := "0123456789"
	for _, want := range []int64{3, 6, 9} {
		b.blobs.full = true
		_, err := b.Write(b.Ctx, alice, "g", f.ID, files.Piece{Offset: want - 3, Body: strings.NewReader(content[want-3:])})
		b.Refused("a full disk", err, chat.CodeUnavailable)
		b.blobs.full = false
		got, err := b.Get(b.Ctx, alice, "g", f.ID)
		b.Must(err)
		if got.Offset != want {
			t.Fatalf("at %d, want %d", got.Offset, want)
		}
	}
	_, err = b.Write(b.Ctx, alice, "g", f.ID, files.Piece{Offset: 9, Body: strings.NewReader("9")})
	b.Must(err)
	if got := b.content("alice", f.ID); got != content {
		t.Errorf("got %q", got)
	}
}

// TestReservationsAreSettled: quota of creations that died is free again after an hour, also where no upload is under way.
func TestReservationsAreSettled(t *testing.T) {
	b := newBench(t, 5)
	b.server.Do("HSET", "chat:{p00}:u:alice:uploads", "LOST-0", fmt.Sprintf("g %d %d", int64(10<<30), time.Now().UnixMilli()))
	b.server.Do("SET", "chat:{p00}:u:alice:files:bytes", fmt.Sprint(int64(10<<30)))
	b.server.Do("HSET", "chat:{p00}:u:bob:uploads", "LOST-0", "g 5000 "+fmt.Sprint(time.Now().Add(2*time.Hour).UnixMilli()))
	_, err := b.Create(b.Ctx, alice, "g", files.Draft{Name: "n", Size: 10})
	b.Must(err)
	_, err = b.Create(b.Ctx, chattest.As("bob"), "g", files.Draft{Name: "n", Size: 10})
	b.Must(err) // 5,000 bytes are no matter
	if left := b.strings("HKEYS", "chat:{p00}:u:bob:uploads"); len(left) != 2 {
		t.Errorf("bob has %v under way, want the young one still there", left)
	}
}

// goesOn completes an upload, names it, and deletes the message.
func (b *bench) goesOn(at int, id string) {
	b.T.Helper()
	f, err := b.Get(b.Ctx, alice, "g", id)
	b.Must(err)
	if !f.Whole {
		_, err = b.Write(b.Ctx, alice, "g", id, files.Piece{Offset: f.Offset, Body: strings.NewReader("hello"[f.Offset:])})
		b.Must(err)
	}
	sent, err := b.Send(b.Ctx, alice, "g", chat.Content{Kind: chat.Text, Files: []chat.File{{ID: id}}}, "")
	b.Must(err)
	b.expire()
	b.Must(b.Compare(b.Ctx))
	if got := b.content("bob", id); got != "hello" {
		b.T.Fatalf("killed at step %d: the file reads %q", at, got)
	}
	_, err = b.Send(b.Ctx, alice, "g", chat.Content{Kind: chat.Delete, Target: sent.ID}, "")
	b.Must(err)
}

func (b *bench) content(user, id string) string {
	b.T.Helper()
	_, kept, err := b.Open(b.Ctx, chattest.As(user), "g", id)
	b.Must(err)
	content, err := io.ReadAll(kept)
	b.Must(errors.Join(err, kept.Close()))
	return string(content)
}

// expire lets a day pass for the files of the group that no message names, and removes what is due.
func (b *bench) expire() {
	b.T.Helper()
	for _, id := range b.strings("ZRANGE", "chat:{p00}:g:g:files:unused", "0", "-1") {
		b.server.Do("ZADD", "chat:{p00}:g:g:files:unused", "XX", "1", id)
	}
	ids := b.strings("HKEYS", "chat:{p00}:g:g:files")
	_, err := b.Store.ExpireFiles(b.Ctx, "g")
	b.Must(err)
	for _, id := range ids {
		if found, err := b.Store.FileRecords(b.Ctx, "g", []string{id}); err != nil || len(found) > 0 {
			b.Must(err)
			continue
		}
		chattest.Done(b.T, b.Handlers()[files.TaskRemoved], files.RemovedTask{Group: "g", File: id, Owner: "alice"})
	}
}

func (b *bench) strings(command ...string) (list []string) {
	b.T.Helper()
	answer, _ := b.server.Do(command...).([]any)
	for _, one := range answer {
		list = append(list, fmt.Sprint(one))
	}
	return list
}

// leavesNothing checks that after a day there is neither record nor blob, and that the quota is free.
func (b *bench) leavesNothing(at int) {
	b.T.Helper()
	b.expire()
	f, err := b.Create(b.Ctx, alice, "g", files.Draft{Name: "n", Size: 1}) // settles what was reserved without a record
	if err != nil {
		b.T.Fatalf("killed at step %d: the quota is not free: %v", at, err)
	}
	b.Must(b.Remove(b.Ctx, alice, "g", f.ID))
	chattest.Done(b.T, b.Handlers()[files.TaskRemoved], files.RemovedTask{Group: "g", File: f.ID, Owner: "alice"})
	items, err := b.blobs.List(b.Ctx, "", 10)
	b.Must(err)
	var keys []string
	for _, key := range b.strings("KEYS", "*files*") {
		if !strings.Contains(key, ":q:") {
			keys = append(keys, key)
		}
	}
	keys = append(keys, b.strings("KEYS", "*uploads*")...)
	if len(items) > 0 || len(keys) > 0 {
		b.T.Fatalf("killed at step %d: left are %v %v", at, items, keys)
	}
}

// orphan puts bytes without a record into the folder, of three hours ago.
func (b *bench) orphan(id string) string {
	b.T.Helper()
	path := filepath.Join(b.folder, "blobs", id[:2], id)
	b.Must(os.MkdirAll(filepath.Dir(path), 0o700))
	b.Must(os.WriteFile(path, []byte("x"), 0o600))
	old := time.Now().Add(-3 * time.Hour)
	b.Must(os.Chtimes(path, old, old))
	return path
}

// noted lets eight days pass since a blob was first seen without a record.
func (b *bench) noted(id string) {
	b.T.Helper()
	b.server.Do("ZADD", "chat:{p00}:orphans", "XX", fmt.Sprint(time.Now().Add(-8*24*time.Hour).UnixMilli()), id)
}

func (b *bench) there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestOrphansAreKeptForAWeek: bytes without a record go late, and not at all where the store is not the one that they belong to.
func TestOrphansAreKeptForAWeek(t *testing.T) {
	b := newBench(t, 1)
	path := b.orphan("AAAA-0")
	for range 2 {
		b.Must(b.Compare(b.Ctx))
	}
	if !b.there(path) || !strings.Contains(b.log.String(), "level=WARN") {
		t.Fatalf("bytes without a record went at once; log: %s", b.log.String())
	}
	b.noted("AAAA-0")
	b.server.Do("SET", "chat:{p00}:blobs", "another")
	b.Must(b.Compare(b.Ctx))
	b.server.Do("DEL", "chat:{p00}:blobs")
	b.Must(b.Compare(b.Ctx))
	if !b.there(path) || !strings.Contains(b.log.String(), "level=ERROR") {
		t.Fatalf("a store that does not know the folder removed bytes; log: %s", b.log.String())
	}
	b.server.Do("SET", "chat:{p00}:blobs", b.blobs.Identity())
	for i := range files.OrphansMax {
		b.orphan(fmt.Sprintf("B%05d-0", i))
	}
	b.Must(b.Compare(b.Ctx))
	if !b.there(path) || !strings.Contains(b.log.String(), "older copy") {
		t.Fatalf("bytes went although the store knows none of them; log: %s", b.log.String())
	}
	for i := range files.OrphansMax {
		b.Must(b.blobs.Remove(b.Ctx, fmt.Sprintf("B%05d-0", i)))
	}
	b.server.Do("HSET", "chat:{p00}:files", "AAAA-0", "g") // its record is back
	b.Must(b.Compare(b.Ctx))
	b.server.Do("HDEL", "chat:{p00}:files", "AAAA-0")
	b.Must(b.Compare(b.Ctx)) // counts from now on
	if !b.there(path) {
		t.Fatal("bytes went that had a record in between")
	}
	b.noted("AAAA-0")
	b.Must(b.Compare(b.Ctx))
	if b.there(path) {
		t.Fatal("the bytes are still there after a week")
	}
	b.Must(b.Compare(b.Ctx))
	if left := b.strings("ZRANGE", "chat:{p00}:orphans", "0", "-1"); len(left) > 0 {
		t.Errorf("noted are %v", left)
	}
}

// TestRecordsWithoutBytes: an upload that has lost its bytes is removed, and a whole file is reported and stays.
func TestRecordsWithoutBytes(t *testing.T) {
	b := newBench(t, 5)
	var ids []string
	for _, sends := range []string{"hello", "hel"} {
		f, err := b.Create(b.Ctx, alice, "g", files.Draft{Name: "n", Size: 5})
		b.Must(err)
		_, err = b.Write(b.Ctx, alice, "g", f.ID, files.Piece{Body: strings.NewReader(sends)})
		b.Must(err)
		ids = append(ids, f.ID)
	}
	b.Must(b.Compare(b.Ctx))
	for _, id := range ids {
		if _, err := b.Get(b.Ctx, alice, "g", id); err != nil || b.log.Len() > 0 {
			t.Fatalf("a sound file: %v; log: %s", err, b.log.String())
		}
		b.Must(b.blobs.Remove(b.Ctx, id))
	}
	b.Must(b.Compare(b.Ctx))
	_, err := b.Get(b.Ctx, alice, "g", ids[1])
	b.Refused("an upload without bytes", err, chat.CodeNotFound)
	_, err = b.Get(b.Ctx, alice, "g", ids[0])
	b.Must(err)
	_, _, err = b.Open(b.Ctx, alice, "g", ids[0])
	b.Refused("a file without bytes", err, chat.CodeNotFound)
	record := b.server.Do("HGET", "chat:{p00}:g:g:files", ids[0]).(string)
	b.log.Reset()
	b.server.Do("HSET", "chat:{p00}:g:g:files", ids[0], "lost"+strings.TrimPrefix(record, "whole"))
	if _, _, err = b.Open(b.Ctx, alice, "g", ids[0]); err == nil || err.Error() != files.ErrGone.Error() {
		t.Errorf("a lost file: got %v", err)
	}
	b.Must(b.Compare(b.Ctx))
	if b.log.Len() > 0 {
		t.Errorf("what is known is logged again: %s", b.log.String())
	}
	_, err = b.Send(b.Ctx, alice, "g", chat.Content{Kind: chat.Text, Files: []chat.File{{ID: ids[0]}}}, "")
	b.Refused("naming a lost file", err, chat.CodeInvalid)
	b.Must(b.blobs.Put(b.Ctx, ids[0], strings.NewReader("hello")))
	if got := b.content("alice", ids[0]); got != "hello" {
		t.Errorf("a file whose bytes were restored reads %q", got)
	}
	b.Must(b.blobs.Remove(b.Ctx, ids[0]))
	b.server.Do("HSET", "chat:{p00}:g:g:files", ids[0], record)
	b.Must(b.Compare(b.Ctx))
	if !strings.Contains(b.log.String(), "level=ERROR") || !strings.Contains(b.log.String(), ids[0]) {
		t.Errorf("the log does not name it: %s", b.log.String())
	}
	chattest.Done(t, b.Handlers()[files.TaskRemoved], files.RemovedTask{Group: "g", File: ids[1], Owner: "alice"})
	if uploads := b.strings("KEYS", "*uploads*"); len(uploads) > 0 {
		t.Errorf("the quota is not free: %v", uploads)
	}
}

// TestUploadBegunTwice: the same draft with the same retry key is one upload, also for who got no answer.
func TestUploadBegunTwice(t *testing.T) {
	b := newBench(t, 5) // uploads at a time: the repeated one is not a sixth
	ids := map[string]int{}
	for _, d := range []files.Draft{{Name: "n", Size: 5, Key: "k"}, {Name: "n", Size: 5, Key: "k"}, {Name: "n", Size: 6, Key: "k"}, {Name: "n", Size: 5, Key: "l"}, {Name: "n", Size: 5}, {Name: "n", Size: 5}} {
		f, err := b.Create(b.Ctx, alice, "g", d)
		b.Must(err)
		ids[f.ID]++
	}
	if len(ids) != 5 {
		t.Errorf("six creations, of which one is repeated, made %v", ids)
	}
}
