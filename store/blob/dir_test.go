package blob

import "testing"

func TestDirConforms(t *testing.T) {
	root := t.TempDir()
	conforms(t, func(t *testing.T) Store {
		t.Helper()
		s, err := OpenDir(root)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
