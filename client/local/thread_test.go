package local

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chatd/chatd/client"
)

// TestThreads: replies are in no timeline but that of their thread, are not unread in the group, and count in their root.
func TestThreads(t *testing.T) {
	chat := openChat(t.Context(), t, "http://127.0.0.1:1")
	defer chat.Close()
	last := int64(0)
	take := func(messages ...client.Message) {
		t.Helper()
		b := client.Messages{Group: "g", Epoch: "e", From: last + 1, Messages: messages}
		for i := range messages {
			last++
			messages[i].Group, messages[i].ID, messages[i].From = "g", last, "bob"
			if messages[i].Kind == "" {
				messages[i].Kind = client.KindText
			}
		}
		b.To, b.Cursor = last, client.Position(fmt.Sprint("c", last))
		if err := chat.commit(t.Context(), func(d *draft) error {
			_, err := d.received(b, nil)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	said := func(body string, thread int64) client.Message {
		return client.Message{Content: client.Content{Body: body, Thread: thread}}
	}
	shows := func(tl *Timeline, want string) {
		t.Helper()
		var got []string
		for _, l := range tl.View().Lines {
			got = append(got, l.Body)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	take(said("root", 0), said("r1", 1), said("m", 0))
	for range 200 {
		take(said("r", 1))
	}
	group, err := chat.Timeline(t.Context(), "g", At{})
	if err != nil {
		t.Fatal(err)
	}
	thread, err := chat.Timeline(t.Context(), "g", At{Thread: 1})
	if err != nil {
		t.Fatal(err)
	}
	shows(group, "root m")
	if v := thread.View(); len(v.Lines) != pageLines || !v.Before || v.After {
		t.Errorf("the thread begins with %d replies, before %t, after %t", len(v.Lines), v.Before, v.After)
	}
	for thread.View().Before {
		if err := thread.LoadBefore(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	shows(thread, "r1"+strings.Repeat(" r", 200))
	take(said("n", 0), said("r2", 1), client.Message{Content: client.Content{Kind: client.KindEdit, Target: 2, Body: "edited"}})
	take(client.Message{Content: client.Content{Kind: client.KindDelete, Target: 4}})
	if _, err := chat.Send(t.Context(), "g", client.Draft{Body: "waits", Thread: 1}); err != nil {
		t.Fatal(err)
	}
	shows(group, "root m n")
	shows(thread, "edited "+strings.Repeat(" r", 199)+" r2 waits")
	if root := group.View().Lines[0]; root.Replies != 201 || root.LastReplyID != last-2 {
		t.Errorf("got %d replies, the last one %d", root.Replies, root.LastReplyID)
	}
	newest := last - 2
	deleted := func(target int64, erased ...int64) {
		t.Helper()
		take(client.Message{Content: client.Content{Kind: client.KindDelete, Target: target}, Erased: erased})
	}
	deleted(newest)
	if root := group.View().Lines[0]; root.Replies != 200 || root.LastReplyID != newest-2 {
		t.Errorf("got %d replies, the last one %d, once the newest is deleted", root.Replies, root.LastReplyID)
	}
	deleted(newest, newest, newest+2) // its author is erased
	if root := group.View().Lines[0]; root.Replies != 200 {
		t.Errorf("got %d replies, once the author of a deleted one is erased", root.Replies)
	}
	chat.mu.Lock()
	unread := chat.groups["g"].Group.Unread
	chat.mu.Unlock()
	if unread != 3 {
		t.Errorf("got %d unread, want those of the group itself", unread)
	}
}
