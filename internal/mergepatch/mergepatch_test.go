package mergepatch_test

import (
	"errors"
	"testing"

	"github.com/chatd/chatd/internal/mergepatch"
)

// The cases of RFC 7396, appendix A, whose document and patch are objects, and what a client may rely on besides.
func TestApply(t *testing.T) {
	for _, c := range []struct{ document, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"a":"x"}`, `{"a":{"b":1,"c":null}}`, `{"a":{"b":1}}`},
		{``, `{"b":1,"a":[null]}`, `{"a":[null],"b":1}`},
		{`{"n":9007199254740993}`, ` { "x" : 1.50 , "<" : "<&>" } `, `{"<":"<&>","n":9007199254740993,"x":1.50}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
	} {
		got, err := mergepatch.Apply([]byte(c.document), []byte(c.patch))
		if err != nil || string(got) != c.want {
			t.Errorf("%s with %s: got %s, %v, want %s", c.document, c.patch, got, err, c.want)
		}
	}
	for _, patch := range []string{``, `null`, `[]`, `"x"`, `1`, `{`, `{} {}`} {
		if got, err := mergepatch.Apply(nil, []byte(patch)); !errors.Is(err, mergepatch.ErrObject) {
			t.Errorf("%q: got %s, %v", patch, got, err)
		}
	}
}
