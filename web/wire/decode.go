package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
)

// depthMax is how deep the JSON of a request may nest: far above what any client needs, far below what strains the
// stack.
const depthMax = 32

// Decode parses one JSON object into a struct. encoding/json alone accepts unknown fields, names in another case,
// repeated names, null for anything, invalid UTF-8 and data after the object; Decode accepts none of that. Errors name
// the field by its path in the JSON, such as to.users[2], never a value.
func Decode(body []byte, into any) error {
	if !utf8.Valid(body) {
		return chat.Errorf(chat.CodeInvalid, "the body is not valid UTF-8")
	}
	if !json.Valid(body) {
		return chat.Errorf(chat.CodeInvalid, "the body is not one JSON value")
	}
	if loneSurrogate(body) {
		return chat.Errorf(chat.CodeInvalid, "an escape sequence stands for half a character")
	}
	return DecodePart(body, into)
}

// DecodePart is Decode for a value in a body that Decode took.
func DecodePart(part []byte, into any) error {
	if err := checkFields(part, shapeOf(reflect.TypeOf(into).Elem()), ""); err != nil {
		return err
	}
	if err := json.Unmarshal(part, into); err != nil {
		return decodeError(part, err)
	}
	return nil
}

// Peek parses the fields that into has from one JSON object, and ignores others. b is valid JSON.
func Peek(b []byte, into any) error {
	if _, err := scanObject(b); err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return decodeError(b, err)
	}
	return nil
}

// CheckObject checks that b, which is valid JSON, is an object whose names are unique, at any depth, and which nests no
// deeper than requests may.
func CheckObject(b []byte) error {
	_, err := scanObject(b)
	return err
}

// checkFields checks which fields a JSON object has, including those of nested objects whose fields are known. inside is the
// path of the object, with a dot behind it.
func checkFields(body []byte, shape *shape, inside string) error {
	fields, err := scanObject(body)
	if err != nil {
		return err
	}
	missing := slices.Clone(shape.required)
	for _, f := range fields {
		known, ok := shape.fields[f.name]
		if !ok {
			return chat.Errorf(chat.CodeInvalid, "unknown field %s", QuoteName(inside+f.name))
		}
		if f.null && !known.takesNull {
			return chat.Errorf(chat.CodeInvalid, "%s: must not be null", inside+f.name)
		}
		if known.required {
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == f.name })
		}
		if known.optional {
			if err := checkGiven(inside+f.name, body[f.value:]); err != nil {
				return err
			}
		}
		if known.elements && bytes.Contains(body[f.value:], null) {
			if err := checkElements(inside+f.name, body[f.value:]); err != nil {
				return err
			}
		}
		if known.objects != nil && body[f.value] == '[' {
			if err := checkObjects(inside+f.name, body[f.value:], shapeOf(known.objects)); err != nil {
				return err
			}
		}
		if known.object == nil || body[f.value] != '{' {
			continue // if it must be an object, decoding reports it
		}
		var inner json.RawMessage
		if err := json.NewDecoder(bytes.NewReader(body[f.value:])).Decode(&inner); err != nil {
			return decodeError(body, err)
		}
		if err := checkFields(inner, shapeOf(known.object), inside+f.name+"."); err != nil {
			return err
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return chat.Errorf(chat.CodeInvalid, "%s is required", inside+missing[0])
	}
	return chat.Errorf(chat.CodeInvalid, "%s are required", inside+strings.Join(missing, ", "+inside))
}

// checkObjects checks the fields of the objects in a list. What else is in it, decoding reports.
func checkObjects(name string, list []byte, shape *shape) error {
	var elements []json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(list)).Decode(&elements); err != nil {
		return decodeError(list, err)
	}
	for i, e := range elements {
		if e[0] != '{' {
			continue
		}
		if err := checkFields(e, shape, fmt.Sprintf("%s[%d].", name, i)); err != nil {
			return err
		}
	}
	return nil
}

