package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/ship"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/web/auth"
)

// TestShippedLines ships a file through a server and processes it, then what has been added to it.
func TestShippedLines(t *testing.T) {
	const secret = "a secret of at least thirty-two bytes"
	config, err := node.Default()
	if err != nil {
		t.Fatal(err)
	}
	config.Addr, config.Data, config.JWTSecret = "127.0.0.1:0", t.TempDir(), secret
	ctx, stop := context.WithCancel(t.Context())
	n, err := node.Open(ctx, config, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	token := func(user string) string {
		signed, _, err := auth.SignToken([]byte(secret), auth.Claims{User: user, TTL: time.Hour}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	server := "http://" + n.Addr().String()
	producer, err := client.New(server, client.StaticToken(token("producer")))
	if err != nil {
		t.Fatal(err)
	}
	keep := int64(0)
	if _, err := producer.CreateGroup(ctx, client.GroupDraft{ID: "logs", Members: []string{"counter"}, Overflow: "block", Keep: &keep}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CHATD_TOKEN", token("counter"))
	dir, redis := t.TempDir(), redistest.Start(t).URL()
	paths := testDatabase(t)
	for round, want := range []string{
		"         day  DE  FR\n  2026-01-01   0  50\n  2026-01-02  50   0\n",
		"         day   DE   FR\n  2026-01-01    0  100\n  2026-01-02  100    0\n",
	} {
		file, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			if _, err := file.WriteString(`{"time":"2026-01-01T22:59:59Z","ip":"10.1.0.1"}` + "\n" + `{"time":"2026-01-01T23:00:00Z","ip":"2001:db8::1"}` + "\n"); err != nil {
				t.Fatal(err)
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if err := ship.Files(ctx, producer, ship.Options{Group: "logs", Paths: []string{file.Name()}, Segment: 1 << 10, State: filepath.Join(dir, "state")}); err != nil {
			t.Fatal(err)
		}
		if err := run(ctx, []string{"-url", server, "-redis", redis, "-mmdb", paths, "-zone", "Europe/Berlin"}, io.Discard); err != nil {
			t.Fatal(err)
		}
		var table bytes.Buffer
		if err := run(ctx, []string{"-redis", redis, "-table"}, &table); err != nil {
			t.Fatal(err)
		}
		if table.String() != want {
			t.Errorf("round %d: got\n%s\nwant\n%s", round, table.String(), want)
		}
	}
}
