package then

import (
	"reflect"
	"testing"
)

func TestParseIsTheInverseOfLine(t *testing.T) {
	all := []Successor{{ID: "p00-a", Kind: "k", Payload: []byte{0, '\n', 255}, Priority: "low", DelayMs: 7}, {Kind: "l", Options: "\rkeep 1"}}
	if got, ok := Parse(Line(all)); !ok || !reflect.DeepEqual(got, all) {
		t.Errorf("%+v became %+v, %v", all, got, ok)
	}
	for _, bad := range []string{"", "!", "e30", Line(nil)} {
		if got, ok := Parse(bad); ok {
			t.Errorf("%q is %+v", bad, got)
		}
	}
}