func decodeError(body []byte, err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		// The syntax is valid by now, so a type has refused a value, a time for example.
		return &chat.Error{Code: chat.CodeInvalid, Message: "a field has a value that its type does not allow", Cause: err}
	}
	name := pathAt(body, wrong.Offset)
	if name == "" {
		name = "the body"
	}
	return chat.Errorf(chat.CodeInvalid, "%s: want %s", QuoteName(name), kindName(wrong.Type))
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "an integer below 2^63"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// QuoteName quotes a name that a client chose: short, with control characters escaped.
func QuoteName(name string) string {
	const bytesMax = 64
	if len(name) > bytesMax {
		name = name[:bytesMax]
	}
	return strconv.QuoteToASCII(name)
}

var rawType = reflect.TypeFor[json.RawMessage]()

// checkGiven refuses the value that stands for an absent field: nothing that a client writes is silently ignored.
func checkGiven(name string, value []byte) error {
	switch {
	case bytes.HasPrefix(value, []byte(`""`)):
		return chat.Errorf(chat.CodeInvalid, "%s: must not be empty", name)
	case zero.Match(value):
		return chat.Errorf(chat.CodeInvalid, "%s: want an integer from 1", name)
	}
	return nil
}

var null = []byte("null")

// checkElements refuses null in a list or a map: decoding would turn it into an empty string or a zero.
func checkElements(name string, value []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(value))
	if value[0] == '{' {
		var object map[string]json.RawMessage
		if err := decoder.Decode(&object); err != nil {
			return decodeError(value, err)
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if bytes.Equal(object[key], null) {
				return chat.Errorf(chat.CodeInvalid, "%s: must not be null", entry(name, key))
			}
		}
		return nil
	}
	var elements []json.RawMessage
	if err := decoder.Decode(&elements); err != nil {
		return nil // neither list nor map: decoding reports it
	}
	for i, e := range elements {
		if bytes.Equal(e, null) {
			return chat.Errorf(chat.CodeInvalid, "%s[%d]: must not be null", name, i)
		}
	}
	return nil
}

var zero = regexp.MustCompile(`^-?0[^0-9.eE]`)

// shape is what Decode needs to know about a struct. In the types of requests, omitempty marks exactly the optional
// fields.
type shape struct {
	fields   map[string]fieldShape
	required []string
}

type fieldShape struct {
	takesNull bool
	required  bool
	elements  bool         // a list or a map whose elements must not be null
	optional  bool         // a plain string or integer, whose zero value stands for an absent field
	object    reflect.Type // of an object with its own fields; nil: it is none
	objects   reflect.Type // of such objects in a list; nil: it is none
}

var shapes sync.Map // reflect.Type -> *shape: the types of requests, a few dozen

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	s := &shape{fields: make(map[string]fieldShape, t.NumField())}
	for _, part := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(part.Tag.Get("json"), ",")
		if part.Anonymous && name == "" {
			continue // its fields are visible on their own
		}
		f := fieldShape{takesNull: part.Type == rawType, required: !strings.Contains(options, "omitempty")}
		inner := part.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			f.object = inner
		}
		if (inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map) && inner != rawType {
			f.elements = inner.Elem() != rawType
			if inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct {
				f.objects = inner.Elem()
			}
		}
		f.optional = !f.required && (part.Type.Kind() == reflect.String || part.Type.Kind() == reflect.Int64)
		s.fields[name] = f
		if f.required {
			s.required = append(s.required, name)
		}
	}
	shapes.Store(t, s)
	return s
}

// field is a field of the outermost object.
type field struct {
	name  string
	null  bool
	value int // where its value begins
}

