package chat

import (
	"encoding/json"

	"github.com/chatd/chatd/internal/mergepatch"
)

// DataBytesMax is how many bytes the custom fields of a group, a member or a user have at most: one JSON object without white space.
const DataBytesMax = 4 << 10

// MergeData merges patch, a JSON Merge Patch (RFC 7396), into custom fields; null takes all away. nil: nothing is left.
func MergeData(data, patch json.RawMessage) (json.RawMessage, error) {
	if len(patch) == 0 || string(patch) == "null" {
		return nil, nil
	}
	merged, err := mergepatch.Apply(data, patch)
	switch {
	case err != nil:
		return nil, Invalid("data: want a JSON object")
	case len(merged) > DataBytesMax:
		return nil, Errorf(CodeOutOfRange, "data: at most %d bytes", DataBytesMax)
	case string(merged) == "{}":
		return nil, nil
	}
	return merged, nil
}
