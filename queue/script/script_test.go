package script

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// room is a key set for tests.
type room struct{ name string }

var roomNames = Names[room]{
	Keys: map[string]func(room) string{
		"log":  func(r room) string { return r.name + ":log" },
		"meta": func(r room) string { return r.name + ":meta" },
	},
	Groups: map[string]func(room) []string{
		"core:pair":  func(room) []string { return []string{"q:a", "q:b"} },
		"queue:pair": func(room) []string { return []string{"q:a", "q:b"} },
		"many:pair":  func(room) []string { return []string{"q:a", "q:b", "r:a", "r:b"} },
	},
}

// library makes a library of one script and the files that it may include.
func library(source string, lib ...string) *Library {
	files := fstest.MapFS{"lua/s.lua": {Data: []byte(source)}}
	for i := 0; i < len(lib); i += 2 {
		files["lua/lib/"+lib[i]+".lua"] = &fstest.MapFile{Data: []byte(lib[i+1])}
	}
	return &Library{Files: files, Shared: map[string]string{"shared": "local shared = 1\n"},
		Groups: map[string][]string{"pair": {"a", "b"}}}
}

// made puts the script of a library together, or returns why Load or Text panics.
func made(l *Library) (text string, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("%v", why)
		}
	}()
	return l.Load("s").Text(), nil
}

func TestPrologueBindsWhatTheHeaderDeclares(t *testing.T) {
	for _, test := range []struct{ header, want string }{
		{"-- KEYS  log meta\n", "local log, meta = unpack(KEYS, 1, 2)\n"},
		{"-- KEYS  log\n--       meta\n-- ARGV  user\n", "local log, meta = unpack(KEYS, 1, 2)\nlocal user = unpack(ARGV, 1, 1)\n"},
		{"-- ARGV  user id:int all:flag\n--   user  who asks\n", "local user, id, all = unpack(ARGV, 1, 3)\n" +
			"id, all = tonumber(id), all == '1'\n"},
		{"-- KEYS  log core:pair meta\n", "local log = unpack(KEYS, 1, 1)\nlocal meta = unpack(KEYS, 4, 4)\nlocal core = 2\n"},
		{"-- KEYS  log core:pair users...\n", "local log = unpack(KEYS, 1, 1)\nlocal core = 2\nlocal users = 4\n"},
		{"-- ARGV  n:int ids... rows(mark rest)...\n", "local n = unpack(ARGV, 1, 1)\nn = tonumber(n)\nlocal ids = 2\n" +
			"local rows_row = 2\n"},
		{"-- KEYS  many:pair...\n", "local many = 1\nlocal many_row = 2\n"},
		{"-- Returns {OK}\n", ""},
	} {
		s, err := made(library(test.header))
		if err != nil {
			t.Errorf("%s: %v", test.header, err)
			continue
		}
		if diff := cmp.Diff(test.want+test.header, s); diff != "" {
			t.Errorf("%s: %s", test.header, diff)
		}
	}
}

func TestLoadingRefusesWhatDoesNotFit(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"-- KEYS  log log\n", "log is taken"},
		{"-- KEYS  log\n-- ARGV  log\n", "log is taken"},
		{"-- KEYS  redis\n", "redis is taken"},
		{"-- KEYS  1 log, 2 meta\n", "is no name"},
		{"-- KEYS  core:trio\n", "there is no group trio"},
		{"-- KEYS  users... log\n", "log stands behind users..."},
		{"-- KEYS  log(a b)\n", "log is no rest"},
		{"-- ARGV  id:float\n", "neither an int nor a flag"},
		{"-- ARGV  ids:int...\n", "ids is no rest"},
		{"-- ARGV  user\n--   usr  who asks\n", "explains usr"},
		{"-- KEYS  log\nreturn KEYS[1]\n", "counts keys or arguments"},
		{"-- ARGV  rest(a b)...\nreturn ARGV[rest + 1]\n", "counts keys or arguments"},
		{"-- ARGV  a\nlocal i = 1\nreturn ARGV[i + 1]\n", "counts keys or arguments"},
		{"-- ARGV  rest...\nlocal a, b = unpack(ARGV, 3)\n", "counts keys or arguments"},
		{"-- ARGV  rest...\nif #ARGV > 7 then return 1 end\n", "counts keys or arguments"},
		{"-- ARGV  rows(a b)...\nfor i = rows, #ARGV, 2 do\nend\n", "rows_row"},
		{"-- bind: pear at i\n", "neither a group"},
		{"-- include: missing\n", "missing"},
		{"-- include: lib\n", "meta is needed and not bound"},
		{"local metadata = 1\n-- include: lib\n", "meta is needed and not bound"},
	} {
		if _, err := made(library(test.source, "lib", "-- needs: meta\n")); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %s", test.source, err, test.want)
		}
	}
	for _, source := range []string{"-- KEYS  meta\n-- include: lib\n", "local a, meta = 1, 2\n-- include: lib\n",
		"local function meta() end\n-- include: lib\n", "-- KEYS  meta\nreturn KEYS[meta] -- not KEYS[1]\n",
		"-- ARGV  list...\nreturn ARGV[list + 1]\n"} {
		if _, err := made(library(source, "lib", "-- needs: meta\n")); err != nil {
			t.Errorf("%q: %v", source, err)
		}
	}
}

