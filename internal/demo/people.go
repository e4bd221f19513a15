package demo

import (
	"encoding/json"
	"errors"

	"github.com/chatd/chatd/client"
)

// Person is somebody in the demo.
type Person struct {
	ID, Name string
	status   client.UserStatus
	scene    scene // their picture
}

// People are those who write, in the order in which they are shown. The first has unread messages and a mention.
var People = []Person{
	{"alice", "Alice Martin", client.UserStatus{Text: "Release day", Emoji: "🚀"}, scene{sky: 0xf9b384, sun: 0xfff1d6, hills: [3]uint32{0xd9705a, 0xa94a54, 0x5e2f47}}},
	{"wangwei", "王伟", client.UserStatus{Text: "盯着服务器", Emoji: "☕"}, scene{sky: 0x8fd3c8, sun: 0xfdfbe8, hills: [3]uint32{0x3f9c93, 0x22706f, 0x123f4a}}},
	{"zoe", "Zoë Janssen", client.UserStatus{Text: "At the drawing board", Emoji: "🎨"}, scene{sky: 0xc9b6f2, sun: 0xfff0f6, hills: [3]uint32{0x8d74cf, 0x5d49a1, 0x332a66}}},
	{"amina", "أمينة حداد", client.UserStatus{Text: "في اجتماع حتى الظهر", Emoji: "📅"}, scene{sky: 0xf6d365, sun: 0xfffbe0, hills: [3]uint32{0xd79a2b, 0x9b6a1e, 0x56401d}}},
	{"mateo", "Mateo Silva", client.UserStatus{}, scene{sky: 0x9cc9f5, sun: 0xfffdf0, hills: [3]uint32{0x5f9a4f, 0x3c7040, 0x1f4430}}},
}

// Operator runs the server. It is the user of the tokens that the commands of chatd make for themselves.
const Operator = "operator"

// Programs of the demo.
const (
	meter     = "trail-metrics"
	warehouse = "warehouse-sync"
)

// everyone is the ids of People.
func everyone() (ids []string) {
	for _, p := range People {
		ids = append(ids, p.ID)
	}
	return ids
}

// people gives everybody a name, and the five a picture and a status.
func (w *world) people() {
	operator := true
	changes := []client.UserChange{{User: Operator, Profile: named("Operator"), Operator: &operator},
		{User: meter, Profile: named("Trail metrics")}, {User: warehouse, Profile: named("Warehouse sync")}}
	w.put(changes)
	for _, p := range People {
		w.as(p.ID, func(c *client.Client) error {
			change := named(p.Name)
			if p.status.Text != "" {
				change.Status, _ = json.Marshal(p.status) //nolint:errchkjson // texts
			}
			_, err := c.UpdateMe(w, change)
			picture, drawErr := p.scene.avatar()
			if err == nil && drawErr == nil {
				_, err = c.PutAvatar(w, picture)
			}
			return errors.Join(err, drawErr)
		})
	}
}

func named(name string) client.ProfileChange { return client.ProfileChange{Name: &name} }

// put sets users, as the operator's backend does.
func (w *world) put(changes []client.UserChange) {
	w.as(Operator, func(c *client.Client) error {
		done, err := c.PutUsers(w, changes)
		if err == nil && len(done.Errors) > 0 {
			err = errors.New(done.Errors[0].User + ": " + done.Errors[0].Code)
		}
		return err
	})
}
