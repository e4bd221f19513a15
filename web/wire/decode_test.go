package wire_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat("[", wire.DepthMax) + strings.Repeat("]", wire.DepthMax)
	cases := []struct{ name, body, detail string }{
		{"no JSON", `{"id":`, "JSON value"},
		{"trailing data", `{"id":1} {"id":2}`, "JSON value"},
		{"trailing text", `{"id":1}x`, "JSON value"},
		{"a list", `[1]`, "want a JSON object"},
		{"a number", `1`, "want a JSON object"},
		{"null", `null`, "want a JSON object"},
		{"a string", `"id"`, "want a JSON object"},
		{"missing", `{}`, "id is required"},
		{"unknown field", `{"id":1,"idd":2}`, `unknown field "idd"`},
		{"other case", `{"ID":1}`, `unknown field "ID"`},
		{"twice", `{"id":1,"id":2}`, `"id" appears twice`},
		{"twice, escaped", `{"id":1,"\u0069d":2}`, `"id" appears twice`},
		{"null field", `{"id":null}`, "id: must not be null"},
		{"string", `{"id":"1"}`, `"id": want an integer`},
		{"fraction", `{"id":1.0}`, `"id": want an integer`},
		{"exponent", `{"id":1e3}`, `"id": want an integer`},
		{"2^63", `{"id":9223372036854775808}`, `"id": want an integer`},
		{"huge", `{"id":1e999}`, `the range of a double`},
		{"a bool", `{"id":true}`, `"id": want an integer`},
		{"an object", `{"id":{}}`, `"id": want an integer`},
		{"NaN", `{"id":NaN}`, "JSON value"},
		{"bad UTF-8", "{\"id\":1,\"\xff\":1}", "UTF-8"},
		{"a control character in a name", `{"a\u0000\u001b":1}`, `unknown field "a\x00\x1b"`},
		{"too deep", `{"id":` + deep + `}`, "nested deeper"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var mark api.Mark
			err := wire.Decode([]byte(c.body), &mark)
			if got := chat.CodeOf(err); got != chat.CodeInvalid {
				t.Fatalf("code %q, want %q (%v)", got, chat.CodeInvalid, err)
			}
			if !strings.Contains(err.Error(), c.detail) {
				t.Errorf("error %q, want it to hold %q", err, c.detail)
			}
		})
	}
}

func TestDecodeChecksObjectsInLists(t *testing.T) {
	for list, detail := range map[string]string{
		`[{"user":"a"},{"user":"b","nope":1}]`: `unknown field "users[1].nope"`, `[{"USER":"a"}]`: `unknown field "users[0].USER"`,
		`[{}]`: "users[0].user is required", `[{"user":null}]`: "users[0].user: must not be null", `[{"user":1}]`: `want a string`,
		`[1]`: `"users[0]": want an object`, `[null]`: "users[0]: must not be null", `[{"user":"a","user":"b"}]`: `"users[0].user" appears twice`,
	} {
		var changes api.UserChanges
		err := wire.Decode([]byte(`{"users":`+list+`}`), &changes)
		if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), detail) {
			t.Errorf("%s: got %v, want %s", list, err, detail)
		}
	}
	var changes api.UserChanges
	if err := wire.Decode([]byte(`{"users": [ {"user":"a","disabled":null} , {"user":"b"} ]}`), &changes); err != nil || len(changes.Users) != 2 {
		t.Errorf("got %v, %v", changes, err)
	}
}

func TestDecodeChecksObjectsInside(t *testing.T) {
	for inner, detail := range map[string]string{
		`{"all":true,"nope":1}`: `unknown field "to.nope"`, `{"ALL":true}`: `unknown field "to.ALL"`, `{"users":null}`: "to.users: must not be null",
		`{"users":["a",1]}`: `"to.users[1]": want a string`, `{"groups":["a",null]}`: "to.groups[1]: must not be null", `{"all":1}`: `"to.all": want true or false`,
		`{"all":true,"all":true}`: `"to.all" appears twice`,
		`[]`:                      `"to": want an object`, `1`: `"to": want an object`, `null`: "to: must not be null", `{"users":{}}`: "want a list",
	} {
		var draft api.AnnouncementDraft
		err := wire.Decode([]byte(`{"body":"b","to": `+inner+`,"at":"x"}`), &draft)
		if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), detail) {
			t.Errorf("%s: got %v, want an error that holds %q", inner, err, detail)
		}
	}
	var draft api.AnnouncementDraft
	if err := wire.Decode([]byte(`{"to":{"all":true},"body":"b"}`), &draft); err != nil || !*draft.To.All {
		t.Errorf("got %+v, %v", draft, err)
	}
}

