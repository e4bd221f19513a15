package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/files"
)

var (
	fileReserveScript = newScript("file/reserve", userNames)
	fileSettleScript  = newFreeing("file/settle", userNames)
	fileReleaseScript = newFreeing("file/release", userNames)
	fileCreateScript  = newScript("file/create", groupNames)
	fileLockScript    = newFreeing("file/lock", groupNames)
	fileRenewScript   = newFreeing("file/renew", groupNames)
	fileCommitScript  = newFreeing("file/commit", groupNames)
	fileFinishScript  = newFreeing("file/finish", groupNames)
	fileReadScript    = newReader("file/read", groupNames)
	fileHeldScript    = newReader("file/held", groupNames)
	fileRemoveScript  = newFreeing("file/remove", groupNames)
	fileExpireScript  = newFreeing("file/expire", groupNames)
	fileGoneScript    = newFreeing("file/gone", groupNames)
	fileDropScript    = newFreeing("file/drop", groupNames)
	fileOrphansScript = newFreeing("file/orphans", partNames)
	fileBlobsScript   = newFreeing("file/blobs", partNames)
)

var _ files.Store = (*Store)(nil)

// Files are the records of files. Their bytes are in a blob store.
type Files struct {
	*base
}

// NewFileID makes an id for a file of the group: creation, or else random, and behind it the partition, so that the id leads to the group.
func (s *Files) NewFileID(group, creation string) string {
	return fmt.Sprintf("%s-%d", cmp.Or(creation, rand.Text()), s.keys.partition(group))
}

// partitionIn is the partition that stands in an id: of the group that a file belongs to, also in the id of its preview, or of the user of an avatar.
func (s *base) partitionIn(id string) (*partKeys, bool) {
	_, number, ok := strings.Cut(id, "-")
	number, _, _ = strings.Cut(number, "-")
	p, err := strconv.Atoi(number)
	if !ok || err != nil || p < 0 || p >= len(s.keys.partitions) {
		return nil, false
	}
	return s.keys.part(p), true
}

// ReserveFile implements files.Store.
func (s *Files) ReserveFile(ctx context.Context, user, group, id string, bytes int64) error {
	r, err := s.runSafe(ctx, fileReserveScript.On(s.keys.user(user)).Arg("file", id).Arg("group", group).Arg("bytes", bytes).
		Arg("bytes_max", s.limits.UserFilesBytesMax).Arg("uploads_max", s.limits.UserUploadsMax))
	return overQuota(r, err)
}

// overQuota says whose quota has no room.
func overQuota(r reply, err error) error {
	if err == nil || r == nil || r.text(0) != "QUOTA" {
		return err
	}
	e := *files.ErrQuota
	e.Message = fmt.Sprintf("this file would exceed %s file quota", r.text(1))
	return &e
}

// SettleFile implements files.Store.
func (s *Files) SettleFile(ctx context.Context, user, id string) error {
	return s.doSafe(ctx, fileSettleScript.On(s.keys.user(user)).Arg("file", id))
}

// ReleaseFile implements files.Store.
func (s *Files) ReleaseFile(ctx context.Context, user, id string) error {
	return s.doSafe(ctx, fileReleaseScript.On(s.keys.user(user)).Arg("file", id))
}

// Uploads implements files.Store.
func (s *Files) Uploads(ctx context.Context, user string) (map[string]files.Reservation, error) {
	all, err := s.conn.Client().HGetAll(ctx, s.keys.user(user).uploads()).Result() // CHATD_UPLOADS_USER at most
	if err != nil {
		return nil, fail("uploads", err)
	}
	uploads := make(map[string]files.Reservation, len(all))
	for id, text := range all {
		group, rest, _ := strings.Cut(text, " ")
		_, ms, _ := strings.Cut(rest, " ")
		uploads[id] = files.Reservation{Group: group, Made: time.UnixMilli(number(ms))}
	}
	return uploads, nil
}

// CreateFile implements files.Store.
func (s *Files) CreateFile(ctx context.Context, group string, f files.Record) (files.Record, error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, fileCreateScript.On(k).Arg("group", group).Arg("user", f.Owner).Arg("file", f.ID).Arg("size", f.Size).
		Arg("hash", base64.StdEncoding.EncodeToString(f.Hash)).Arg("json", f.JSON).Arg("within_ms", s.limits.FileUnused.Milliseconds()).
		Arg("bytes_max", s.limits.GroupFilesBytesMax).Arg("task_id", k.taskID()))
	if err != nil {
		return files.Record{}, overQuota(r, err)
	}
	return decodeFile(f.ID, r.text(1))
}

// LockFile implements files.Store.
func (s *Files) LockFile(ctx context.Context, group, user, id, token, sole string, lease time.Duration) (files.Record, error) {
	return s.fileStep(ctx, id, fileLockScript.On(s.keys.group(group)).Arg("user", user).Arg("file", id).Arg("token", token).
		Arg("lock_ms", lease.Milliseconds()).Arg("node", sole))
}

