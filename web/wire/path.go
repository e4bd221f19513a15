package wire

import (
	"strconv"
	"strings"
)

// entry is the path of an entry of a map, whose key a client chose.
func entry(name, key string) string {
	if quoted := QuoteName(key); quoted != `"`+key+`"` {
		return name + "." + quoted
	}
	return name + "." + key
}

// pathAt names the value of valid JSON in which the first offset bytes end, as clients write it: to.users[2]. encoding/json
// names the fields of Go's structs instead. It is empty for the outermost value.
func pathAt(b []byte, offset int64) string {
	var path []string // of the open objects and lists: the name or index of what is read of each
	var index []int   // of the element; -1 for an object
	key := false      // the next string is a name
	for i := 0; i < len(b) && int64(i) < offset; i++ {
		switch b[i] {
		case '{', '[':
			if int64(i)+1 >= offset {
				continue // the object or list itself
			}
			if key = b[i] == '{'; key {
				path, index = append(path, ""), append(index, -1)
			} else {
				path, index = append(path, "[0]"), append(index, 0)
			}
		case '}', ']':
			if int64(i)+1 < offset {
				path, index = path[:len(path)-1], index[:len(index)-1]
			}
			key = false
		case ',':
			last := len(path) - 1
			if key = index[last] < 0; !key {
				index[last]++
				path[last] = "[" + strconv.Itoa(index[last]) + "]"
			}
		case '"':
			end := stringEnd(b, i)
			if key {
				name, _ := unquote(b[i : end+1])
				path[len(path)-1] = "." + name
				key = false
			}
			i = end
		}
	}
	return strings.TrimPrefix(strings.Join(path, ""), ".")
}
