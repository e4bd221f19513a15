package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/files"
)

var fileSendScript = newScript("file/send", groupNames)

// fileCheckAfter is how often the files of a group are compared with the messages that name them: then the bytes go.
const fileCheckAfter = 10 * time.Minute

// fileNamesMax is how many messages name one file.
const fileNamesMax = 100

// appendNaming appends a message that names files.
func (s *Logs) appendNaming(ctx context.Context, k groupKeys, a chat.Append) (chat.Appended, error) {
	c := fileSendScript.Sized(k, rowArgs+len(a.Mentions)+1).Arg("file_ids", strings.Join(a.Files, " ")).Arg("names_max", fileNamesMax).
		Arg("check_ms", int(fileCheckAfter.Milliseconds())).Arg("check_id", k.taskID()).Arg("known_only", a.FilesGone)
	c = s.releasing(c, a.Release, audit.Entry{})
	return s.runAppend(ctx, s.appendCall(c, k, &a), a)
}

// SendableFiles implements chat.LogStore.
func (s *Logs) SendableFiles(ctx context.Context, group, user string, ids []string) ([]chat.File, error) {
	records, err := s.files.FileRecords(ctx, group, ids)
	if err != nil {
		return nil, err
	}
	if len(records) < len(ids) {
		return nil, files.ErrNotSendable
	}
	found := make([]chat.File, len(records))
	for i, r := range records {
		if !r.Whole || r.Lost || r.Owner != user {
			return nil, files.ErrNotSendable
		}
		if err := json.Unmarshal(r.JSON, &found[i]); err != nil {
			return nil, broke("file", err)
		}
	}
	return found, nil
}
