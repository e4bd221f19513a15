package main

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/ship"
)

func TestByteSizes(t *testing.T) {
	for text, want := range map[string]byteSize{"8MiB": 8 << 20, "512KiB": 512 << 10, "1GiB": 1 << 30, "1000": 1000, "0": 0} {
		var got byteSize
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s: got %d, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "MiB", "-1", "8MB", "1.5MiB", "9999999999GiB"} {
		var got byteSize
		if err := got.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q: got %d, want an error", bad, got)
		}
	}
}

func TestLastLineOfTheOutput(t *testing.T) {
	for output, want := range map[string]string{
		"": "", "\n\n": "", "one": "one", "one\ntwo": "two", "one\ntwo\n": "two", "one\n\n  \n": "one", "one\r\n": "one",
		"a\n" + strings.Repeat("x", 20_000) + "\n": strings.Repeat("x", lastLineMax),
	} {
		for _, size := range []int{1, 3, 100_000} {
			l := &lastLine{}
			for rest := output; rest != ""; {
				n := min(size, len(rest))
				if _, err := io.WriteString(l, rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if got := l.text(); got != want {
				t.Errorf("%.20q in pieces of %d: got %.20q, want %.20q", output, size, got, want)
			}
		}
	}
}

func TestSubjectOfAToken(t *testing.T) {
	token := func(claims string) string { return "h." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".s" }
	for given, want := range map[string]string{token(`{"sub":"p1"}`): "p1", token(`{}`): "", token(`{"sub":"../x"}`): "", token(`{"sub":9007199254740993}`): "9007199254740993", "opaque": "", "a.!.c": ""} {
		if got := subject(given, ""); got != want {
			t.Errorf("%s: got %q, want %q", given, got, want)
		}
	}
	if got := subject(token(`{"sub":"x","uid":7}`), "uid"); got != "7" {
		t.Errorf("another claim: got %q, want 7", got)
	}
	if got, err := stateFile("", "g", "", "ship"); err == nil {
		t.Errorf("got %q, want an error without a name", got)
	}
}

// TestStateFile: ids that were always allowed keep their file, others get names that every file system takes.
func TestStateFile(t *testing.T) {
	long := strings.Repeat("x", 128)
	names := map[string]bool{}
	for _, of := range [][2]string{{"g", "p1"}, {"a:by", "x"}, {"a", "by:x"}, {"a|by", "x"}, {long, long}, {long, long[1:] + "y"}} {
		name, err := stateFile("", of[0], of[1], "ship")
		if err != nil || names[name] || strings.ContainsAny(name, "|:") || len(name) > 230 {
			t.Errorf("%v: got %q and %v", of, name, err)
		}
		names[name] = true
	}
	if !names["g.p1.ship"] {
		t.Errorf("got %v, want g.p1.ship among them", names)
	}
}

// TestDashesOfAnotherCommand: what follows -- is passed on as it is.
func TestDashesOfAnotherCommand(t *testing.T) {
	got := longFlags([]string{"process", "-group", "g", "--", "grep", "-rn", "-x"})
	if want := "process --group g -- grep -rn -x"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestShipAsJSON: a result is one object on a line, whatever its text.
func TestShipAsJSON(t *testing.T) {
	var out strings.Builder
	p := &shipProgress{env: &environment{stdout: &out}, json: true}
	p.result(ship.Result{From: "p1", ID: 7, Part: 3, Ship: "X", Number: 2, Text: "12 rows\n\x1b[31mred"})
	want := `{"result":{"from":"p1","message":7,"part":2,"ship":"X","text":"12 rows\n\u001b[31mred"}}` + "\n"
	if out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}

// TestShipSaysWhomItWaitsFor: once each time that changes, and not how far they are behind.
func TestShipSaysWhomItWaitsFor(t *testing.T) {
	var log strings.Builder
	p := &shipProgress{env: &environment{stderr: &log}, bar: progress{out: io.Discard, terminal: true}}
	full := &client.Error{Code: client.CodeBacklogFull}
	for _, step := range []ship.Progress{
		{}, {Waiting: full, Blockers: []client.Blocker{{User: "p1", Behind: 3}}}, {Waiting: full, Blockers: []client.Blocker{{User: "p1", Behind: 2}}},
		{Waiting: full, Blockers: []client.Blocker{{User: "p1"}, {User: "p2"}}}, {}, {Waiting: io.ErrUnexpectedEOF},
		{Pending: []string{"p1", "p2"}}, {Finished: []string{"p1"}, Pending: []string{"p2"}}, {Finished: []string{"p1", "p2"}},
	} {
		p.show(step)
	}
	want := `ship: waiting for p1, too far behind
ship: waiting for p1, p2, too far behind
ship: waiting: unexpected EOF
ship: nobody has finished, waiting for p1, p2
ship: p1 has finished, waiting for p2
`
	if log.String() != want {
		t.Errorf("got %s", log.String())
	}
}
