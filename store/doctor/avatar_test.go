package doctor_test

import (
	"errors"
	"testing"

	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/store/doctor"
)

// TestAvatarDamage: an avatar that no profile shows, a profile that shows none, and a list that says something else.
func TestAvatarDamage(t *testing.T) {
	const id = "AAAAAAAAAAAAAAAA-0"
	for _, d := range []damage{
		{"HSET {u}bob:profile text {}", doctor.KindOrphan, "{u}bob:avatar", true},
		{"DEL {u}bob:avatar", doctor.KindOrphan, "{u}bob:profile", false},
		{"HDEL {p}avatars " + id, doctor.KindOrphan, "{u}bob:avatar", true},
		{"HSET {p}avatars BBBBBBBBBBBBBBBB-0 bob", doctor.KindOrphan, "{p}avatars", true},
	} {
		t.Run(d.command, func(t *testing.T) {
			h := newFixture(t)
			_, errs, err := h.Store.PutProfiles(h.Ctx, []profiles.Write{{User: "bob", Stored: profiles.Stored{Text: `{"picture":"/avatars/` + id + `"}`}, AvatarID: id,
				Avatar: &profiles.Avatar{Type: "image/png", Content: []byte("\x89PNG")}}})
			h.Must(errors.Join(append(errs, err)...))
			h.sound()
			h.breaks(t, d)
		})
	}
}
