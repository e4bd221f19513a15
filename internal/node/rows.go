package node

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/web/limit"
)

// Types of settings. Each is the text as it was given: check says whether it fits its row in Config, and value what it means once
// that is so.
type (
	number   string // whole, from min (1) to max, of unit; with the tag off it may be off, which is 0. zero says what 0 means
	duration string // from 0s to max
	rate     string // as limit.ParseRate has it
	choice   string // one of allowed
)

func (n number) check(row reflect.StructTag) error {
	least, most := cmp.Or(row.Get("min"), "1"), row.Get("max")
	low, _ := strconv.Atoi(least)
	high, _ := strconv.Atoi(most)
	_, off := row.Lookup("off")
	if got, err := strconv.Atoi(string(n)); err == nil && low <= got && got <= high || off && n == "off" {
		return nil
	}
	text := "want "
	if off {
		text += "off, or "
	}
	text += "a whole number "
	if unit := row.Get("unit"); unit != "" {
		text += "of " + unit + " "
	}
	text += "from " + least
	if zero := row.Get("zero"); zero != "" {
		text += " (" + zero + ")"
	}
	return errors.New(text + " to " + most)
}

func (n number) value() int {
	v, _ := strconv.Atoi(string(n))
	return v
}

func (d duration) check(row reflect.StructTag) error {
	most, _ := time.ParseDuration(row.Get("max"))
	if got, err := time.ParseDuration(string(d)); err != nil || got < 0 || got > most {
		return fmt.Errorf("want a duration from 0s to %s, such as 3s", most)
	}
	return nil
}

func (d duration) value() time.Duration {
	v, _ := time.ParseDuration(string(d))
	return v
}

func (r rate) check(reflect.StructTag) error {
	_, err := limit.ParseRate(string(r))
	return err
}

func (r rate) value() limit.Rate {
	v, _ := limit.ParseRate(string(r))
	return v
}

func (c choice) check(row reflect.StructTag) error {
	if allowed := row.Get("allowed"); !slices.Contains(strings.Split(allowed, ", "), string(c)) {
		return fmt.Errorf("want one of %s", allowed)
	}
	return nil
}

// read returns the settings with their lists trimmed, their empty texts replaced by the defaults, and all checked whose rows say
// how.
func (c Config) read() (s settings, p problems) {
	s = settings{Config: c, given: c}
	fields := reflect.ValueOf(&s.Config).Elem()
	for i := range fields.NumField() {
		field, row := fields.Field(i), fields.Type().Field(i).Tag
		if list, ok := field.Interface().([]string); ok {
			field.Set(reflect.ValueOf(trimmed(list)))
			continue
		}
		if field.String() == "" {
			field.SetString(row.Get("default"))
		}
		if one, ok := field.Interface().(interface{ check(reflect.StructTag) error }); ok && field.String() != "" {
			if err := one.check(row); err != nil {
				p.add(row.Get("env"), "%v; not %q", err, field.String())
			}
		}
	}
	return s, p
}
