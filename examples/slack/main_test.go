package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/importer"
	"github.com/chatd/chatd/internal/chattest"
)

const converted = `{"id":"1700000000.000100","from":"bob","sent_at":"2023-11-14T22:13:20Z","body":"Morning @ann, see the plan (https://example.com/a?b=1&c=2) in #plans <3","mentions":["ann"],"reactions":{":partyparrot:":["ann"],"👍":["ann","carl.jones","bob"]}}
{"id":"1700000100.123456","from":"ann","sent_at":"2023-11-14T22:15:00.123Z","body":"@here done","reply_to":"1700000000.000100","edited_at":"2023-11-14T22:16:40Z"}
{"id":"1700050000.000000","from":"carl.jones","sent_at":"2023-11-15T12:06:40Z","body":"first of the day"}
{"id":"1700050001.000000","from":"carl.jones","sent_at":"2023-11-15T12:06:41Z","body":"notes.pdf","data":{"files":["notes.pdf"]}}
{"id":"1700050002.000000","from":"bot","sent_at":"2023-11-15T12:06:42Z","body":"build failed"}
{"id":"1700050003.000000","from":"Build-Bot-2","sent_at":"2023-11-15T12:06:43Z","body":"build mended"}
`

// TestConvert converts an export and imports the result.
func TestConvert(t *testing.T) {
	var out bytes.Buffer
	if err := convert("testdata/export", "general", &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(converted, out.String()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	b := chattest.New(t)
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(out.String())), nil }
	result, err := importer.New(b.Service, b.Store, nil, chat.DefaultLimits()).Import(b.Ctx, open, importer.Draft{Group: "general", Owner: "ann"})
	b.Must(err)
	if want := (importer.Result{Messages: 6, Reactions: 4, Members: 5}); result != want {
		t.Errorf("got %+v, want %+v", result, want)
	}
}

func TestConvertNamesWhatIsWrong(t *testing.T) {
	if err := convert("testdata/export", "absent", io.Discard); err == nil || !strings.Contains(err.Error(), "no channel absent") {
		t.Errorf("got %v", err)
	}
	if err := convert("testdata", "general", io.Discard); err == nil || !strings.Contains(err.Error(), "users.json") {
		t.Errorf("got %v", err)
	}
}
