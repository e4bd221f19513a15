package script

import "strconv"

// Reply is the answer of a script: an array, or a list within it.
type Reply []any

// Text returns element i as a string; empty if there is none.
func (r Reply) Text(i int) string {
	if i >= len(r) {
		return ""
	}
	switch v := r[i].(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}

// Texts returns element i as a list of strings; nil if there is none.
func (r Reply) Texts(i int) []string {
	if i >= len(r) {
		return nil
	}
	list, _ := r[i].([]any)
	texts := make([]string, len(list))
	for j := range list {
		texts[j] = Reply(list).Text(j)
	}
	return texts
}

// List returns element i as what it holds; nil if it is no array.
func (r Reply) List(i int) Reply {
	if i >= len(r) {
		return nil
	}
	list, _ := r[i].([]any)
	return Reply(list)
}

// Number returns element i as an integer; 0 if it is none.
func (r Reply) Number(i int) int64 { return Number(r.Text(i)) }

// Number parses an integer, or a score, of which the store uses only whole numbers below 2^53. It is 0 if s is neither.
func Number(s string) int64 {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return int64(f)
}