// RenewFile implements files.Store.
func (s *Files) RenewFile(ctx context.Context, group, id, token string, lease time.Duration) error {
	return s.doSafe(ctx, fileRenewScript.On(s.keys.group(group)).Arg("file", id).Arg("token", token).Arg("lock_ms", lease.Milliseconds()))
}

// CommitFile implements files.Store.
func (s *Files) CommitFile(ctx context.Context, c files.Commit) (files.Record, error) {
	return s.fileStep(ctx, c.ID, fileCommitScript.On(s.keys.group(c.Group)).Arg("user", c.User).Arg("file", c.ID).Arg("token", c.Token).
		Arg("offset", c.Offset).Arg("hash", base64.StdEncoding.EncodeToString(c.Hash)).Arg("lock_ms", c.Keep.Milliseconds()))
}

// FinishFile implements files.Store.
func (s *Files) FinishFile(ctx context.Context, group, user, id, token string, json []byte) (files.Record, error) {
	return s.fileStep(ctx, id, fileFinishScript.On(s.keys.group(group)).Arg("user", user).Arg("file", id).Arg("token", token).
		Arg("json", json).Arg("within_ms", s.limits.FileUnused.Milliseconds()))
}

// ReadFile implements files.Store.
func (s *Files) ReadFile(ctx context.Context, group, user, id string) (files.Record, error) {
	r, err := s.runSafe(ctx, fileReadScript.On(s.keys.group(group)).Arg("user", user).Arg("file", id))
	if err != nil {
		return files.Record{}, err
	}
	f, err := decodeFile(id, r.text(1))
	f.Named = r.number(2) == 1
	return f, err
}

// HeldFile implements files.Store.
func (s *Files) HeldFile(ctx context.Context, group, id string) (files.Record, error) {
	return s.fileStep(ctx, id, fileHeldScript.On(s.keys.group(group)).Arg("file", id))
}

// fileStep runs a step that answers the record of a file.
func (s *Files) fileStep(ctx context.Context, id string, c call) (files.Record, error) {
	r, err := s.runSafe(ctx, c)
	if err != nil {
		return files.Record{}, err
	}
	return decodeFile(id, r.text(1))
}

// RemoveFile implements files.Store.
func (s *Files) RemoveFile(ctx context.Context, group, user, id string) error {
	return s.doSafe(ctx, fileRemoveScript.On(s.keys.group(group)).Arg("group", group).Arg("user", user).Arg("file", id))
}

// ExpireFiles implements files.Store.
func (s *Files) ExpireFiles(ctx context.Context, group string) (more bool, err error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, fileExpireScript.On(k).Arg("group", group).Arg("limit", filesStep).Arg("task_id", k.taskID()).
		Arg("check_id", k.taskID()).Arg("check_ms", int(fileCheckAfter.Milliseconds())))
	return r.number(1) == 1, err
}

// GoneFiles implements files.Store.
func (s *Files) GoneFiles(ctx context.Context, group string) (more bool, err error) {
	r, err := s.runSafe(ctx, fileGoneScript.On(s.keys.group(group)).Arg("group", group).Arg("limit", filesStep))
	return r.number(1) == 1, err
}

// EraseFiles implements erase.Store: it goes through what the user's quota is taken by.
func (s *Files) EraseFiles(ctx context.Context, user string) error {
	u := s.keys.user(user)
	for _, key := range []string{u.uploads(), u.files()} {
		for cursor := uint64(0); ; {
			found, next, err := s.conn.Client().HScan(ctx, key, cursor, "", filesStep).Result()
			if err != nil {
				return fail("files of a user", err)
			}
			for i := 0; i+1 < len(found); i += 2 {
				group, _, _ := strings.Cut(found[i+1], " ")
				if err := s.DropFile(ctx, group, user, found[i]); err != nil {
					return err
				}
			}
			if cursor = next; cursor == 0 {
				break
			}
		}
	}
	return nil
}

// DropFile implements files.Store.
func (s *Files) DropFile(ctx context.Context, group, owner, id string) error {
	return s.doSafe(ctx, fileDropScript.On(s.keys.group(group)).Arg("group", group).Arg("user", owner).Arg("file", id))
}

// NoteOrphans implements files.Store.
func (s *Files) NoteOrphans(ctx context.Context, ids []string) ([]time.Duration, error) {
	r, err := s.runSafe(ctx, fileOrphansScript.On(s.keys.part(0)).List("ids", ids))
	if err != nil {
		return nil, err
	}
	ages := make([]time.Duration, len(ids))
	for i := range ages {
		ages[i] = time.Duration(r.number(1+i)) * time.Millisecond
	}
	return ages, nil
}