func TestIncludesStandWhereTheyAreNamed(t *testing.T) {
	l := library("-- KEYS  users(x y)... \n-- include: one\nif true then\n  -- include: two\nend\n-- include: two\n-- include: shared\n",
		"one", "-- include: two\nlocal one = 1\n", "two", "local two = 2\nfor i = 1, 2 do\n  -- bind: pair at i\nend\n")
	l.Files.(fstest.MapFS)["lua/s.lua"].Data = []byte(`-- KEYS  users(x y)...
if true then
  -- include: two
end
-- include: one
-- include: two
-- include: shared
for i = users, #KEYS, users_row do
  -- bind: users at i
  -- set: pair at i + 2
end
`)
	s, err := made(l)
	if err != nil {
		t.Fatal(err)
	}
	want := `local users = 1
local users_row = 2
-- KEYS  users(x y)...
if true then
  local two = 2
  for i = 1, 2 do
    local a, b = KEYS[i], KEYS[i + 1]
  end
end
local two = 2
for i = 1, 2 do
  local a, b = KEYS[i], KEYS[i + 1]
end
local one = 1
local shared = 1
for i = users, #KEYS, users_row do
  local x, y = KEYS[i], KEYS[i + 1]
  a, b = KEYS[i + 2], KEYS[i + 2 + 1]
end
`
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

func TestCallsFillInByName(t *testing.T) {
	l := library("-- KEYS  log author core:pair meta at...\n-- ARGV  user id:int all:flag text rows(mark rest)... more...\n")
	step := Bind(l.Load("s"), roomNames)
	begin := func() Call { return step.On(room{"r"}).Key("author", "x") }
	whole := func(c Call) Call {
		return c.Arg("user", "bob").Arg("id", int64(7)).Arg("all", true).Arg("text", []byte("t"))
	}
	keys := []string{"r:log", "x", "q:a", "q:b", "r:meta"}
	args := []any{"bob", int64(7), "1", []byte("t")}
	for name, test := range map[string]struct {
		call Call
		keys []string
		args []any
	}{
		"in order":     {whole(begin()), keys, args},
		"out of order": {begin().Arg("text", []byte("t")).Arg("all", true).Arg("user", "bob").Arg("id", int64(7)), keys, args},
		"rests": {whole(begin()).More("at", "1", "2").More("at", "3").MoreArgs("rows", "mark", "m", "rest", 4).List("more", []string{"z"}),
			append(keys[:5:5], "1", "2", "3"), append(args[:4:4], "m", 4, "z")},
	} {
		if err := test.call.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.keys, test.call.Keys) + cmp.Diff(test.args, test.call.Args); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, test := range map[string]struct {
		call Call
		want string
	}{
		"missing":        {begin().Arg("user", "bob"), "no value for [id all text]"},
		"missing key":    {whole(step.On(room{"r"})), "no value for [author]"},
		"unknown":        {whole(begin()).Arg("usr", "bob"), "usr"},
		"unknown key":    {whole(begin()).Key("usr", "bob"), "usr"},
		"twice":          {whole(begin()).Arg("user", "bob"), "user"},
		"known already":  {whole(begin()).Key("log", "x"), "log"},
		"of a group":     {whole(begin()).Key("core.a", "x"), "core.a"},
		"no flag":        {begin().Arg("all", "1"), "all"},
		"a flag":         {begin().Arg("user", true), "user"},
		"no int":         {begin().Arg("id", "7"), "id"},
		"nil":            {begin().Arg("user", nil), "user"},
		"a float":        {begin().Arg("user", 1.5), "user"},
		"other rest":     {whole(begin()).More("to", "1"), "to"},
		"other args":     {whole(begin()).MoreArgs("to", "1"), "to"},
		"half a row":     {whole(begin()).MoreArgs("rows", "mark", "m"), "rows"},
		"a row's order":  {whole(begin()).MoreArgs("rows", "rest", "r", "mark", "m"), "mark"},
		"rests turned":   {whole(begin()).List("more", []string{"z"}).MoreArgs("rows", "mark", "m", "rest", 4), "rows"},
		"a list of rows": {whole(begin()).List("rows", []string{"z"}), "rows"},
	} {
		if err := test.call.Err(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
}

// TestWholeGroupsAreNotCopied: a script that a claim loop calls repeatedly has all of its keys in one slice.
func TestWholeGroupsAreNotCopied(t *testing.T) {
	for header, want := range map[string]int{"-- KEYS  queue:pair\n": 2, "-- KEYS  many:pair...\n": 4} {
		step := NewReader(library(header+"-- ARGV  user\n"), "s", roomNames)
		c := step.On(room{}).Arg("user", "bob")
		if err := c.Err(); err != nil || len(c.Keys) != want || !c.Script.ReadOnly {
			t.Errorf("%s: got %v and %v", header, c.Keys, err)
		}
	}
	short := Bind(library("-- KEYS  queue:pair\n").Load("s"), Names[room]{Groups: map[string]func(room) []string{
		"queue:pair": func(room) []string { return []string{"q:a"} }}})
	if err := short.On(room{}).Err(); err == nil {
		t.Error("a group with a key too few is taken")
	}
}

func TestBindingRefusesWhatTheKeySetDoesNotKnow(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("bound")
		}
	}()
	Bind(library("-- KEYS  other:pair\n").Load("s"), roomNames)
}

func TestCallsAllocateTheirSlicesOnly(t *testing.T) {
	names := Names[room]{Keys: map[string]func(room) string{"log": func(r room) string { return r.name }}, Groups: roomNames.Groups}
	step := Bind(library("-- KEYS  log author core:pair\n-- ARGV  user id:int all:flag\n").Load("s"), names)
	got := testing.AllocsPerRun(100, func() {
		c := step.On(room{"r"}).Key("author", "x").Arg("user", "bob").Arg("id", 7).Arg("all", true)
		if c.Err() != nil {
			t.Fatal(c.Err())
		}
	})
	if got > 3 { // the keys, the arguments, and the slice of the group, which the test allocates
		t.Errorf("got %.0f allocations", got)
	}
}
