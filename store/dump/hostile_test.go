package dump_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/dump"
	"github.com/chatd/chatd/store/embedded"
)

const manifest = `{"chatd":"x","format":1,"id":"X","layout":%d,"partitions":%s,"archive":true,"at":"2026-01-01T00:00:00Z"}`

// forged is a file whose checksum and counts fit whatever its lines say.
func forged(t testing.TB, partitions string, lines ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	packed, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	must(t, err)
	sum := sha256.New()
	to := io.MultiWriter(packed, sum)
	_, err = fmt.Fprintf(to, manifest+"\n", store.LayoutVersion, partitions)
	must(t, err)
	keys, messages := 0, 0
	for _, text := range lines {
		_, err = io.WriteString(to, text+"\n")
		must(t, err)
		if strings.HasPrefix(text, `{"part"`) && strings.Contains(text, `"at":0,`) {
			keys++
		}
		messages += strings.Count(text, `"mark":`)
	}
	_, err = fmt.Fprintf(packed, `{"end":{"lines":%d,"keys":%d,"messages":%d,"sha256":%q}}`+"\n", len(lines), keys, messages, hex.EncodeToString(sum.Sum(nil)))
	must(t, errors.Join(err, packed.Close()))
	return out.Bytes()
}

func partLine(key string, p int, kind string, at int, values string) string {
	return fmt.Sprintf(`{"part":{"key":%q,"p":%d,"type":%q,"at":%d,"values":%s}}`, key, p, kind, at, values)
}

// storedLine is a line with a message that a group stores.
func storedLine(score, message string) string {
	return partLine("g:g:msgs", 0, "zset", 0, fmt.Sprintf("[%q,%q]", score, message))
}

func logLine(id int, messages string) string {
	return fmt.Sprintf(`{"log":{"group":"g","epoch":"e","messages":[{"id":%d,"mark":"m",%s}]}}`, id, messages)
}

const entry = `"entry":{"id":1,"group":"g","from":"a","kind":"text","body":"x","sent_at":"2026-01-01T00:00:00.000Z"}`

// many is a list of n elements.
func many(n int, element string) string {
	return "[" + strings.Repeat(element+",", n-1) + element + "]"
}

