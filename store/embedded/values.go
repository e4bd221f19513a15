package embedded

import (
	"errors"
	"reflect"

	lua "github.com/yuin/gopher-lua"

	"github.com/alicebob/miniredis/v2"
)

// values are the strings and hashes of miniredis, where it keeps them. Scripts that only look at them do so without a command: one
// that miniredis answers is written as text and read again, which takes three times as long. Everything that changes them, and
// every error, is left to miniredis.
//
// miniredis' own lock guards them.
type values struct {
	types   *map[string]string // of all keys
	strings *map[string]string
	hashes  *map[string]map[string]string
}

// findValues finds them in a database. miniredis replaces the maps when it is flushed, but not the variables.
func findValues(db *miniredis.RedisDB) (v values, err error) {
	list, mapping := reflect.TypeFor[map[string]string](), reflect.TypeFor[map[string]map[string]string]()
	fields := reflect.ValueOf(db).Elem()
	keys, texts, hashes := fields.FieldByName("keys"), fields.FieldByName("stringKeys"), fields.FieldByName("hashKeys")
	if !keys.IsValid() || keys.Type() != list || !texts.IsValid() || texts.Type() != list || !hashes.IsValid() ||
		hashes.Kind() != reflect.Map || hashes.Type().Key() != mapping.Key() || !hashes.Type().Elem().ConvertibleTo(list) {
		return v, errors.New("embedded: this version of miniredis keeps its values differently")
	}
	v.types = (*map[string]string)(keys.Addr().UnsafePointer())
	v.strings = (*map[string]string)(texts.Addr().UnsafePointer())
	v.hashes = (*map[string]map[string]string)(hashes.Addr().UnsafePointer()) // the types differ in a name
	return v, nil
}

// read answers a command that only reads, as redis.call returns it. done is false if it is another one, or an error.
func (v values) read(l *lua.LState, cmd string, args []string) (answer lua.LValue, done bool) {
	switch {
	case len(args) == 0:
		return nil, false
	case cmd == "EXISTS":
		return v.exist(args), true
	case cmd == "MGET":
		return v.texts(l, args), true
	}
	kind, exists := (*v.types)[args[0]]
	switch cmd {
	case "GET":
		if len(args) == 1 && (!exists || kind == "string") {
			return v.text(args[0]), true
		}
	case "HGET", "HMGET", "HLEN", "HEXISTS":
		if !exists || kind == "hash" {
			return readHash(l, cmd, (*v.hashes)[args[0]], args[1:])
		}
	}
	return nil, false
}

func (v values) exist(keys []string) lua.LValue {
	n := 0
	for _, key := range keys {
		if _, exists := (*v.types)[key]; exists {
			n++
		}
	}
	return lua.LNumber(n)
}

func (v values) texts(l *lua.LState, keys []string) lua.LValue {
	t := l.CreateTable(len(keys), 0)
	for _, key := range keys {
		t.Append(v.text(key))
	}
	return t
}

func (v values) text(key string) lua.LValue { return textOf(*v.strings, key) }

// textOf is false for what is not there: so Redis converts null.
func textOf(m map[string]string, key string) lua.LValue {
	if text, exists := m[key]; exists {
		return lua.LString(text)
	}
	return lua.LFalse
}

func readHash(l *lua.LState, cmd string, hash map[string]string, fields []string) (answer lua.LValue, done bool) {
	switch {
	case cmd == "HLEN" && len(fields) == 0:
		return lua.LNumber(len(hash)), true
	case cmd == "HGET" && len(fields) == 1:
		return textOf(hash, fields[0]), true
	case cmd == "HEXISTS" && len(fields) == 1:
		if _, exists := hash[fields[0]]; exists {
			return lua.LNumber(1), true
		}
		return lua.LNumber(0), true
	case cmd == "HMGET" && len(fields) > 0:
		t := l.CreateTable(len(fields), 0)
		for _, field := range fields {
			t.Append(textOf(hash, field))
		}
		return t, true
	}
	return nil, false
}
