package demo

import (
	"encoding/json"
	"fmt"

	"github.com/chatd/chatd/client"
)

// How many members the community may have.
const (
	MembersMin = 200
	MembersMax = 10_000
)

const changesMax = 200 // members and users in one call: a slow machine answers within the time that a client waits

var (
	firstNames = []string{"Ada", "Aiko", "Amir", "Ana", "Anton", "Aylin", "Bea", "Bruno", "Carla", "Chen", "Chidi", "Clara", "Daan", "Dalia", "Diego", "Elif",
		"Emil", "Esra", "Eva", "Farid", "Finn", "Freya", "Gabriel", "Grace", "Hana", "Hugo", "Ida", "Ines", "Isaac", "Ivan", "Jana", "Jin", "João", "Kai",
		"Lea", "Leila", "Liam", "Lin", "Lucía", "Maya", "Mina", "Nadia", "Nils", "Noor", "Olga", "Omar", "Paula", "Pavel", "Quinn", "Rania", "Rosa", "Sami",
		"Sofía", "Tariq", "Theo", "Uma", "Vera", "Yara", "Yusuf", "Zara"}
	lastNames = []string{"Abe", "Adeyemi", "Almeida", "Andersen", "Aydın", "Bauer", "Becker", "Berg", "Bianchi", "Castro", "Chowdhury", "Costa", "Dubois",
		"Eriksen", "Farah", "Ferrari", "Fischer", "Fujita", "García", "Gupta", "Haas", "Hansen", "Ito", "Ivanova", "Jansen", "Jensen", "Kaya", "Keller", "Khan",
		"Kim", "Kovač", "Kowalski", "Larsen", "Lehmann", "Li", "Lopez", "Mbeki", "Meyer", "Moreau", "Müller", "Nakamura", "Nguyen", "Novák", "Okafor", "Olsen",
		"Park", "Pereira", "Petrov", "Rahman", "Rossi", "Sato", "Schmid", "Singh", "Suzuki", "Tanaka", "Torres", "Virtanen", "Weber", "Yıldız", "Zhang", "Zimmer"}
)

// crowd lets the community grow, and talk.
func (w *world) crowd(members int) {
	var users []client.UserChange
	for i := range members - len(People) {
		// The numbers of names have no common divisor, so pairs repeat late.
		name := firstNames[i%len(firstNames)] + " " + lastNames[i%len(lastNames)]
		users = append(users, client.UserChange{User: fmt.Sprintf("hiker-%05d", i+1), Profile: named(name)})
	}
	for at := 0; at < len(users) && w.err == nil; at += changesMax {
		some := users[at:min(at+changesMax, len(users))]
		w.put(some)
		var change client.MembersChange
		for _, u := range some {
			change.Add = append(change.Add, client.Addition{User: u.User})
		}
		w.as("mateo", func(c *client.Client) error {
			done, err := c.ChangeMembers(w, community, change)
			if err == nil && len(done.Errors) > 0 {
				err = fmt.Errorf("%s: %s", done.Errors[0].User, done.Errors[0].Code)
			}
			return err
		})
	}
	w.say(community,
		line{from: "hiker-00042", label: "asked", body: "Offline maps at last. Does it work without a SIM card as well?"},
		line{from: "mateo", reply: "asked", body: "It does. Download the region at home and you are set."},
		line{from: "hiker-00107", body: "Just back from the lake. The map was right about every step. 💚"})
	w.read(community, everyone()[1:]...)
}

const (
	feedBacklogMax = 120
	feedMessages   = 90
)

// held makes a group whose messages are kept for a program that never confirms one.
func (w *world) held() {
	var keep, most int64 = 0, feedBacklogMax
	w.group(client.GroupDraft{ID: feed, Name: "Trail feed", Keep: &keep, BacklogMax: &most}, meter, warehouse, "mateo")
	var lines []line
	for i := range feedMessages {
		data := fmt.Appendf(nil, `{"type":"walks","region":%q,"minute":%d,"walks":%d}`, regions[i%len(regions)], i, 180+i*37%90)
		lines = append(lines, line{from: meter, data: json.RawMessage(data)})
	}
	w.say(feed, lines...)
	w.read(feed, meter, "mateo")
}
