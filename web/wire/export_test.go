package wire

import "reflect"

const DepthMax = depthMax

// FieldsOf names the fields that Decode accepts for a type.
func FieldsOf(t reflect.Type) map[string]bool {
	names := make(map[string]bool)
	for name := range shapeOf(t).fields {
		names[name] = true
	}
	return names
}
