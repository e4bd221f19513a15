package queue

import (
	"slices"
	"strings"
	"testing"

	"github.com/chatd/chatd/queue/script/scripttest"
)

func TestScriptsBindWhatTheyName(t *testing.T) { scripttest.Check(t, library.Used()) }

func TestCallsGiveWhatScriptsTake(t *testing.T) { scripttest.CheckCalls(t, ".", library.Used()) }

// TestKeyNamesAreThoseOfTheKeys: a script that uses a key name of Keys.Work works on that key.
func TestKeyNamesAreThoseOfTheKeys(t *testing.T) {
	k, names := NewKeys("p", 0, "q"), KeyNames()
	for what, keys := range map[string][]string{"enqueue": k.Enqueue(), "work": k.Work()} {
		var got []string
		for _, key := range keys {
			got = append(got, key[strings.LastIndexByte(key, ':')+1:])
		}
		if !slices.Equal(got, names[what]) {
			t.Errorf("%s: the keys are %v, the scripts call them %v", what, got, names[what])
		}
	}
}
