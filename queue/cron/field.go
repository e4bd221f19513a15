package cron

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// field is one field of an expression: what it is called, and what its numbers and names are.
type field struct {
	name      string
	low, high int
	names     []string // of the numbers from low on
	instead   string   // what its numbers and names are called in an error
}

// fields are those of an expression with seconds.
var fields = []field{
	{name: "second", high: 59},
	{name: "minute", high: 59},
	{name: "hour", high: 23},
	dayOfMonth,
	{name: "month", low: 1, high: 12, instead: "1 to 12, or JAN to DEC",
		names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	dayOfWeek,
}

var (
	dayOfMonth = field{name: "day of month", low: 1, high: 31}
	dayOfWeek  = field{name: "day of week", high: 7, instead: "0 to 7 (0 and 7 are Sunday), or SUN to SAT",
		names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}
)

// normal returns a field as the library reads it. Its error says what is wrong with the field and what to write instead.
func (f field) normal(text string) (string, error) {
	var elements []string
	for element := range strings.SplitSeq(text, ",") {
		normal, err := f.element(element)
		if err != nil {
			return "", fmt.Errorf("%w: %s %q: %w", ErrExpression, f.name, text, err)
		}
		elements = append(elements, normal)
	}
	return strings.Join(elements, ","), nil
}

// Elements that only one of the days can have, in capital letters.
var (
	ofMonth = regexp.MustCompile(`^(L|LW|L-([1-9]|[12][0-9]|30)|([1-9]|[12][0-9]|3[01])W)$`)
	ofWeek  = regexp.MustCompile(`^(.+)(L|#[1-5])$`)
	// special is what looks like one of these. A lone L as the day of week means Saturday to Quartz, which nobody expects.
	special = regexp.MustCompile(`^(L|W|LW|L-\d+|\d+[LW]|\w+#\w*)$`)
)

// element returns an element of a list as the library reads it.
func (f field) element(text string) (string, error) {
	capital := strings.ToUpper(text)
	if f.name == dayOfMonth.name && ofMonth.MatchString(capital) {
		return capital, nil
	}
	if found := ofWeek.FindStringSubmatch(capital); found != nil && f.name == dayOfWeek.name {
		if day, ok := f.number(found[1]); ok {
			which := found[2]
			if which == "L" {
				which = "#L"
			}
			return strconv.Itoa(day%7) + which, nil
		}
	}
	if special.MatchString(capital) {
		return "", f.misplaced(capital)
	}
	span, step, stepped := strings.Cut(text, "/")
	low, high := f.low, f.high
	if span != "*" && span != "?" {
		from, to, ranged := strings.Cut(span, "-")
		var ok bool
		if low, ok = f.number(from); !ok {
			return "", f.unknown(from)
		}
		switch {
		case ranged:
			if high, ok = f.number(to); !ok {
				return "", f.unknown(to)
			}
		case !stepped:
			high = low
		}
	}
	if !stepped {
		return text, nil
	}
	size := high - low + 1
	if low > high { // over the end of the field
		size += f.high - f.low + 1
	}
	if n, err := strconv.Atoi(step); err != nil || n < 1 || n > 1 && n >= size || !digits(step) {
		return "", fmt.Errorf("%q is no step: want 1 to %d after the slash", step, max(size-1, 1))
	}
	return text, nil
}

// number reads a number or a name of the field.
func (f field) number(text string) (int, bool) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return f.low + i, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && digits(text) && n >= f.low && n <= f.high
}

func digits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// unknown is the error of what is neither a number nor a name of the field.
func (f field) unknown(text string) error {
	switch capital := strings.ToUpper(text); {
	case special.MatchString(capital): // what it may mean is decided before, for the whole element
		return fmt.Errorf("%s stands alone, or in a list: not in a range, and without a step", capital)
	case text == "":
		return fmt.Errorf("a number is missing")
	case strings.HasPrefix(strings.ToUpper(text), "H") && f.instead == "":
		return fmt.Errorf("an H is not supported: write a number, %d to %d", f.low, f.high)
	case f.instead != "":
		return fmt.Errorf("%q is unknown: want %s", text, f.instead)
	}
	return fmt.Errorf("%q is unknown: want %d to %d", text, f.low, f.high)
}

// misplaced is the error of what other fields may have, or this one in another form.
func (f field) misplaced(text string) error {
	switch f.name {
	case dayOfMonth.name:
		return fmt.Errorf("%s is unknown: write L (the last day), L-3 (three days before it), LW (the last weekday) or 15W (the weekday nearest the 15th)", text)
	case dayOfWeek.name:
		return fmt.Errorf("%s is unknown: write 5L or FRIL (the last Friday), 5#3 or FRI#3 (the third Friday), or SAT", text)
	}
	return fmt.Errorf("%s stands only in a field of days", text)
}
