package doctor_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/store/blob"
	"github.com/chatd/chatd/store/doctor"
)

// uploads makes files of alice's in the group g1: one that message names, and one that none does.
func (h *fixture) uploads() (message int64) {
	h.t.Helper()
	chattest.Work(h.t, h.Store, files.New(h.Service, h.Store, nil, files.Options{}))
	for _, id := range []string{"NAMED-0", "UNNAMED-0"} {
		h.Must(h.Store.ReserveFile(h.Ctx, "alice", "g1", id, 10_000))
		_, err := h.Store.CreateFile(h.Ctx, "g1", files.Record{ID: id, Owner: "alice", Size: 10_000, Hash: []byte("h"), JSON: []byte("{}")})
		h.Must(err)
		_, err = h.Store.LockFile(h.Ctx, "g1", "alice", id, "t", "", time.Minute)
		h.Must(err)
		_, err = h.Store.CommitFile(h.Ctx, files.Commit{Group: "g1", User: "alice", ID: id, Token: "t", Offset: 10_000, Hash: []byte("h"), Keep: time.Minute})
		h.Must(err)
		_, err = h.Store.FinishFile(h.Ctx, "g1", "alice", id, "t", []byte(`{"id":"`+id+`","name":"n","size":10000}`))
		h.Must(err)
		h.Must(h.Store.SettleFile(h.Ctx, "alice", id))
	}
	sent, err := h.Send(h.Ctx, chattest.As("alice"), "g1", chat.Content{Kind: chat.Text, Files: []chat.File{{ID: "NAMED-0"}}}, "")
	h.Must(err)
	return sent.ID
}

func TestFileDamage(t *testing.T) {
	for _, d := range []damage{
		{"HDEL {p}files NAMED-0", doctor.KindFile, "{g}files", true},
		{"HINCRBY {g}meta file_bytes 5", doctor.KindFile, "{g}meta", true},
		{"ZREM {g}files:unused UNNAMED-0", doctor.KindFile, "{g}files", true},
		{"ZADD {g}files:unused XX 1 UNNAMED-0", doctor.KindFile, "{g}files", true},
		{"ZREMRANGEBYRANK {g}files:named 0 0", doctor.KindFile, "{g}files", false},
		{"ZADD {g}files:named 5 5~NAMED-0~0~10000", doctor.KindFile, "{g}files:named", true},
		{"ZADD {g}files:named 6 6~NONE-0~0~10000", doctor.KindFile, "{g}files:named", true},
		{"INCRBY {u}alice:files:bytes 5", doctor.KindFile, "{u}alice:files:bytes", true},
		{"HSET {u}alice:files NONE-0 g1~5000~1", doctor.KindFile, "{u}alice:files", true},
		{"HSET {u}alice:uploads NONE-0 g1~5000~1", doctor.KindFile, "{u}alice:uploads", true},
	} {
		t.Run(d.command, func(t *testing.T) {
			h := newFixture(t)
			h.live("g1")
			h.uploads()
			h.breaks(t, d)
		})
	}
}

// TestBytesAndRecords: the doctor names bytes without a record, which a repair removes, and whole files without bytes, which it marks.
func TestBytesAndRecords(t *testing.T) {
	h := newFixture(t)
	h.live("g1")
	h.uploads()
	folder := t.TempDir()
	kept, err := blob.Open(h.Ctx, "dir:"+folder)
	h.Must(err)
	for _, id := range []string{"NAMED-0", "NAMED-0-preview", "ORPHAN-0", "ORPHAN2-0-preview"} {
		h.Must(kept.Put(h.Ctx, id, strings.NewReader("x")))
		old := time.Now().Add(-3 * time.Hour)
		h.Must(os.Chtimes(filepath.Join(folder, "blobs", id[:2], id), old, old))
	}
	h.Must(kept.Put(h.Ctx, "YOUNG-0", strings.NewReader("x")))
	examine := func(repair bool) (found []string) {
		d, err := doctor.New(h.Store, doctor.Options{Repair: repair, Blobs: kept})
		h.Must(err)
		report, err := d.Run(h.Ctx)
		h.Must(err)
		for _, f := range report.Findings {
			found = append(found, f.Message)
		}
		slices.Sort(found)
		return found
	}
	want := []string{"has UNNAMED-0, whose bytes are missing", "the bytes of ORPHAN-0 have no record", "the bytes of ORPHAN2-0-preview have no record"}
	for _, repair := range []bool{false, true} {
		if got := examine(repair); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	// What was repaired is found no more; a file that was marked is whole again once its bytes are restored.
	if got := examine(false); len(got) > 0 {
		t.Errorf("after a repair: got %q", got)
	}
	h.Must(kept.Put(h.Ctx, "UNNAMED-0", strings.NewReader("x")))
	again := []string{"has UNNAMED-0 as lost, whose bytes are there"}
	if got := examine(true); !slices.Equal(got, again) {
		t.Errorf("restored: got %q, want %q", got, again)
	}
	if got := examine(false); len(got) > 0 {
		t.Errorf("after a repair of what was restored: got %q", got)
	}
}
