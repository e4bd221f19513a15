package doctor

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chatd/chatd/internal/redistest"
)

// TestScriptsNeedNoOtherRights compares the commands in all scripts with those that docs/redis.acl gives and that the
// doctor asks for: a script that only operators run, or only once a day, counts as well as one that each message needs.
func TestScriptsNeedNoOtherRights(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("../../docs/redis.acl")
	if err != nil {
		t.Fatal(err)
	}
	may := map[string]bool{}
	for _, rule := range strings.Fields(string(rules)) {
		if name, ok := strings.CutPrefix(rule, "+"); ok {
			may[name] = true
		}
	}
	asked := map[string]bool{}
	for _, command := range needed {
		name, _, _ := strings.Cut(command, " ")
		asked[name] = true
	}
	words := map[string]string{} // quoted words in capitals -> a script with it
	quoted := regexp.MustCompile(`'([A-Z]{2,})'`)
	err = filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".lua" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, word := range quoted.FindAllStringSubmatch(string(text), -1) {
			words[word[1]] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	server, commands := redistest.Start(t), 0
	for _, word := range slices.Sorted(maps.Keys(words)) {
		info, _ := server.Do("COMMAND", "INFO", word).([]any)
		if len(info) != 1 {
			t.Fatalf("COMMAND INFO %s answers %v", word, info)
		}
		if info[0] == nil {
			continue // an option, as NX
		}
		commands++
		name := strings.ToLower(word)
		if !may[name] {
			t.Errorf("%s: docs/redis.acl lacks +%s", words[word], name)
		}
		if !asked[name] {
			t.Errorf("%s: the doctor does not ask for the right to run %s", words[word], word)
		}
	}
	if commands < 40 {
		t.Errorf("found %d commands in %d words: the search has a mistake", commands, len(words))
	}
}