// TestErrorsNamePaths: an error names a value as the client wrote it, wherever Go's structs have it.
func TestErrorsNamePaths(t *testing.T) {
	for _, c := range []struct {
		into         any
		body, detail string
	}{
		{new(wire.MessageDraft), `{"body":"x","mentions":"bob"}`, `"mentions": want a list`}, // a field of an embedded struct
		{new(wire.MessageDraft), `{"body":"x","mentions":["a", "b" , 3]}`, `"mentions[2]": want a string`},
		{new(wire.MessageDraft), `{"body":"x","mentions":["a",["b"]]}`, `"mentions[1]": want a string`},
		{new(wire.MessageDraft), `{"data":[{"a":[1,{"b":[{}]}]},"}"],"body":{"mentions":[]}}`, `"body": want a string`},
		{new(wire.MessageDraft), `{"data":{"a":[{"b":1,"b":2}]}}`, `"data.a[0].b" appears twice`},
		{new(wire.MessageDraft), `{"files":[[]]}`, `"files[0]": want a string`},
		{new(wire.DirectDraft), `{"body":7}`, `"body": want a string`},
		{new(struct {
			Ack map[string]int64 `json:"ack"`
		}), `{"ack":{"g":1,"h":"x"}}`, `"ack.h": want an integer`},
	} {
		if err := wire.Decode([]byte(c.body), c.into); chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), c.detail) {
			t.Errorf("%s: got %v, want %s", c.body, err, c.detail)
		}
	}
}

func TestInstant(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-20T10:00:00Z": "10:00:00", "2026-11-20t10:00:00z": "10:00:00", "2026-11-20T10:00:00.123456+02:00": "08:00:00.123456",
		"2026-11-20T10:00:00-23:59": "09:59:00", "2026-11-20T10:00:00-00:00": "10:00:00", "2026-11-20T00:00:00+00:00": "00:00:00",
		"2026-11-20T10:00:00,5Z": "", "2026-11-20T10:00:00+24:00": "", "9999-12-31T23:59:59-23:59": "", "0000-01-01T00:00:00+23:59": "", "2026-11-20T10:00:00+23:60": "", "2026-11-20T9:00:00Z": "", "2026-11-20T10:00:00+2:00": "",
		"2026-11-20T10:00:00.Z": "", "2026-11-20T10:00:00": "", "2026-11-20 10:00:00Z": "", "2026-11-20T10:00Z": "", "2026-11-20T24:00:00Z": "",
		"2026-02-30T10:00:00Z": "", "2026-11-20T10:00:00+0200": "", " 2026-11-20T10:00:00Z": "", "26-11-20T10:00:00Z": "", "": "",
	} {
		at, err := wire.Instant("at", &text)
		if want == "" {
			if chat.CodeOf(err) != chat.CodeInvalid {
				t.Errorf("%q: got %v, %v", text, at, err)
			}
		} else if err != nil || at.UTC().Format("15:04:05.999999") != want {
			t.Errorf("%q: got %v, %v; want %s", text, at, err, want)
		}
	}
}

func TestDecodeTakes(t *testing.T) {
	var draft api.MessageDraft
	body := ` {"kind":"data","data":{"a":[null,{"a":1}],"b":null},"mentions":["bob"],"client_id":"\u0063"} `
	if err := wire.Decode([]byte(body), &draft); err != nil {
		t.Fatal(err)
	}
	if got, want := string(draft.Data), `{"a":[null,{"a":1}],"b":null}`; got != want {
		t.Errorf("data %s, want %s", got, want)
	}
	if got := draft.ClientID; got != "c" {
		t.Errorf("client_id %q, want c", got)
	}
	var null api.MessageDraft
	if err := wire.Decode([]byte(`{"data":null}`), &null); err != nil {
		t.Errorf("data takes any JSON: %v", err)
	}
	if err := wire.Decode([]byte(`{"data":{"a":1,"a":2}}`), &null); err == nil {
		t.Error("two fields of one name were taken inside of data")
	}
}

// TestNullInsideIsRefused: null is not allowed in a list or a map, where decoding would turn it into an element.
func TestNullInsideIsRefused(t *testing.T) {
	for body, want := range map[string]bool{
		`{"ack":{"g":null}}`: false, `{"ack":{"g":1,"h": null }}`: false, `{"ack":{"null":1}}`: true, `{"ack":{"g":1},"after":{"g":"null"}}`: true,
		`{"ack":[null]}`: false, `{"ack":"null"}`: false,
	} {
		var r struct {
			Ack   *map[string]int64  `json:"ack,omitempty"`
			After *map[string]string `json:"after,omitempty"`
		}
		if err := wire.Decode([]byte(body), &r); (err == nil) != want {
			t.Errorf("%s: got error %v", body, err)
		}
	}
	for body, want := range map[string]bool{
		`{"mentions":[null],"body":"x"}`: false, `{"mentions":["null"],"body":"null"}`: true, `{"mentions":[],"data":[null]}`: true,
	} {
		var draft api.MessageDraft
		if err := wire.Decode([]byte(body), &draft); (err == nil) != want {
			t.Errorf("%s: got error %v", body, err)
		}
	}
}