// scanObject walks over valid JSON and returns the fields of its outermost object. It refuses anything but an object,
// nesting beyond depthMax, repeated names in any object, and numbers that do not fit a double.
func scanObject(b []byte) ([]field, error) {
	var (
		fields []field
		stack  []map[string]struct{} // names seen in each open object; nil for a list
		key    bool                  // the next string is a name
	)
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			if len(stack) == depthMax {
				return nil, chat.Errorf(chat.CodeInvalid, "nested deeper than %d", depthMax)
			}
			if key = b[i] == '{'; key {
				stack = append(stack, make(map[string]struct{}))
			} else {
				stack = append(stack, nil)
			}
		case '}', ']':
			stack = stack[:len(stack)-1]
			key = false
		case ',':
			key = stack[len(stack)-1] != nil
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			end := numberEnd(b, i)
			if beyondDouble(b[i:end]) {
				return nil, chat.Errorf(chat.CodeInvalid, "a number exceeds the range of a double")
			}
			i = end - 1
		case '"':
			end := stringEnd(b, i)
			if key {
				name, err := unquote(b[i : end+1])
				if err != nil {
					return nil, err
				}
				open := stack[len(stack)-1]
				if _, twice := open[name]; twice {
					return nil, chat.Errorf(chat.CodeInvalid, "%s appears twice", QuoteName(pathAt(b, int64(end)+1)))
				}
				open[name] = struct{}{}
				if len(stack) == 1 {
					value := end + 1 + len(b[end+1:]) - len(bytes.TrimLeft(b[end+1:], " \t\r\n:"))
					fields = append(fields, field{name: name, null: b[value] == 'n', value: value})
				}
				key = false
			}
			i = end
		}
		if len(stack) == 0 && b[i] != '}' && !isSpace(b[i]) {
			return nil, chat.Errorf(chat.CodeInvalid, "want a JSON object")
		}
	}
	return fields, nil
}

// numberEnd returns the index after the number that begins at i.
func numberEnd(b []byte, i int) int {
	for i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i] == '.' || b[i] == '-' || b[i] == '+' || b[i] == 'e' || b[i] == 'E') {
		i++
	}
	return i
}

// beyondDouble reports whether a number exceeds a double: many JSON readers would refuse it, and the whole batch with
// it. A number without an exponent and with fewer digits than the largest double always fits.
func beyondDouble(number []byte) bool {
	const digitsMax = 308
	if len(number) <= digitsMax && bytes.IndexByte(number, 'e') < 0 && bytes.IndexByte(number, 'E') < 0 {
		return false
	}
	_, err := strconv.ParseFloat(string(number), 64)
	return err != nil
}

// stringEnd returns the index of the quote that closes the string opened at i.
func stringEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}

// loneSurrogate reports whether valid JSON escapes half of a UTF-16 pair. That is not text: Go would silently replace
// it, and a `data` that is served as it came would make strict readers refuse the whole batch.
func loneSurrogate(b []byte) bool {
	for i := bytes.IndexByte(b, '\\'); i >= 0; i = bytes.IndexByte(b, '\\') {
		high, n := escapedUnit(b[i:])
		b = b[i+n:]
		if !utf16.IsSurrogate(high) {
			continue
		}
		low, n := escapedUnit(b)
		if utf16.DecodeRune(high, low) == unicode.ReplacementChar {
			return true
		}
		b = b[n:]
	}
	return false
}

// escapedUnit parses the escape that b begins with: it returns its UTF-16 unit if it is written as \uXXXX, else 0, and
// its length.
func escapedUnit(b []byte) (unit rune, length int) {
	const short, long = len(`\n`), len(`\u0000`)
	if len(b) < long || b[0] != '\\' || b[1] != 'u' {
		return 0, short
	}
	n, err := strconv.ParseUint(string(b[2:long]), 16, 16)
	if err != nil {
		return 0, short
	}
	return rune(n), long
}

func unquote(quoted []byte) (string, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return "", fmt.Errorf("a name that was checked before: %w", err)
	}
	return s, nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// Decimal parses a number the way the API writes ids: digits only, below 2^63.
func Decimal(s string) (int64, bool) {
	if s == "" || len(s) > 19 {
		return 0, false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
