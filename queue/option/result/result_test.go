package result

import (
	"errors"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	if r, known, err := Read("complete", "1700000000000", "data"); !known || err != nil || string(r.Data) != "data" || !r.Completed.Equal(time.UnixMilli(1_700_000_000_000)) {
		t.Errorf("got %+v, %v, %v", r, known, err)
	}
	if r, _, err := Read("complete", "1", ""); r.Data != nil || err != nil {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, _, err := Read("complete", "soon", ""); err == nil {
		t.Error("a time that is none was read")
	}
	for what, want := range map[string]error{"dead": ErrDead, "waits": ErrNotReady} {
		if _, known, err := Read(what, "0", "no"); !known || !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, known, err := Read("", "0", ""); known || err != nil {
		t.Errorf("got %v, %v", known, err)
	}
}