// TestEmptyIsNotAbsent: the value that stands for an absent field is refused if a client writes it.
func TestEmptyIsNotAbsent(t *testing.T) {
	for body, detail := range map[string]string{
		`{"reply_to":0}`: "reply_to: want an integer from 1", `{"target": -0 }`: "target: want an integer from 1",
		`{"kind":""}`: "kind: must not be empty", `{"client_id": "","body":"x"}`: "client_id: must not be empty", `{"emoji":""}`: "emoji: must not be empty",
		`{"reply_to":0.5}`: "want an integer",
		`{"body":""}`:      "", // the struct itself shows that it is empty: the domain decides
		`{"reply_to":10}`:  "", `{"removed":false}`: "", `{"mentions":[]}`: "", `{"data":0}`: "", `{"data":""}`: "",
	} {
		var draft api.MessageDraft
		err := wire.Decode([]byte(body), &draft)
		if (err == nil) != (detail == "") || err != nil && !strings.Contains(err.Error(), detail) {
			t.Errorf("%s: got %v, want %q", body, err, detail)
		}
	}
}

func TestHalfCharactersAreRefused(t *testing.T) {
	for text, want := range map[string]bool{
		`\ud83d\ude00`: true, `\u00e4\n`: true, `\\ud800`: true, `\\\ud83d\ude00`: true, `\uD83D\uDE00\ud83d\ude00`: true,
		`\ud800`: false, `\udc00`: false, `\ud83dx`: false, `\ud83d\n`: false, `\ud83d\ud83d`: false, `\ude00\ud83d`: false, `\\\ud800`: false,
		`\ud83d\\ude00`: false, `\ud83d\ude00\ude00`: false,
	} {
		for _, body := range []string{`{"body":"` + text + `"}`, `{"data":{"` + text + `":1}}`} {
			var draft api.MessageDraft
			if err := wire.Decode([]byte(body), &draft); (err == nil) != want {
				t.Errorf("%s: %v", body, err)
			}
		}
	}
}

func TestNumbersBeyondDoublesAreRefused(t *testing.T) {
	for number, want := range map[string]bool{
		"1e308": true, "-1.7E+308": true, "1e-999": true, "12345678901234567890123.10": true, "0": true, "1" + strings.Repeat("0", 308): true,
		"1e309": false, "-1E+999999": false, "1" + strings.Repeat("0", 309): false,
	} {
		for _, body := range []string{`{"data":` + number + `}`, `{"data":[{"a":` + number + `},"1e999"]}`} {
			var draft api.MessageDraft
			if err := wire.Decode([]byte(body), &draft); (err == nil) != want {
				t.Errorf("%.40s: %v", body, err)
			}
		}
	}
}

func TestErrorsHoldNoValues(t *testing.T) {
	const canary = "s3cr3t-canary"
	for _, body := range []string{
		`{"id":"` + canary + `"}`, `{"id":["` + canary + `"]}`, `{"id":1,"user":"` + canary + `"}`, `"` + canary + `"`,
	} {
		var mark api.Mark
		if err := wire.Decode([]byte(body), &mark); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: error %v", body, err)
		}
	}
}

// FuzzDecode compares with encoding/json: accepted input is one valid object whose names are known and unique, and
// whose values are what encoding/json reads from it.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"text","body":"hi","client_id":"c","mentions":["a"]}`, `{"data":{"a":[1,2,{"b":null}]}}`, `{"target":9223372036854775807}`,
		`{"body":"\ud800"}`, `{"a":1,"\u0061":1}`, `[]`, ``, `{"data":"\\\""}`, `{"data":[[[[]]]],"removed":true}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var got api.MessageDraft
		err := wire.Decode(body, &got)
		if err != nil {
			if chat.CodeOf(err) != chat.CodeInvalid {
				t.Fatalf("code of %v", err)
			}
			return
		}
		if !utf8.Valid(body) {
			t.Fatal("invalid UTF-8 was taken")
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil {
			t.Fatalf("taken, but not by encoding/json: %v", err)
		}
		known := wire.FieldsOf(reflect.TypeFor[api.MessageDraft]())
		for name := range fields {
			if !known[name] {
				t.Fatalf("unknown field %q was taken", name)
			}
		}
		if data, ok := fields["data"]; ok && string(got.Data) != string(data) {
			t.Fatalf("data %q, want %q", got.Data, data)
		}
	})
}
