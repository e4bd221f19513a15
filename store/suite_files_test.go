package store_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/queue"
)

// lease is longer than any step of a test, and so never runs out in one.
const lease = time.Hour

var fileTests = map[string]func(*fixture){
	"ids": func(w *fixture) {
		id := w.NewFileID("g", "")
		if !chat.ValidID(id) || id == w.NewFileID("g", "") || strings.HasPrefix(id, w.NewFileID("g", "")[:4]) {
			w.Fatalf("got the id %s", id)
		}
		id = w.NewFileID("g", "one")
		if !chat.ValidID(id) || id != w.NewFileID("g", "one") || id == w.NewFileID("g", "other") {
			w.Fatalf("got the id %s for a creation", id)
		}
	},
	"reserve": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.UserFilesBytesMax, l.UserUploadsMax = 10_000, 2 })
		w.ok(w.ReserveFile(w.ctx, "ann", "g", w.f("A"), 6000))
		w.ok(w.ReserveFile(w.ctx, "ann", "g", w.f("A"), 6000)) // again: nothing changes
		w.fails(w.ReserveFile(w.ctx, "ann", "g", w.f("B"), 4001), files.ErrQuota)
		w.ok(w.ReserveFile(w.ctx, "bob", "g", w.f("B"), 4001)) // another's
		w.ok(w.ReserveFile(w.ctx, "ann", "g", w.f("C"), 4000))
		w.ok(w.ReleaseFile(w.ctx, "ann", w.f("C")))
		w.ok(w.ReleaseFile(w.ctx, "ann", w.f("C"))) // again: nothing changes
		w.ok(w.ReserveFile(w.ctx, "ann", "g", w.f("D"), 1))
		if err := w.ReserveFile(w.ctx, "ann", "g", w.f("E"), 1); !strings.Contains(fmt.Sprint(err), "uploads") {
			w.Fatalf("got %v, want one about uploads under way", err)
		}
		uploads, err := w.Uploads(w.ctx, "ann")
		w.ok(err)
		w.equal([]any{len(uploads), uploads[w.f("A")].Group, uploads[w.f("D")].Group}, []any{2, "g", "g"})
		w.ok(w.SettleFile(w.ctx, "ann", w.f("A")))
		w.ok(w.SettleFile(w.ctx, "ann", w.f("A")))
		w.ok(w.ReserveFile(w.ctx, "ann", "g", w.f("A"), 6000)) // still held
		w.ok(w.ReserveFile(w.ctx, "ann", "g", w.f("E"), 3999))
		w.ok(w.ReleaseFile(w.ctx, "ann", w.f("D")))
		w.fails(w.ReserveFile(w.ctx, "ann", "g", w.f("F"), 2), files.ErrQuota)
		w.ok(w.ReleaseFile(w.ctx, "ann", w.f("A")))
		w.ok(w.ReleaseFile(w.ctx, "ann", w.f("E")))
		w.ok(w.ReserveFile(w.ctx, "ann", "g", w.f("G"), 10_000))
	},
	"fifty race for the last of a quota": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.UserFilesBytesMax, l.UserUploadsMax = 1<<20, 100 })
		var taken atomic.Int64
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if w.ReserveFile(w.ctx, "ann", "g", w.f(fmt.Sprint("F", i)), 100_000) == nil {
					taken.Add(1)
				}
			})
		}
		all.Wait()
		w.equal(taken.Load(), int64(10))
	},
	"create": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.GroupFilesBytesMax = 10_000 })
		_, err := w.CreateFile(w.ctx, "g", draft(w.f("A"), "alice", 10))
		w.fails(err, chat.ErrNotFound)
		w.group("g", []string{"bob"})
		for _, user := range []string{"alice", "bob"} {
			r, err := w.CreateFile(w.ctx, "g", draft(w.f(user), user, 10))
			w.ok(err)
			again, err := w.CreateFile(w.ctx, "g", draft(w.f(user), user, 99))
			w.ok(err)
			w.equal(again, r)
			w.equal([]any{r.ID, r.Owner, r.Size, r.Offset, r.Whole, string(r.Hash), string(r.JSON), len(r.Refs)},
				[]any{w.f(user), user, int64(10), int64(0), false, "state", `{"name":"a b"}`, 0})
			if left := r.Expires.Sub(r.Created); left != 24*time.Hour {
				w.Fatalf("it expires after %v", left)
			}
		}
		_, err = w.CreateFile(w.ctx, "g", draft(w.f("carl"), "carl", 10))
		w.fails(err, chat.ErrNotFound)
		_, err = w.CreateFile(w.ctx, "g", draft(w.f("big"), "alice", 10)) // two count 4096 each
		w.fails(err, files.ErrQuota)
		groups, err := w.GroupsOfFiles(w.ctx, []string{w.f("alice"), w.f("absent"), w.f("alice") + "-preview", "x", "alice-999"})
		w.ok(err)
		w.equal(groups, []string{"g", "", "g", "", ""})
		w.group("p", []string{"bob"}, public, func(g *chat.NewGroup) { g.Post = chat.PostAdmins })
		for user, want := range map[string]error{"bob": chat.ErrForbidden, "carl": chat.ErrForbidden, "alice": nil} {
			_, err := w.CreateFile(w.ctx, "p", draft(w.f("P"+user), user, 10))
			w.fails(err, want)
		}
	},
	"lock and commit": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.upload(w.f("F"), 10)
		_, err := w.LockFile(w.ctx, "g", "alice", w.f("F"), "n1.a", "", lease)
		w.ok(err)
		_, err = w.LockFile(w.ctx, "g", "alice", w.f("F"), "n2.b", "", lease)
		w.equal(err, error(files.ErrLocked))
		for user, id := range map[string]string{"bob": w.f("F"), "alice": w.f("absent"), "carl": w.f("F")} {
			_, err = w.LockFile(w.ctx, "g", user, id, "n2.b", "n2.", lease)
			w.fails(err, chat.ErrNotFound)
		}
		_, err = w.CommitFile(w.ctx, files.Commit{Group: "g", User: "alice", ID: w.f("F"), Token: "n2.b", Offset: 3, Hash: []byte("h"), Keep: lease})
		w.equal(err, error(files.ErrLost))
		r, err := w.CommitFile(w.ctx, files.Commit{Group: "g", User: "alice", ID: w.f("F"), Token: "n1.a", Offset: 3, Hash: []byte("h3"), Keep: lease})
		w.ok(err)
		w.equal([]any{r.Offset, string(r.Hash)}, []any{int64(3), "h3"})
		_, err = w.LockFile(w.ctx, "g", "alice", w.f("F"), "n1.b", "n1.", lease) // the own lock counts
		w.equal(err, error(files.ErrLocked))
		_, err = w.LockFile(w.ctx, "g", "alice", w.f("F"), "n2.b", "n2.", lease) // that of another process does not
		w.ok(err)
		_, err = w.CommitFile(w.ctx, files.Commit{Group: "g", User: "alice", ID: w.f("F"), Token: "n1.a", Offset: 5, Hash: []byte("h5"), Keep: lease})
		w.equal(err, error(files.ErrLost))
		_, err = w.CommitFile(w.ctx, files.Commit{Group: "g", User: "alice", ID: w.f("F"), Token: "n2.b", Offset: 4, Hash: []byte("h4")}) // gives it back
		w.ok(err)
		r, err = w.LockFile(w.ctx, "g", "alice", w.f("F"), "n3.c", "", time.Millisecond)
		w.ok(err)
		w.equal(r.Offset, int64(4))
		for { // until the lease is over
			_, err = w.LockFile(w.ctx, "g", "alice", w.f("F"), "n4.d", "", lease)
			if err == nil {
				break
			}
			w.equal(err, error(files.ErrLocked))
		}
		w.leave("g", "alice") // in the middle
		_, err = w.CommitFile(w.ctx, files.Commit{Group: "g", User: "alice", ID: w.f("F"), Token: "n4.d", Offset: 5, Hash: []byte("h5"), Keep: lease})
		w.fails(err, chat.ErrNotFound)
	},
	"renew": func(w *fixture) {
		w.group("g", nil)
		w.upload(w.f("F"), 10)
		w.equal(w.RenewFile(w.ctx, "g", w.f("F"), "n1.a", lease), error(files.ErrLost)) // nobody has it
		_, err := w.LockFile(w.ctx, "g", "alice", w.f("F"), "n1.a", "", time.Millisecond)
		w.ok(err)
		w.ok(w.RenewFile(w.ctx, "g", w.f("F"), "n1.a", lease)) // also after the lease, if nobody has taken over
		_, err = w.LockFile(w.ctx, "g", "alice", w.f("F"), "n2.b", "", lease)
		w.equal(err, error(files.ErrLocked))
		_, err = w.LockFile(w.ctx, "g", "alice", w.f("F"), "n2.b", "n2.", lease) // takes over
		w.ok(err)
		w.equal(w.RenewFile(w.ctx, "g", w.f("F"), "n1.a", lease), error(files.ErrLost))
		w.equal(w.RenewFile(w.ctx, "g", w.f("absent"), "n2.b", lease), error(files.ErrLost))
		_, err = w.CommitFile(w.ctx, files.Commit{Group: "g", User: "alice", ID: w.f("F"), Token: "n2.b", Offset: 4, Hash: []byte("h4")})
		w.ok(err)
		w.equal(w.RenewFile(w.ctx, "g", w.f("F"), "n2.b", lease), error(files.ErrLost)) // it was given back
	},
	"finish and read": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.upload(w.f("F"), 10)
		read := func(user string, want error) files.Record {
			w.Helper()
			r, err := w.ReadFile(w.ctx, "g", user, w.f("F"))
			w.fails(err, want)
			return r
		}
		w.equal(read("alice", nil).Whole, false)
		_, err := w.LockFile(w.ctx, "g", "alice", w.f("F"), "t", "", lease)
		w.ok(err)
		_, err = w.FinishFile(w.ctx, "g", "alice", w.f("F"), "t", []byte(`{"whole":1}`))
		w.equal(err, error(files.ErrLost)) // not all bytes are there
		_, err = w.CommitFile(w.ctx, files.Commit{Group: "g", User: "alice", ID: w.f("F"), Token: "t", Offset: 10, Hash: []byte("h"), Keep: lease})
		w.ok(err)
		_, err = w.FinishFile(w.ctx, "g", "alice", w.f("F"), "other", []byte(`{"whole":1}`))
		w.equal(err, error(files.ErrLost))
		for range 2 {
			r, err := w.FinishFile(w.ctx, "g", "alice", w.f("F"), "t", []byte(`{"whole":1}`))
			w.ok(err)
			w.equal([]any{r.Whole, string(r.JSON), r.Offset, len(r.Hash)}, []any{true, `{"whole":1}`, int64(10), 0})
		}
		r, err := w.LockFile(w.ctx, "g", "alice", w.f("F"), "u", "", lease) // has none
		w.ok(err)
		w.equal(r.Whole, true)
		w.equal(read("alice", nil), r)
		read("bob", chat.ErrNotFound) // no message names it
		read("carl", chat.ErrNotFound)
		found, err := w.FileRecords(w.ctx, "g", []string{w.f("absent"), w.f("F")})
		w.ok(err)
		w.equal(found, []files.Record{r})
	},
	"remove": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.upload(w.f("F"), 10_000)
		w.fails(w.RemoveFile(w.ctx, "g", "bob", w.f("F")), chat.ErrNotFound)
		w.fails(w.RemoveFile(w.ctx, "g", "carl", w.f("F")), chat.ErrNotFound)
		w.ok(w.RemoveFile(w.ctx, "g", "alice", w.f("F")))
		w.fails(w.RemoveFile(w.ctx, "g", "alice", w.f("F")), chat.ErrNotFound)
		w.removedFiles(w.f("F"))
	},
	"expire": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.FileUnused = time.Millisecond })
		w.group("g", []string{"bob"})
		var want []string
		for i := range 150 {
			id := w.f(fmt.Sprint("F", i))
			w.upload(id, 10)
			want = append(want, id)
		}
		_, err := w.ReadFile(w.ctx, "g", "alice", w.f("F0"))
		for err == nil {
			_, err = w.ReadFile(w.ctx, "g", "alice", w.f("F0"))
		}
		w.fails(err, chat.ErrNotFound) // before the task comes
		for more := true; more; {
			more, err = w.ExpireFiles(w.ctx, "g")
			w.ok(err)
		}
		w.removedFiles(want...)
		more, err := w.ExpireFiles(w.ctx, "absent")
		w.ok(err)
		w.equal(more, false)
	},
	"a hold keeps what a deleted message names": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.whole("F")
		id := w.send(w.naming("alice", "F")).ID
		w.ok(second(w.PutHold(w.ctx, operator, "g", chat.Hold{Reason: "case", By: "root", Since: chat.TimeMs(1)})))
		w.deleteMessage(id)
		w.expireFiles()
		w.ok(w.DropFile(w.ctx, "g", "alice", w.f("F")))
		held, err := w.HeldFile(w.ctx, "g", w.f("F"))
		w.ok(err)
		w.equal(held.Owner, "alice")
		w.ok(second(w.ReleaseHold(w.ctx, operator, "g")))
		w.fails(second(w.HeldFile(w.ctx, "g", w.f("F"))), chat.ErrNotFound)
		w.ok(w.DropFile(w.ctx, "g", "alice", w.f("F")))
		w.removedFiles(w.f("F"))
	},
	"a deleted group": func(w *fixture) {
		w.group("g", []string{"bob"})
		var want []string
		for i := range 150 {
			id := w.f(fmt.Sprint("F", i))
			w.upload(id, 10)
			want = append(want, id)
		}
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		_, err := w.Groups.Cleanup(w.ctx, "g", []string{"alice", "bob"})
		w.ok(err)
		w.fails(w.CreateGroup(w.ctx, newGroup("g", nil)), chat.ErrGone)
		for more := true; more; {
			more, err = w.GoneFiles(w.ctx, "g")
			w.ok(err)
		}
		w.removedFiles(want...)
		w.group("g", nil)
		w.fails(second(w.ReadFile(w.ctx, "g", "alice", w.f("F0"))), chat.ErrNotFound)
	},
	"messages name files": func(w *fixture) {
		w.group("g", []string{"bob"}, noHistory)
		w.whole("F")
		w.fails(second(w.ReadFile(w.ctx, "g", "bob", w.f("F"))), chat.ErrNotFound)
		for _, ids := range [][]string{{w.f("F"), w.f("absent")}, {w.f("absent")}} {
			_, err := w.SendableFiles(w.ctx, "g", "alice", ids)
			w.equal(err, error(files.ErrNotSendable))
		}
		w.upload(w.f("open"), 10)
		for user, name := range map[string]string{"bob": "F", "alice": "open"} {
			_, err := w.SendableFiles(w.ctx, "g", user, []string{w.f(name)})
			w.equal(err, error(files.ErrNotSendable))
			_, err = w.Append(w.ctx, w.naming(user, name))
			w.equal(err, error(files.ErrNotSendable))
		}
		found, err := w.SendableFiles(w.ctx, "g", "alice", []string{w.f("F")})
		w.ok(err)
		w.equal(found, []chat.File{{ID: w.f("F"), Name: "n", Size: 10}})
		a := w.naming("alice", "F")
		a.Key, a.Content = "k", "c"
		first := w.send(a)
		again := w.send(a)
		w.equal([]any{again.ID, again.Duplicate}, []any{first.ID, true})
		r, err := w.ReadFile(w.ctx, "g", "bob", w.f("F"))
		w.ok(err)
		w.equal([]any{r.Named, r.Refs}, []any{true, []int64{first.ID}})
		w.equal(w.RemoveFile(w.ctx, "g", "alice", w.f("F")), error(files.ErrUsed))
		w.join("g", "carl", "alice")
		w.fails(second(w.ReadFile(w.ctx, "g", "carl", w.f("F"))), chat.ErrNotFound) // sees nothing from before
		w.fails(second(w.ReadFile(w.ctx, "g", "dora", w.f("F"))), chat.ErrNotFound)
		newest := w.send(w.naming("alice", "F")).ID
		w.ok(second(w.ReadFile(w.ctx, "g", "carl", w.f("F"))))

		w.deleteMessage(newest)
		w.fails(second(w.ReadFile(w.ctx, "g", "carl", w.f("F"))), chat.ErrNotFound)
		w.ok(second(w.ReadFile(w.ctx, "g", "bob", w.f("F"))))
		w.expireFiles() // the other message still names it
		w.ok(second(w.ReadFile(w.ctx, "g", "bob", w.f("F"))))
		w.deleteMessage(first.ID)
		for _, user := range []string{"alice", "bob"} {
			w.fails(second(w.ReadFile(w.ctx, "g", user, w.f("F"))), chat.ErrNotFound)
		}
		w.expireFiles()
		w.removedFiles(w.f("F"))
		a.FilesGone = true
		again = w.send(a) // is answered all the same
		w.equal([]any{again.ID, again.Duplicate}, []any{first.ID, true})
		a.FilesGone, a.Content = false, "other"
		w.fails(second(w.Append(w.ctx, a)), chat.ErrKeyReused)
		a.Key = "new"
		w.equal(second(w.Append(w.ctx, a)), error(files.ErrNotSendable))
		w.whole("G")
		b := w.naming("alice", "G")
		b.Key, b.Content, b.FilesGone = "newer", "c", true
		w.equal(second(w.Append(w.ctx, b)), error(files.ErrNotSendable)) // it came in between
	},
	"an empty file": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.wholeOf("F", 0)
		id := w.send(w.naming("alice", "F")).ID
		w.ok(second(w.ReadFile(w.ctx, "g", "bob", w.f("F"))))
		w.deleteMessage(id)
		w.fails(second(w.ReadFile(w.ctx, "g", "bob", w.f("F"))), chat.ErrNotFound)
		w.expireFiles()
		w.removedFiles(w.f("F"))
	},
	"trimmed messages name nothing": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(0))
		w.whole("F")
		id := w.send(w.naming("alice", "F")).ID
		w.expireFiles()
		w.ok(second(w.ReadFile(w.ctx, "g", "bob", w.f("F"))))
		w.ack("g", "alice", id)
		w.ok(second(w.ReadFile(w.ctx, "g", "bob", w.f("F"))))
		w.ack("g", "bob", id)
		w.fails(second(w.ReadFile(w.ctx, "g", "bob", w.f("F"))), chat.ErrNotFound)
		w.expireFiles()
		w.removedFiles(w.f("F"))
	},
	"more trimmed messages than one step takes": func(w *fixture) {
		w.group("g", nil, keep(0))
		var want []string
		var last int64
		for range 11 {
			a := text("g", "alice", "see")
			for range 10 {
				name := fmt.Sprint("F", len(want))
				w.whole(name)
				want, a.Files = append(want, w.f(name)), append(a.Files, w.f(name))
			}
			last = w.send(a).ID
		}
		w.ack("g", "alice", last)
		steps := 0
		for more := true; more; steps++ {
			var err error
			more, err = w.ExpireFiles(w.ctx, "g")
			w.ok(err)
		}
		w.equal(steps, 2)
		w.removedFiles(want...)
	},
	"erased messages name nothing": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.whole("F")
		id := w.send(w.naming("alice", "F")).ID
		w.eraseEntry(w.deletes("g", id, w.entry("g", id)))
		w.fails(second(w.ReadFile(w.ctx, "g", "bob", w.f("F"))), chat.ErrNotFound)
		w.expireFiles()
		w.removedFiles(w.f("F"))
	},
	"what is compared": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.upload(w.f("AB"), 10)
		w.upload(w.f("AC"), 10)
		w.upload(w.f("BD"), 10)
		found, err := w.FileIDs(w.ctx, "A")
		w.ok(err)
		w.equal(found, map[string]string{w.f("AB"): "g", w.f("AC"): "g"})
		ages, err := w.NoteOrphans(w.ctx, []string{"one", "two"})
		w.ok(err)
		w.equal(ages, []time.Duration{0, 0})
		for ages[1] == 0 {
			ages, err = w.NoteOrphans(w.ctx, []string{"two"})
			w.ok(err)
			w.equal(len(ages), 1)
			ages = append(ages, ages[0])
		}
		ages, err = w.NoteOrphans(w.ctx, []string{"one", "two"})
		w.ok(err)
		if ages[0] != 0 || ages[1] == 0 {
			w.Errorf("noted for %v, want only the second for some time", ages)
		}
	},
	"the files of an erased user": func(w *fixture) {
		w.group("g", []string{"bob"})
		for _, name := range []string{"named", "unnamed", "erased"} {
			w.ok(w.ReserveFile(w.ctx, "alice", "g", w.f(name), 10))
			w.whole(name)
			w.ok(w.SettleFile(w.ctx, "alice", w.f(name)))
		}
		w.ok(w.ReserveFile(w.ctx, "alice", "g", w.f("open"), 10))
		w.upload(w.f("open"), 10)
		w.ok(w.ReserveFile(w.ctx, "bob", "g", w.f("bobs"), 10))
		_, err := w.CreateFile(w.ctx, "g", draft(w.f("bobs"), "bob", 10))
		w.ok(err)
		w.send(w.naming("alice", "named")) // a legal hold would keep it
		id := w.send(w.naming("alice", "erased")).ID
		w.eraseEntry(w.deletes("g", id, w.entry("g", id)))
		w.leave("g", "alice")
		for range 2 {
			w.ok(w.EraseFiles(w.ctx, "alice"))
			w.removedFiles(w.f("unnamed"), w.f("erased"), w.f("open"))
			w.ok(second(w.ReadFile(w.ctx, "g", "bob", w.f("named"))))
			w.ok(second(w.ReadFile(w.ctx, "g", "bob", w.f("bobs"))))
		}
	},
	"the blob store": func(w *fixture) {
		for _, c := range [][2]string{{"", ""}, {"one", "one"}, {"", "one"}, {"two", "one"}} {
			got, err := w.RecordBlobs(w.ctx, c[0])
			w.ok(err)
			w.equal(got, c[1])
		}
	},
}

