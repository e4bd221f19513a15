package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/script"
)

var (
	fileScript        = newReader("file", groupNames)
	namingScript      = newReader("naming", groupNames)
	fixFileScript     = newScript("fix_file", groupNames)
	fixLostScript     = newScript("fix_lost", groupNames)
	fixNamingScript   = newScript("fix_naming", groupNames)
	fixGroupSumScript = newScript("fix_group_sum", groupNames)
	fixSumScript      = newScript("fix_sum", userNames)
)

const (
	filesStep  = 100            // files that one script examines
	overdueMax = 24 * time.Hour // after its time, a file without a message should be gone; tasks may have to wait
	reserveMax = 2 * time.Hour  // that a reservation may be without a record
	countedMin = int64(4096)    // what a file counts at least
	orphanMin  = 2 * time.Hour  // how old bytes without a record have to be
)

// storedFiles examines the records of files, what names them, quotas, and the bytes.
type storedFiles struct {
	*exam
	tasks  *taskList
	marked map[string]string // files that are marked as lost, and the group of each
}

// files examines the records of the files of a group, and what they take.
func (d *storedFiles) files(ctx context.Context, g groupKeys) error {
	return d.sum(ctx, g.base+"meta", func() (string, error) {
		was, err := d.store.Client().HGet(ctx, g.base+"meta", "file_bytes").Result()
		return was, unlessNil(err)
	}, func() (sum int64, err error) {
		err = d.pages(ctx, g.base+"files", func(ids, texts []string) error {
			for i, text := range texts {
				sum += max(countedMin, field(text, 2))
				if strings.HasPrefix(text, "lost ") && len(d.marked) < findingsMax {
					d.marked[ids[i]] = g.id
				}
			}
			return d.fileRecords(ctx, g, ids)
		})
		return sum, err
	}, func(was, total string) script.Call { return fixGroupSumScript.On(g).Arg("was", was).Arg("now", total) })
}

// sum compares a count of bytes with what it counts. One that is not there, or that changes all the time, is not compared.
func (d *storedFiles) sum(ctx context.Context, key string, read func() (string, error), count func() (int64, error),
	fix func(was, total string) script.Call,
) error {
	for range suspectTries {
		was, err := read()
		if err != nil || was == "" {
			return err
		}
		bytes, err := count()
		if err != nil {
			return err
		}
		now, err := read()
		if err != nil {
			return err
		}
		if total := strconv.FormatInt(bytes, 10); now == was && total != was {
			return d.found(ctx, Finding{Kind: KindFile, Key: key, Message: fmt.Sprintf("counts %s bytes of files, but they have %s", was, total),
				Repair: "correct the count", fix: func(ctx context.Context) error { return d.corrected(ctx, fix(was, total)) }})
		} else if now == was {
			return nil
		}
	}
	return nil
}

