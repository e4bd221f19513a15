package local

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// keysOf are the keys of a store, each with its value.
func keysOf(t *testing.T, s Store, from, to string, limit int, descending bool) (all []string) {
	t.Helper()
	entries, err := s.Range(t.Context(), from, to, limit, descending)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Key+string(e.Value))
	}
	return all
}

func one(key string, value int) Change { return put(key, value) }

func TestStoresKeepWhatIsWritten(t *testing.T) {
	file, err := OpenFile(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, s := range map[string]Store{"memory": &MemoryStore{}, "file": file} {
		for _, changes := range [][]Change{
			{one("a", 1), one("b/1", 2), one("b/2", 3), one("b/3", 4), one("c", 5)},
			{one("a", 6), {Key: "b/3"}, one("d", 7), {Key: "d"}, {Key: "b/1", Until: "b/2"}},
		} {
			if err := s.Write(t.Context(), changes); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := keysOf(t, s, "", "z", 0, false), []string{"a6", "b/23", "c5"}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		if got, want := keysOf(t, s, "a", "c", 0, true), []string{"b/23", "a6"}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s, descending: got %v, want %v", name, got, want)
		}
		if got, want := keysOf(t, s, "a", "z", 1, true), []string{"c5"}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s, the last: got %v, want %v", name, got, want)
		}
		if got, err := s.Get(t.Context(), "b/1"); got != nil || err != nil {
			t.Errorf("%s: got %s, %v for a key that was removed", name, got, err)
		}
	}
}

// TestFileStoreAfterACrash cuts the journal at every byte of its last write: it was made, or it was not.
func TestFileStoreAfterACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	file, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var whole int64
	for i := range 2 {
		whole = file.size
		if err := file.Write(t.Context(), []Change{one("a", i), one("b", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenFile(path); err == nil {
		t.Error("a second process may open it")
	}
	file.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := whole; n <= int64(len(text)); n++ {
		if err := os.WriteFile(path, text[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := OpenFile(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		want := []string{"a0", "b0"}
		if n == int64(len(text)) {
			want = []string{"a1", "b1"}
		}
		if got := keysOf(t, file, "", "z", 0, false); !reflect.DeepEqual(got, want) {
			t.Fatalf("cut at %d: got %v, want %v", n, got, want)
		}
		if err := file.Write(t.Context(), []Change{one("c", 9)}); err != nil {
			t.Fatal(err)
		}
		file.Close()
		if file, err = OpenFile(path); err != nil {
			t.Fatalf("cut at %d, and written again: %v", n, err)
		}
		if got := keysOf(t, file, "", "z", 0, false); !reflect.DeepEqual(got, append(want, "c9")) {
			t.Fatalf("cut at %d, and written again: got %v", n, got)
		}
		file.Close()
	}
	if err := os.WriteFile(path, append([]byte("[{\n"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(path); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v for a journal that is damaged before its end", err)
	}
}

// TestFileStoreIsWrittenAnew: a journal does not grow with what was replaced.
func TestFileStoreIsWrittenAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	file, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	long, _ := json.Marshal(strings.Repeat("x", 200<<10))
	for i := range 20 {
		if err := file.Write(t.Context(), []Change{{Key: "long", Value: long}, one(fmt.Sprintf("k%02d", i), i)}); err != nil {
			t.Fatal(err)
		}
	}
	file.Close()
	info, err := os.Stat(path)
	if err != nil || info.Size() > 2*rewriteMin {
		t.Errorf("got %d bytes, %v", info.Size(), err)
	}
	if file, err = OpenFile(path); err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got := keysOf(t, file, "k", "l", 0, false); len(got) != 20 {
		t.Errorf("got %v", got)
	}
}