// FileIDs implements files.Store.
func (s *Files) FileIDs(ctx context.Context, begin string) (map[string]string, error) {
	ids := make(map[string]string)
	for p := range s.partitions() {
		for cursor := uint64(0); ; {
			found, next, err := s.conn.Client().HScan(ctx, s.keys.part(p).filesOf(), cursor, begin+"*", fileIDsStep).Result()
			if err != nil {
				return nil, fail("files", err)
			}
			for i := 0; i+1 < len(found); i += 2 {
				ids[found[i]] = found[i+1]
			}
			if cursor = next; cursor == 0 {
				break
			}
		}
	}
	return ids, nil
}

// GroupsOfFiles implements files.Store. Files that came from a store with another number of partitions are not where their ids say.
func (s *Files) GroupsOfFiles(ctx context.Context, ids []string) ([]string, error) {
	groups := make([]string, len(ids))
	found := make([]*redis.StringCmd, len(ids))
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for i, id := range ids {
			if p, ok := s.partitionIn(id); ok {
				found[i] = pipe.HGet(ctx, p.filesOf(), fileOfBlob(id))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	var elsewhere []int
	for i, cmd := range found {
		if cmd != nil {
			groups[i] = cmd.Val()
		}
		if groups[i] == "" {
			elsewhere = append(elsewhere, i)
		}
	}
	if len(elsewhere) > 0 && s.partitions() > 1 {
		err = s.searchFiles(ctx, ids, elsewhere, groups)
	}
	return groups, err
}

// searchFiles looks up the groups of some of the ids in every partition.
func (s *Files) searchFiles(ctx context.Context, ids []string, some []int, groups []string) error {
	names := make([]string, len(some))
	for n, i := range some {
		names[n] = fileOfBlob(ids[i])
	}
	found := make([]*redis.SliceCmd, s.partitions())
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for p := range found {
			found[p] = pipe.HMGet(ctx, s.keys.part(p).filesOf(), names...)
		}
	})
	if err != nil {
		return err
	}
	for _, cmd := range found {
		for n, group := range cmd.Val() {
			if group, ok := group.(string); ok {
				groups[some[n]] = group
			}
		}
	}
	return nil
}

// fileOfBlob is the id of the file that a blob belongs to: a preview has that of its picture and a word behind it.
func fileOfBlob(id string) string {
	parts := strings.SplitN(id, "-", 3)
	return strings.Join(parts[:min(len(parts), 2)], "-")
}

// FileRecords implements files.Store.
func (s *Files) FileRecords(ctx context.Context, group string, ids []string) ([]files.Record, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	texts, err := s.conn.Client().HMGet(ctx, s.keys.group(group).files(), ids...).Result()
	if err != nil {
		return nil, fail("files", err)
	}
	var records []files.Record
	for i, text := range texts {
		if text, ok := text.(string); ok {
			r, err := decodeFile(ids[i], text)
			if err != nil {
				return nil, err
			}
			records = append(records, r)
		}
	}
	return records, nil
}

// decodeFile reads a record as lua/lib/file_record.lua writes it.
func decodeFile(id, text string) (files.Record, error) {
	f := strings.SplitN(text, " ", 11)
	if len(f) != 11 {
		return files.Record{}, broke("file", fmt.Errorf("the record of %s has %d fields", id, len(f)))
	}
	r := files.Record{ID: id, Whole: f[0] != "open", Lost: f[0] == "lost", Owner: f[1], Size: number(f[2]), Offset: number(f[3]),
		Created: time.UnixMilli(number(f[4])), Expires: time.UnixMilli(number(f[5])), JSON: []byte(f[10])}
	if f[8] != "-" {
		var err error
		if r.Hash, err = base64.StdEncoding.DecodeString(f[8]); err != nil {
			return files.Record{}, broke("file", fmt.Errorf("the digest of %s: %w", id, err))
		}
	}
	if f[9] != "-" {
		for ref := range strings.SplitSeq(f[9], ",") {
			r.Refs = append(r.Refs, number(ref))
		}
	}
	return r, nil
}

// HasFiles tells whether the store has a record of any file.
func (s *Files) HasFiles(ctx context.Context) (bool, error) {
	found := make([]*redis.IntCmd, s.partitions())
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for p := range found {
			found[p] = pipe.Exists(ctx, s.keys.part(p).filesOf())
		}
	})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(found, func(cmd *redis.IntCmd) bool { return cmd.Val() > 0 }), nil
}

// RecordBlobs records which blob store the files are in, the first time, and returns what is recorded. An empty identity asks
// only, which a server that takes no writes answers too.
func (s *Files) RecordBlobs(ctx context.Context, identity string) (string, error) {
	if identity == "" {
		known, err := s.conn.Client().Get(ctx, s.keys.part(0).blobs()).Result()
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		return known, fail("file/blobs", err)
	}
	r, err := s.runSafe(ctx, fileBlobsScript.On(s.keys.part(0)).Arg("identity", identity))
	return r.text(1), err
}
