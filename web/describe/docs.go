package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

//go:embed docs.html
var docsHTML string

// methodOrder is the order of the methods of one path.
var methodOrder = []string{"OPTIONS", "GET", "POST", "PUT", "PATCH", "DELETE"}

func operationsOf(doc *openapi3.T, tag string) []docsOperation {
	var out []docsOperation
	for _, template := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(template)
		for _, method := range methodOrder {
			op := item.GetOperation(method)
			if op == nil || !slices.Contains(op.Tags, tag) {
				continue
			}
			d := docsOperation{ID: op.OperationID, Method: method, Path: template, Summary: op.Summary, Text: op.Description}
			for _, p := range slices.Concat(item.Parameters, op.Parameters) {
				f := fieldOf(p.Value.Name, p.Value.Schema)
				f.In, f.Required, f.Text = p.Value.In, p.Value.Required, p.Value.Description
				d.Parameters = append(d.Parameters, f)
			}
			if op.RequestBody != nil {
				d.Body, d.Examples = bodyOf(op.RequestBody.Value.Content)
			}
			d.Answers = answersOf(op)
			out = append(out, d)
		}
	}
	return out
}

func bodyOf(content openapi3.Content) (schema string, examples []string) {
	media := content.Get("application/json")
	if media == nil {
		return "", nil
	}
	if media.Example != nil {
		examples = append(examples, compact(media.Example))
	}
	for _, name := range slices.Sorted(maps.Keys(media.Examples)) {
		examples = append(examples, compact(media.Examples[name].Value.Value))
	}
	return refName(media.Schema.Ref), examples
}

func answersOf(op *openapi3.Operation) []docsAnswer {
	var out []docsAnswer
	for _, status := range slices.Sorted(maps.Keys(op.Responses.Map())) {
		r := op.Responses.Value(status).Value
		a := docsAnswer{Status: status}
		if r.Description != nil {
			a.Text = *r.Description
		}
		for _, media := range r.Content {
			if media.Schema != nil {
				a.Schema = refName(media.Schema.Ref)
			}
		}
		out = append(out, a)
	}
	return out
}

func schemaOf(name string, s *openapi3.Schema) docsSchema {
	d := docsSchema{Name: name, Text: s.Description}
	if len(s.Enum) > 0 {
		d.Text = strings.TrimSpace(d.Text + " One of " + enumText(s.Enum) + ".")
	}
	for _, part := range s.AllOf {
		if part.Ref != "" {
			d.Fields = append(d.Fields, docsField{Name: "…", Type: "everything of", Ref: refName(part.Ref)})
			continue
		}
		d.Fields = append(d.Fields, fieldsOf(part.Value)...)
	}
	d.Fields = append(d.Fields, fieldsOf(s)...)
	return d
}

func fieldsOf(s *openapi3.Schema) []docsField {
	var out []docsField
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		f := fieldOf(name, s.Properties[name])
		f.Required = slices.Contains(s.Required, name)
		out = append(out, f)
	}
	return out
}

func fieldOf(name string, ref *openapi3.SchemaRef) docsField {
	f := docsField{Name: name, Ref: refName(ref.Ref), Text: ref.Value.Description}
	s := ref.Value
	if f.Ref == "" {
		f.Type = typeName(s)
		if s.Items != nil {
			f.Ref = refName(s.Items.Ref)
		} else if s.AdditionalProperties.Schema != nil {
			f.Ref = refName(s.AdditionalProperties.Schema.Ref)
		}
		if len(s.Enum) > 0 {
			f.Text = strings.TrimSpace(f.Text + " One of " + enumText(s.Enum) + ".")
		}
	}
	if s.Default != nil {
		f.Text = strings.TrimSpace(fmt.Sprintf("%s Default: %v.", f.Text, s.Default))
	}
	return f
}

func typeName(s *openapi3.Schema) string {
	switch {
	case s.Type.Is(openapi3.TypeArray):
		return strings.TrimSpace("list of " + elementName(s.Items))
	case s.AdditionalProperties.Schema != nil:
		return strings.TrimSpace("map to " + elementName(s.AdditionalProperties.Schema))
	case s.Type == nil:
		return ""
	default:
		return strings.Join(s.Type.Slice(), " or ")
	}
}

// elementName is empty for a schema that has its own name, which is shown as a link.
func elementName(ref *openapi3.SchemaRef) string {
	if ref.Ref != "" {
		return ""
	}
	if len(ref.Value.OneOf) > 0 {
		var names []string
		for _, one := range ref.Value.OneOf {
			names = append(names, typeName(one.Value))
		}
		return strings.Join(names, " or ")
	}
	return typeName(ref.Value)
}

func enumText(values []any) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = fmt.Sprint(v)
	}
	return strings.Join(names, ", ")
}

func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

func compact(example any) string {
	b, err := json.Marshal(example)
	if err != nil {
		return ""
	}
	return string(b)
}

// docsPage is the description, arranged for reading.
type docsPage struct {
	Title, Version, Text string
	Tags                 []docsTag
	Schemas              []docsSchema
}

type docsTag struct {
	Name, Text string
	Operations []docsOperation
}

type docsOperation struct {
	ID, Method, Path, Summary, Text string
	Parameters                      []docsField
	Body                            string // name of the schema
	Examples                        []string
	Answers                         []docsAnswer
}

type docsAnswer struct{ Status, Text, Schema string }

type docsSchema struct {
	Name, Text string
	Fields     []docsField
}

type docsField struct {
	Name, In, Type, Ref, Text string
	Required                  bool
}

func renderDocs(doc *openapi3.T) ([]byte, error) {
	t, err := template.New("docs").Funcs(template.FuncMap{"paragraphs": paragraphs, "lower": strings.ToLower, "isCode": func(i int) bool { return i%2 == 1 }}).Parse(docsHTML)
	if err != nil {
		return nil, err
	}
	page := docsPage{Title: doc.Info.Title, Version: doc.Info.Version, Text: doc.Info.Description}
	for _, tag := range doc.Tags {
		page.Tags = append(page.Tags, docsTag{Name: tag.Name, Text: tag.Description, Operations: operationsOf(doc, tag.Name)})
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		page.Schemas = append(page.Schemas, schemaOf(name, doc.Components.Schemas[name].Value))
	}
	var out bytes.Buffer
	if err := t.Execute(&out, page); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// paragraphs splits text at empty lines, and each paragraph into plain text and code, which is between backquotes.
func paragraphs(text string) [][]string {
	var out [][]string
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if p != "" {
			out = append(out, strings.Split(p, "`"))
		}
	}
	return out
}