// hostile are files that no export wrote, and what is said of them.
var hostile = []struct {
	what, partitions string
	lines            []string
	want             string
}{
	{"no partitions", "0", nil, "must be 1 to 1024"},
	{"many partitions", "1099511627776", nil, "must be 1 to 1024"},
	{"partitions beyond all numbers", "1e400", nil, "not an export"},
	{"a line without an end", "1", []string{partLine("users", 0, "zset", 0, `["0","`+strings.Repeat("x", 20<<20)+`"]`)}, "more than 16777216 bytes"},
	{"many values", "1", []string{partLine("users", 0, "zset", 0, many(2_000_000, `""`))}, "at most 200 elements"},
	{"many messages", "1", []string{`{"log":{"group":"g","epoch":"e","messages":` + many(2_000_000, `{}`) + `}}`}, "at most 500 elements"},
	{"many edits", "1", []string{logLine(1, `"edits":`+many(2_000_000, `1`)+","+entry)}, "at most 1000 elements"},
	{"a large body", "1", []string{logLine(1, strings.Replace(entry, `"x"`, `"`+strings.Repeat("x ", 1<<20)+`"`, 1))}, "more than 1048576 bytes"},
	{"much of nothing", "1", slices.Repeat([]string{partLine("push_key", 0, "string", 0, `["`+strings.Repeat("x", 8<<20)+`"]`)}, 5), "1000 times its size"},
	{"a partition below", "1", []string{partLine("a:x:part", -1, "hash", 0, `["run","1"]`)}, "partition -1"},
	{"a partition beyond", "1", []string{partLine("users", 1, "zset", 0, `["0","a"]`)}, "partition 1"},
	{"a partition that is not the key's", "4", []string{partLine("g:g:meta", 3, "hash", 0, `["a","b"]`)}, "not its own"},
	{"another partition in a key", "2", []string{partLine("x}:{p01}:users", 0, "zset", 0, `["0","a"]`)}, "no key of an export"},
	{"a key without an owner", "1", []string{partLine("s", 0, "list", 0, `["a"]`)}, "does not know"},
	{"the layout", "1", []string{partLine("layout", 0, "hash", 0, `["partitions","9"]`)}, "no key of an export"},
	{"a long key", "1", []string{partLine("g:"+strings.Repeat("g", 600)+":meta", 0, "hash", 0, `["a","b"]`)}, "no key of an export"},
	{"an unknown key", "1", []string{partLine("novelty", 0, "hash", 0, `["a","b"]`)}, "a key that this chatd does not know"},
	{"an unknown key of a group", "1", []string{partLine("g:g:novelty", 0, "hash", 0, `["a","b"]`)}, "does not know"},
	{"a retry key", "1", []string{partLine("g:g:sent:a", 0, "hash", 0, `["k","x 1 m h"]`)}, `"g:g:sent:a" holds "k"`},
	{"a retry key of an inbox", "1", []string{partLine("u:a:inbox:sent:b", 0, "hash", 0, `["k","1"]`)}, "a time, a mark and a hash"},
	{"a retry key of a creation", "1", []string{partLine("u:a:keys", 0, "hash", 0, `["k","h x {}"]`)}, "a status and an answer"},
	{"an erasure that waits", "1", []string{partLine("g:g:erasures", 0, "hash", 0, `["p00-x","../x e 1"]`)}, "an epoch and the id"},
	{"an erasure under way", "1", []string{partLine("u:a:erasing", 0, "string", 0, `["a b"]`)}, "must be an id"},
	{"an erasure", "1", []string{partLine("e:p00-x", 0, "hash", 0, `["messages","NaN"]`)}, "from 0 to 2^53-1"},
	{"who is connected", "1", []string{partLine("live", 0, "zset", 0, `["1","a"]`)}, "no key of an export"},
	{"a device", "1", []string{partLine("u:a:devices", 0, "hash", 0, `["d","1 webpush - 7"]`)}, "the JSON of a device"},
	{"a file", "1", []string{partLine("g:g:files", 0, "hash", 0, `["p00-f","whole a -1 0 0 0 - 0 - - {}"]`)}, "the record of a file"},
	{"a file that is gone", "1", []string{partLine("g:g:gone:files", 0, "hash", 0, `["p00-f","whole"]`)}, "the record of a file"},
	{"a file that nobody names", "1", []string{partLine("g:g:files:unused", 0, "zset", 0, `["1","../x"]`)}, "must be an id"},
	{"a file that is named", "1", []string{partLine("g:g:files:named", 0, "zset", 0, `["2","1 p00-f 0 5"]`)}, "with that id as the score"},
	{"a webhook", "1", []string{partLine("webhooks", 0, "hash", 0, `["w","1 1 {}"]`)}, "the JSON of a webhook"},
	{"a schedule", "1", []string{partLine("s:p00-x", 0, "hash", 0, `["state","pending","next_ms","1e9"]`)}, "whole numbers"},
	{"a plan", "1", []string{partLine("s:p00-x", 0, "hash", 0, `["plan","[]"]`)}, "its plan as JSON"},
	{"a schedule of a user", "1", []string{partLine("u:a:schedules", 0, "zset", 0, `["1","a b"]`)}, "must be an id"},
	{"a task", "1", []string{partLine("q:core:tasks", 0, "hash", 0, `["x","normal 0 0 1 1 erase \n{}"]`)}, "the id of a task"},
	{"a task that waits", "1", []string{partLine("q:core:ready:normal", 0, "list", 0, `["p0-x"]`)}, "the id of a task"},
	{"a growing inbox", "1", []string{partLine("grown", 0, "hash", 0, `["7","-1"]`)}, "from 0 to 2^53-1"},
	{"another kind", "1", []string{partLine("users", 0, "list", 0, `["a"]`)}, "must be a zset"},
	{"no values", "1", []string{partLine("q:core:paused", 0, "string", 0, `[]`)}, "no values"},
	{"no list", "1", []string{partLine("q:core:paused", 0, "string", 0, `null`)}, "must be a list"},
	{"null", "1", []string{partLine("q:core:paused", 0, "string", 0, `[null]`)}, "must be a string"},
	{"two strings", "1", []string{partLine("q:core:paused", 0, "string", 0, `["a","b"]`)}, "several values"},
	{"half a pair", "1", []string{partLine("g:g:meta", 0, "hash", 0, `["a"]`)}, "pairs"},
	{"a score", "1", []string{partLine("users", 0, "zset", 0, `["x","a"]`)}, "the score"},
	{"an endless score", "1", []string{partLine("users", 0, "zset", 0, `["inf","a"]`)}, "the score"},
	{"a number", "1", []string{partLine("g:g:id", 0, "string", 0, `["9007199254740992"]`)}, "below 2^53"},
	{"a key that names no group", "1", []string{partLine("g:../../x:meta", 0, "hash", 0, `["a","b"]`)}, "no valid group or user"},
	{"a key that names no user", "1", []string{partLine("u:reader~x:inbox", 0, "list", 0, `["a"]`)}, "no valid group or user"},
	{"a key about no user", "1", []string{partLine("g:g:by:../x", 0, "zset", 0, `["1","1"]`)}, "no valid group or user"},
	{"a member", "1", []string{partLine("g:g:members", 0, "hash", 0, `["a","owner 1","a b\n","member 1"]`)}, `"g:g:members" holds "a b\n"`},
	{"a role", "1", []string{partLine("g:g:members", 0, "hash", 0, `["a","owner"]`)}, "a role and a time"},
	{"a reader", "1", []string{partLine("g:g:seen", 0, "zset", 0, `["1","a","1","$archive","1","a b\n"]`)}, `"g:g:seen" holds "a b\n"`},
	{"the archive where it reads nothing", "1", []string{partLine("g:g:read", 0, "zset", 0, `["1","$archive"]`)}, "the id of a user"},
	{"a list of users", "1", []string{partLine("g:g:joined", 0, "zset", 0, `["1","../x"]`)}, "the id of a user"},
	{"a position beyond", "1", []string{partLine("g:g:seen", 0, "zset", 0, `["1e308","a"]`)}, "the score"},
	{"a position below", "1", []string{partLine("g:g:read", 0, "zset", 0, `["-1","a"]`)}, "from 0 to 2^53-1"},
	{"half a position", "1", []string{partLine("g:g:seen", 0, "zset", 0, `["1.5","a"]`)}, "from 0 to 2^53-1"},
	{"a setting", "1", []string{partLine("g:g:meta", 0, "hash", 0, `["keep","NaN"]`)}, "from 0 to 2^53-1"},
	{"no JSON", "1", []string{storedLine("1", "1 m - NaN")}, "a message of the group"},
	{"JSON of no entry", "1", []string{storedLine("1", `1 m - {"id":1,"from":7}`)}, "a message of the group"},
	{"no end of the JSON", "1", []string{storedLine("1", `1 m - {"id":1,x}`)}, "a message of the group"},
	{"an entry of another group", "1", []string{storedLine("1", `1 m - {"id":1,"group":"h"}`)}, "a message of the group"},
	{"an entry with another id", "1", []string{storedLine("1", `1 m - {"id":2,"group":"g"}`)}, "a message of the group"},
	{"an entry in another place", "1", []string{storedLine("2", `1 m - {"id":1,"group":"g"}`)}, "a message of the group"},
	{"an entry", "1", []string{storedLine("1", `1 m - {"id":1,"group":"g"}`)}, ""},
	{"an earlier reading", "1", []string{partLine("g:g:kept", 0, "zset", 0, `["1","2 NaN"]`)}, "an entry of the group"},
	{"an item", "1", []string{partLine("u:a:inbox", 0, "list", 0, `["markmaNaN"]`)}, "the JSON of an item"},
	{"an item without a seq", "1", []string{partLine("u:a:inbox", 0, "list", 0, `["markma{}"]`)}, "the JSON of an item"},
	{"a group of a user", "1", []string{partLine("u:a:groups", 0, "zset", 0, `["-4","g","1","../x"]`)}, `"u:a:groups" holds "../x"`},
	{"a known user", "1", []string{partLine("users", 0, "zset", 0, `["0","a b"]`)}, "the id of a sender"},
	{"a public group", "1", []string{partLine("public", 0, "zset", 0, `["0","Name\u0000../x"]`)}, "the id of a group"},
	{"a gap", "1", []string{partLine("u:a:inbox", 0, "list", 5, `["a"]`)}, "do not follow"},
	{"a place below", "1", []string{partLine("u:a:inbox", 0, "list", -1, `["a"]`)}, "do not follow"},
	{"a place beyond all numbers", "1", []string{`{"part":{"key":"u:a:inbox","p":0,"type":"list","at":1e30,"values":["a"]}}`}, "line 2"},
	{"no record", "1", []string{`{}`}, "neither"},
	{"two records", "1", []string{`{"part":{"key":"users","p":0,"type":"zset","at":0,"values":["0","a"]},"log":{}}`}, "line 2"},
	{"an unknown record", "1", []string{`{"novelty":{}}`}, "unknown field"},
	{"an unknown field", "1", []string{`{"part":{"key":"users","p":0,"type":"zset","at":0,"values":["0","a"],"ttl":1}}`}, "unknown field"},
	{"a second value", "1", []string{partLine("users", 0, "zset", 0, `["0","a"]`) + `{}`}, "something follows"},
	{"another message", "1", []string{logLine(2, entry)}, "another one"},
	{"a message twice", "1", []string{logLine(1, entry), logLine(1, entry)}, "wrong epoch, id or mark"},
	{"no entry", "1", []string{logLine(1, `"entry":7`)}, "cannot be read"},
	{"no group", "1", []string{`{"log":{"group":"","epoch":"e","messages":[]}}`}, "must be of a group"},
}

