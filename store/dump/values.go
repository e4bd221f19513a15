package dump

import (
	"maps"
	"slices"
	"strconv"
)

// pairs goes through fields and values, or scores and members.
func pairs(values []text, each func(first, second string)) {
	for n := 0; n+1 < len(values); n += 2 {
		each(string(values[n]), string(values[n+1]))
	}
}

// field finds a field of a hash.
func field(values []text, name string) (value string, ok bool) {
	pairs(values, func(field, found string) {
		if field == name {
			value, ok = found, true
		}
	})
	return value, ok
}

// step is how many values an element has: field and value, score and member, or one.
func (p part) step() int {
	if p.Kind == "hash" || p.Kind == "zset" {
		return 2
	}
	return 1
}

// rewritten is a part with changed values: change gets those of an element at a time.
func rewritten(p part, change func(values []text)) part {
	p.Values = slices.Clone(p.Values)
	for values, step := p.Values, p.step(); len(values) >= step; values = values[step:] {
		change(values[:step])
	}
	return p
}

// hashOf makes the parts of a hash; none where it is empty.
func hashOf(key string, partition int, fields map[string]string) (parts []part) {
	for some := range slices.Chunk(slices.Sorted(maps.Keys(fields)), valuesStep) {
		p := part{Key: key, Partition: partition, Kind: "hash"}
		for _, name := range some {
			p.Values = append(p.Values, text(name), text(fields[name]))
		}
		parts = append(parts, p)
	}
	return parts
}

// number reads a whole number; what is none counts as 0.
func number(value string) int64 {
	n, _ := strconv.ParseInt(value, 10, 64)
	return n
}
