// Package mergepatch applies JSON Merge Patches (RFC 7396) to JSON objects.
package mergepatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrObject is the error for a document or a patch that is no JSON object.
var ErrObject = errors.New("want a JSON object")

// Apply merges patch into document and returns the result without white space and with its names in order, so that equal objects are
// equal bytes. An empty document is an object without members, and so is the result then: `{}`. Numbers and strings keep their
// spelling. Where a name is repeated the last one counts: callers who care refuse that before, and nesting that is too deep.
func Apply(document, patch []byte) ([]byte, error) {
	if len(document) == 0 {
		document = []byte("{}")
	}
	for _, b := range [][]byte{document, patch} {
		if !isObject(b) || !json.Valid(b) {
			return nil, ErrObject
		}
	}
	merged, err := merge(document, patch)
	if err != nil {
		return nil, fmt.Errorf("merge patch: %w", err)
	}
	return merged, nil
}

// merge is MergePatch of RFC 7396, section 2. What document is not an object counts as an empty one.
func merge(document, patch json.RawMessage) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if isObject(document) {
		if err := json.Unmarshal(document, &members); err != nil {
			return nil, err
		}
	}
	var changes map[string]json.RawMessage
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, err
	}
	for name, change := range changes {
		switch {
		case string(change) == "null":
			delete(members, name)
			continue
		case isObject(change):
			// What is new goes through this too: the nulls in it are not kept.
			merged, err := merge(members[name], change)
			if err != nil {
				return nil, err
			}
			change = merged
		}
		members[name] = change
	}
	// Encoding writes the names in order, and raw values without white space.
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(members); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func isObject(b []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) }