func draft(id, owner string, size int64) files.Record {
	return files.Record{ID: id, Owner: owner, Size: size, Hash: []byte("state"), JSON: []byte(`{"name":"a b"}`)}
}

// whole uploads a whole file of alice's to the group g.
func (w *fixture) whole(name string) {
	w.Helper()
	w.wholeOf(name, 10)
}

func (w *fixture) wholeOf(name string, size int64) {
	w.Helper()
	w.upload(w.f(name), size)
	_, err := w.LockFile(w.ctx, "g", "alice", w.f(name), "t", "", lease)
	w.ok(err)
	_, err = w.CommitFile(w.ctx, files.Commit{Group: "g", User: "alice", ID: w.f(name), Token: "t", Offset: size, Hash: []byte("h"), Keep: lease})
	w.ok(err)
	_, err = w.FinishFile(w.ctx, "g", "alice", w.f(name), "t", fmt.Appendf(nil, `{"id":"%s","name":"n","size":%d}`, w.f(name), size))
	w.ok(err)
}

// naming is a text that names a file.
func (w *fixture) naming(user, name string) chat.Append {
	a := text("g", user, "see")
	a.Files = []string{w.f(name)}
	return a
}

func (w *fixture) deleteMessage(id int64) {
	w.Helper()
	a, changes := revision(w, chat.Delete, "alice", id)
	w.ok(second(w.Revise(w.ctx, a, changes, false)))
}