// TestHostileFilesAreRefused: whatever a file says, it is refused with a reason, and what that allocates is bounded: in all, not only
// at a time.
func TestHostileFilesAreRefused(t *testing.T) {
	const allocatedMax = 512 << 20
	for _, c := range hostile {
		file := forged(t, c.partitions, c.lines...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := dump.Check(t.Context(), bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		if c.want == "" {
			must(t, err)
		} else {
			wants(t, c.what, err, c.want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > allocatedMax {
			t.Errorf("%s: a file of %d bytes took %d MiB", c.what, len(file), n>>20)
		}
	}
}

// TestHostileFilesIntoOtherPartitions: what is noted of a file for another number of partitions is bounded, too, and nothing of it is
// written before.
func TestHostileFilesIntoOtherPartitions(t *testing.T) {
	var runs, layers []string
	for n := range 1001 {
		runs = append(runs, partLine(fmt.Sprint("a:x", n), 0, "hash", 0, `["run","1","closed","0","targets",""]`))
	}
	before := strings.ReplaceAll("["+many(300_000, `"x"`)+"]", `"`, `\"`)
	layers = append(runs[:1:1], partLine("a:x0:part", 0, "hash", 0, `["run","1","before","`+before+`"]`))
	for what, c := range map[string]struct {
		lines []string
		want  string
	}{
		"many announcements":         {runs, "too many"},
		"an announcement many times": {layers, "too many"},
		"a list of no partition":     {[]string{partLine("a:x:to:-1", 0, "list", 0, `["u a"]`)}, ""},
		"a list of no record":        {[]string{partLine("a:x:to:00", 0, "list", 0, `["u a"]`)}, ""},
	} {
		err := intoMemory(t, forged(t, "1", c.lines...), 1024)
		if c.want == "" {
			must(t, err)
		} else {
			wants(t, what, err, c.want)
		}
	}
}

// intoMemory imports a file that was checked into a store in memory.
func intoMemory(t *testing.T, file []byte, partitions int) error {
	t.Helper()
	server, err := embedded.Open(t.Context(), embedded.Options{})
	must(t, err)
	defer func() { must(t, server.Close()) }()
	s, err := store.Open(t.Context(), store.Options{Embedded: server, Import: "X", Partitions: partitions})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	_, counts, err := dump.Check(t.Context(), bytes.NewReader(file))
	must(t, err)
	return dump.Import(t.Context(), s, bytes.NewReader(file), counts, dump.Options{DropArchive: true})
}

// FuzzImport: no lines of a file panic, neither in as many partitions nor in others, and what the check takes the store takes.
func FuzzImport(f *testing.F) {
	for _, c := range hostile {
		if text := strings.Join(c.lines, "\n"); len(text) < 1<<10 {
			f.Add(text, byte(1))
		}
	}
	f.Add(partLine("q:core:tasks", 0, "hash", 0, `["p00-x~a","normal 0 0 1 1 erase \n{\"erasure\":\"p00-y\"}"]`), byte(3))
	f.Add(partLine("a:x", 0, "hash", 0, `["run","2","closed","0","targets",""]`)+"\n"+partLine("a:x:to:00", 0, "list", 0, `["2 u a","g b"]`), byte(2))
	f.Fuzz(func(t *testing.T, text string, partitions byte) {
		file := forged(t, "2", strings.Split(text, "\n")...)
		if _, _, err := dump.Check(t.Context(), bytes.NewReader(file)); err != nil {
			return
		}
		for _, to := range []int{2, int(partitions)%4 + 1} {
			if err := intoMemory(t, file, to); err != nil && to == 2 {
				t.Errorf("a file that was checked: %v", err)
			}
		}
	})
}