// fileRecords examines some records of files.
func (d *storedFiles) fileRecords(ctx context.Context, g groupKeys, ids []string) error {
	r, err := d.run.do(ctx, fileScript.On(g).List("ids", ids))
	if err != nil {
		return err
	}
	for row := range slices.Chunk(r, 7) {
		id, unused := row.Text(0), row.Text(2) != ""
		fix := func(unused bool) func(context.Context) error {
			return func(ctx context.Context) error {
				if _, err := d.run.do(ctx, fixFileScript.On(g).Arg("group", g.id).Arg("file", id).Arg("unused", unused)); err != nil || !unused {
					return err
				}
				_, err := d.store.ExpireFiles(ctx, g.id)
				return err
			}
		}
		f := Finding{Kind: KindFile, Key: g.base + "files"}
		shown, err := d.shows(ctx, g, id, row)
		if err != nil {
			return err
		}
		switch overdue := time.Duration(row.Number(5)) * time.Millisecond; {
		case row.Text(1) != g.id:
			f.Message, f.Repair, f.fix = fmt.Sprintf("has %s, which files does not list", id), "list it", fix(false)
		case shown > 0:
			f.Message = fmt.Sprintf("has %s, which message %d shows and files:named does not list", id, shown)
		case row.Number(3) == 0 && !unused:
			f.Message, f.Repair, f.fix = fmt.Sprintf("has %s, which no message names and nothing removes", id), "remove it", fix(true)
		case row.Number(4) == 0 && overdue > overdueMax:
			f.Message, f.Repair, f.fix = fmt.Sprintf("has %s, which should be gone for %v", id, overdue.Round(time.Hour)), "remove it", fix(true)
		default:
			continue
		}
		if err := d.found(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// shows looks for a message that shows a file although files:named lists none; 0: there is none.
func (d *storedFiles) shows(ctx context.Context, g groupKeys, id string, row script.Reply) (int64, error) {
	if row.Number(3) > 0 || row.Text(2) != "" || row.Text(6) == "-" {
		return 0, nil
	}
	var refs []int64
	for ref := range strings.SplitSeq(row.Text(6), ",") {
		refs = append(refs, script.Number(ref))
	}
	messages, err := d.store.Entries(ctx, g.id, refs)
	for _, m := range messages {
		if strings.Contains(string(m.JSON), `{"id":"`+id+`"`) {
			return m.ID, err
		}
	}
	return 0, err
}

// naming compares what the messages of a group name with the records of files.
func (d *storedFiles) naming(ctx context.Context, g groupKeys) error {
	for from := int64(0); ; from += filesStep {
		r, err := d.run.do(ctx, namingScript.On(g).Arg("from", int(from)).Arg("limit", filesStep))
		if err != nil {
			return err
		}
		for row := range slices.Chunk(r[1:], 3) {
			message, id := row.Number(0), row.Text(1)
			f := Finding{Kind: KindFile, Key: g.base + "files:named", Message: fmt.Sprintf("names %s in %d, which the file does not know of", id, message),
				Repair: "note it at the file", fix: d.runs(fixNamingScript.On(g).Arg("file", id).Arg("message", int(message)))}
			if row.Number(2) == 0 {
				f.Message, f.Repair = fmt.Sprintf("names %s in %d, which has no record", id, message), "drop the name"
			}
			if err := d.found(ctx, f); err != nil {
				return err
			}
		}
		if r.Number(0) < filesStep {
			return nil
		}
	}
}

// quota compares what a user holds with the records of these files, and with the sum.
func (d *storedFiles) quota(ctx context.Context, u userKeys) error {
	return d.sum(ctx, u.base+"files:bytes", func() (string, error) {
		was, err := d.store.Client().Get(ctx, u.base+"files:bytes").Result()
		return cmp.Or(was, "0"), unlessNil(err)
	}, func() (sum int64, err error) {
		for _, key := range []string{"uploads", "files"} {
			err = errors.Join(err, d.pages(ctx, u.base+key, func(ids, texts []string) error {
				for i, text := range texts {
					sum += field(text, 1)
					if err := d.reservation(ctx, u, key, ids[i], text); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		return sum, err
	}, func(was, total string) script.Call { return fixSumScript.On(u).Arg("was", was).Arg("now", total) })
}

// reservation finds quota that is taken by no file: the record is gone, and no task frees it.
func (d *storedFiles) reservation(ctx context.Context, u userKeys, key, id, text string) error {
	group, _, _ := strings.Cut(text, " ")
	found, err := d.store.FileRecords(ctx, group, []string{id})
	if err != nil || len(found) > 0 || time.Since(time.UnixMilli(field(text, 2))) < reserveMax {
		return err
	}
	if waits, err := d.tasks.removes(ctx, id); err != nil || waits {
		return err
	}
	if gone, err := d.store.Client().HExists(ctx, d.keys.group(group).base+"gone:files", id).Result(); err != nil || gone {
		return err
	}
	return d.found(ctx, Finding{Kind: KindFile, Key: u.base + key, Message: fmt.Sprintf("holds %d bytes for %s, which has no record", field(text, 1), id),
		Repair: "free them", fix: func(ctx context.Context) error { return d.store.ReleaseFile(ctx, u.id, id) }})
}

// blobs compares the folder or bucket with the records. Bytes without a record are removed only by a repair that finds few of them.
func (d *storedFiles) blobs(ctx context.Context) error {
	if d.opt.Blobs == nil {
		return nil
	}
	lost := map[string]string{}
	for _, letter := range fileLetters {
		ids, err := d.store.FileIDs(ctx, string(letter))
		if err != nil {
			return err
		}
		if err := d.someBlobs(ctx, string(letter), ids); err != nil {
			return err
		}
		if err := d.foundAgain(ctx, string(letter), ids); err != nil {
			return err
		}
		for id, group := range ids {
			lost[id] = group
			if len(lost) > findingsMax {
				break
			}
		}
	}
	for id, group := range lost {
		found, err := d.store.FileRecords(ctx, group, []string{id})
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].Lost || !found[0].Whole && found[0].Offset == 0 {
			continue
		}
		f := Finding{Kind: KindFile, Key: d.keys.group(group).base + "files", Message: fmt.Sprintf("has %s, whose bytes are missing", id)}
		if !found[0].Whole {
			f.Repair, f.fix = "remove the upload", func(ctx context.Context) error { return d.store.DropFile(ctx, group, found[0].Owner, id) }
		} else {
			f.Repair, f.fix = "mark it as lost, unless its bytes can be restored", d.markLost(group, id, true)
		}
		if err := d.found(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// markLost marks a file as lost or whole. Readers of a lost one learn why it is not there, and nobody can send it.
func (d *storedFiles) markLost(group, id string, lost bool) func(context.Context) error {
	return d.runs(fixLostScript.On(d.keys.group(group)).Arg("file", id).Arg("lost", lost))
}

// foundAgain finds files that are marked as lost and whose bytes are there. missing are the ids without bytes, of those that begin
// with a letter.
func (d *storedFiles) foundAgain(ctx context.Context, letter string, missing map[string]string) error {
	for id, group := range d.marked {
		if _, gone := missing[id]; gone || !strings.HasPrefix(id, letter) {
			continue
		}
		err := d.found(ctx, Finding{Kind: KindFile, Key: d.keys.group(group).base + "files", Message: fmt.Sprintf("has %s as lost, whose bytes are there", id),
			Repair: "mark it as whole", fix: d.markLost(group, id, false)})
		if err != nil {
			return err
		}
	}
	return nil
}

// fileLetters are what ids of files begin with.
const fileLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

// someBlobs takes those that are there off ids, and reports bytes without a record, of those that begin with a letter.
func (d *storedFiles) someBlobs(ctx context.Context, letter string, ids map[string]string) error {
	for after := letter; ; {
		items, err := d.opt.Blobs.List(ctx, after, filesStep)
		if err != nil || len(items) == 0 || !strings.HasPrefix(items[0].ID, letter) {
			return err
		}
		names := make([]string, len(items))
		for i, item := range items {
			names[i] = item.ID
			delete(ids, item.ID)
		}
		groups, err := d.store.GroupsOfFiles(ctx, names)
		if err != nil {
			return err
		}
		for i, item := range items {
			if groups[i] != "" || !strings.HasPrefix(item.ID, letter) || time.Since(item.Modified) < orphanMin {
				continue
			}
			if waits, err := d.tasks.removes(ctx, item.ID); err != nil || waits {
				if err != nil {
					return err
				}
				continue
			}
			err := d.found(ctx, Finding{Kind: KindFile, Key: d.keys.part(0) + "blobs", Message: fmt.Sprintf("the bytes of %s have no record", item.ID),
				Repair: "remove them, unless the store is an older copy", fix: func(ctx context.Context) error { return d.opt.Blobs.Remove(ctx, item.ID) }})
			if err != nil {
				return err
			}
		}
		after = names[len(names)-1]
	}
}

// field is the number in a record of words, 0 where there is none.
func field(text string, i int) int64 {
	words := strings.SplitN(text, " ", i+2)
	if len(words) <= i {
		return 0
	}
	return script.Number(words[i])
}
