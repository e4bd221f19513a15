package client

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestDecodeFrame(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	tests := map[string]any{
		`{"op":"welcome","user":"alice","session":"s","groups":{"g":{"epoch":"e","first":1,"last":44,"seen":42,"read":40}},"ping_s":25}`: welcome{User: "alice", Session: "s", PingS: 25, Groups: map[string]GroupPosition{"g": {Epoch: "e", First: 1, Last: 44, Seen: 42, Read: 40}}},
		`{"op":"messages","group":"g","epoch":"e","from":1,"to":1,"cursor":"e.1.k","complete":true,"messages":[{"group":"g","id":1,"from":"a","kind":"text","body":"hi","sent_at":"2026-11-20T10:00:00.000Z"}]}`: batch{
			Group: "g", Epoch: "e", From: 1, To: 1, Cursor: "e.1.k", Complete: true,
			Messages: []Message{{Group: "g", ID: 1, From: "a", Content: Content{Kind: "text", Body: "hi"}, SentAt: at}},
		},
		`{"op":"ok","ref":"1","id":5,"sent_at":"2026-11-20T10:00:00.000Z","duplicate":true}`: reply{Op: "ok", Ref: "1", ID: 5, SentAt: at, Duplicate: true},
		`{"op":"error","ref":"1","code":"forbidden","detail":"d"}`:                           reply{Op: "error", Ref: "1", Code: "forbidden", Detail: "d"},
		`{"op":"inbox","epoch":"e","from":8,"to":7,"complete":true,"items":[]}`:              Inbox{Epoch: "e", From: 8, To: 7, Complete: true, Items: []Item{}},
		`{"op":"cursor","group":"g","user":"bob","seen":2,"read":1}`:                         CursorMoved{Group: "g", User: "bob", Seen: 2, Read: 1},
		`{"op":"here","group":"g","count":1,"users":["bob"]}`:                                Here{Group: "g", Count: 1, Users: []string{"bob"}},
		`{"op":"typing","group":"g","user":"bob"}`:                                           Typing{Group: "g", User: "bob"},
		`{"op":"draft","group":"g","body":"Shall we","reply_to":4,"rev":3}`:                  DraftChanged{Group: "g", KeptDraft: KeptDraft{Body: "Shall we", ReplyTo: 4, Rev: 3}},
		`{"op":"draft","group":"g","deleted":true}`:                                          DraftChanged{Group: "g", Deleted: true},
		`{"op":"joined","group":"g"}`:                                                        Joined{Group: "g"},
		`{"op":"left","group":"g"}`:                                                          Left{Group: "g"},
		`{"op":"something later","x":1}`:                                                     nil,
	}
	for data, want := range tests {
		got, err := decodeFrame([]byte(data))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %#v, %v\nwant %#v", data, got, err, want)
		}
	}
	for _, bad := range []string{"", "[]", "7", `"x"`, `{}`, `{"op":7}`, `{"op":"messages","from":"1"}`, `{"op":"ok","id":1.5}`, `{"op":"joined"`} {
		if got, err := decodeFrame([]byte(bad)); err == nil {
			t.Errorf("%s: got %#v, want an error", bad, got)
		}
	}
}

func TestRequestsHoldOnlyWhatTheyNeed(t *testing.T) {
	tests := map[string]any{
		`{"op":"ack","ref":"1","group":"g","id":4}`:                                              request{Op: "ack", Ref: "1", Group: "g", ID: 4},
		`{"op":"send","ref":"2","group":"g","body":"hi","client_id":"c"}`:                        request{Op: "send", Ref: "2", Group: "g", Draft: &Draft{Body: "hi", ClientID: "c"}},
		`{"op":"hello","token":"t","after":{"g":4,"h":"e.5.k"}}`:                                 hello{Op: "hello", Token: "t", After: map[string]Position{"g": "4", "h": "e.5.k"}},
		`{"ack":{"g":4},"inbox_ack":7,"after":{"g":"e.4.k"},"limit":5,"wait_s":6,"typing":true}`: SyncRequest{Typing: true, Ack: map[string]Position{"g": "4"}, InboxAck: "7", After: map[string]Position{"g": "e.4.k"}, Limit: 5, WaitS: 6},
		`{"start":"newest","only":[]}`:                                                           SyncRequest{Start: StartNewest, Only: []string{}},
		`{}`:                                                                                     SyncRequest{},
	}
	for want, value := range tests {
		if got, err := json.Marshal(value); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

// FuzzFrame feeds the client what a broken or hostile server may send: it must refuse it or return dense messages.
func FuzzFrame(f *testing.F) {
	f.Add([]byte(`{"op":"messages","group":"g","epoch":"e","from":1,"to":2,"cursor":"e.2.k","complete":true,"messages":[{"id":1},{"id":2}]}`))
	f.Add([]byte(`{"op":"messages","group":"g","epoch":"e","from":9223372036854775807,"to":-9223372036854775808,"complete":false,"messages":[]}`))
	f.Add([]byte(`{"op":"inbox","epoch":"e","from":1,"to":1,"items":[{"seq":1}]}`))
	f.Add([]byte(`{"op":"welcome","groups":{"g":{"seen":-1}},"ping_s":1e300}`))
	f.Add([]byte(`{"op":"ok","ref":"1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := decodeFrame(data)
		if err != nil {
			return
		}
		tracker := newTracker(map[string]Position{"g": "3"}, "", nil, &counters{})
		switch frame := frame.(type) {
		case batch:
			for range 2 {
				events, err := tracker.batch(frame)
				if err != nil {
					return
				}
				for _, s := range spans(events) {
					if s.what == "not what it says" {
						t.Fatalf("%s: %v", data, spans(events))
					}
				}
			}
		case Inbox:
			tracker.items(frame)
			if got, fresh := tracker.items(frame); fresh && got.To < got.From {
				t.Fatalf("%s: got %v", data, got)
			}
		case welcome:
			tracker.pin(frame.Groups)
		}
	})
}