// expireFiles does what the task does.
func (w *fixture) expireFiles() {
	w.Helper()
	_, err := w.ExpireFiles(w.ctx, "g")
	w.ok(err)
}

// f makes the id of a file of the group g.
func (w *fixture) f(name string) string {
	return fmt.Sprintf("%s-%d", name, queue.Partition("g", w.Partitions()))
}

// upload begins an upload of alice's in the group g.
func (w *fixture) upload(id string, size int64) {
	w.Helper()
	_, err := w.CreateFile(w.ctx, "g", draft(id, "alice", size))
	w.ok(err)
}

// removedFiles checks that nothing is known of these files of alice's any longer, and that one task waits to remove the bytes of each.
func (w *fixture) removedFiles(ids ...string) {
	w.Helper()
	found, err := w.FileRecords(w.ctx, "g", ids)
	w.ok(err)
	groups, err := w.GroupsOfFiles(w.ctx, ids)
	w.ok(err)
	w.equal([]any{len(found), strings.Join(groups, "")}, []any{0, ""})
	c, err := w.TaskClient(queue.Options{Queue: chat.QueueCore})
	w.ok(err)
	for _, id := range ids {
		task, err := c.Get(w.ctx, fmt.Sprintf("p%02d-file:%s", queue.Partition("g", w.Partitions()), id))
		w.ok(err)
		w.equal([]any{task.Kind, string(task.Payload)},
			[]any{files.TaskRemoved, fmt.Sprintf(`{"group":"g","file":"%s","owner":"alice"}`, id)})
	}
}
