package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
)

// sendCommand sends one message.
type sendCommand struct {
	memberFlags
	Group   string   `arg:"" help:"Id of the group."`
	Text    []string `arg:"" optional:"" help:"What to send, the words joined by blanks; - reads the standard input."`
	ID      string   `name:"id" placeholder:"KEY" help:"Makes the send repeatable: with the same key, the group gets one message within a day. Default: a new key."`
	ReplyTo int64    `placeholder:"MESSAGE" help:"Id of the message that it replies to."`
	Data    string   `name:"payload" placeholder:"JSON" help:"Data of the message, for programs, with or without a text."`
	File    []string `type:"existingfile" sep:"none" help:"A file to send with it; may be repeated."`
	JSON    bool     `name:"json" help:"Print the message as one JSON object, for programs. Default: its id."`
}

// sendBytesMax bounds what is read from the standard input; the server's own limit is lower.
const sendBytesMax = 1 << 20

func (s sendCommand) Run(env *environment, c node.Config) error {
	draft := client.Draft{ClientID: cmp.Or(s.ID, client.NewKey()), ReplyTo: s.ReplyTo, Body: strings.Join(s.Text, " ")}
	if s.Data != "" {
		if draft.Data = json.RawMessage(s.Data); !json.Valid(draft.Data) {
			return coded(exitUsage, "-payload: want JSON, such as {\"build\":7}")
		}
	}
	server, at, err := s.member(c)
	if err != nil {
		return err
	}
	if draft.Body == "-" {
		text, err := io.ReadAll(io.LimitReader(os.Stdin, sendBytesMax+1))
		if err != nil {
			return fmt.Errorf("the standard input: %w", err)
		}
		if len(text) > sendBytesMax {
			return coded(exitRefused, "the standard input has more than %d bytes: send it as a file, with -file", sendBytesMax)
		}
		draft.Body = strings.TrimRight(string(text), "\r\n")
	}
	if draft.Body == "" && draft.Data == nil && len(s.File) == 0 {
		return coded(exitUsage, "there is nothing to send: give a text, - to read it, -payload or -file")
	}
	for i, path := range s.File {
		id, err := upload(env.ctx, server, s.Group, path, fmt.Sprintf("%s-%d", draft.ClientID, i))
		if client.CodeOf(err) == client.CodeNotFound {
			return noGroup(s.Group)
		}
		if err != nil {
			return at.explain(err)
		}
		draft.Files = append(draft.Files, id)
	}
	sent, err := server.Send(env.ctx, s.Group, draft)
	if unknown(err) {
		_, _ = fmt.Fprintf(env.stderr, "chatd: it may have been sent; -id %s sends it again, once\n", draft.ClientID)
	}
	switch {
	case client.CodeOf(err) == client.CodeNotFound && s.ReplyTo == 0:
		return noGroup(s.Group)
	case err != nil:
		return at.explain(err)
	case s.JSON:
		return env.printJSON(sent)
	}
	return env.print("%d\n", sent.ID)
}

// unknown reports whether a send that failed may have been done.
func unknown(err error) bool {
	var answer *client.Error
	var socket *net.OpError
	return err != nil && !errors.As(err, &answer) && !errors.Is(err, client.ErrSignedOut) && !(errors.As(err, &socket) && socket.Op == "dial")
}

// upload uploads a file to a group, for a message. key is short enough to begin only one upload.
func upload(ctx context.Context, server *client.Client, group, path, key string) (id string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", codedError{err, exitFailed}
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return "", codedError{err, exitFailed}
	}
	if len(key) > 64 {
		key = ""
	}
	return server.UploadFile(ctx, group, client.FileDraft{Name: filepath.Base(path), Size: info.Size(), Key: key}, file)
}
