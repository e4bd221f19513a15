package scripttest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chatd/chatd/queue/script"
)

// gives are the methods of a script.Call whose first argument is a name of the header.
var gives = []string{"Key", "Arg", "More", "MoreArgs", "List"}

// CheckCalls compares the names that the Go files of the folder give to calls with what the scripts take. A function that makes
// calls gives all of their names, by itself or in functions that it hands a call or a script to; a name that it gives is one of
// them. So a misspelt or forgotten one shows, although no test comes by.
func CheckCalls(t *testing.T, folder string, scripts []*script.Script) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	p := pack{byVar: map[string]*script.Script{}, functions: map[string]*ast.FuncDecl{}}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			p.read(t, file, scripts)
		}
	}
	if len(p.byVar) != len(scripts) {
		t.Fatalf("%d scripts in variables, want %d", len(p.byVar), len(scripts))
	}
	checked := map[string]bool{}
	for name, function := range p.functions {
		used := p.used(function)
		if len(used) == 0 {
			continue
		}
		want, given := map[string]bool{}, map[string]bool{}
		for _, s := range used {
			checked[s.SHA()] = true
			for _, name := range s.Given() {
				want[name] = true
			}
		}
		p.given(function, given, map[string]bool{})
		for one := range want {
			if !given[one] {
				t.Errorf("%s gives no %s to %s", name, one, used[0].Name)
			}
		}
		for one := range given {
			if !want[one] {
				t.Errorf("%s gives %s, which %s does not take", name, one, used[0].Name)
			}
		}
	}
	if len(checked) != len(scripts) {
		t.Errorf("%d scripts are called, of %d", len(checked), len(scripts))
	}
}

// pack is a package: the scripts in its variables, and its functions.
type pack struct {
	byVar     map[string]*script.Script
	functions map[string]*ast.FuncDecl
}

func (p *pack) read(t *testing.T, path string, scripts []*script.Script) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		if function, ok := decl.(*ast.FuncDecl); ok {
			p.functions[function.Name.Name] = function
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if function, name := callOf(spec.Values[0], "newScript", "newReader", "newFreeing"); name != "" {
			freeing := function == "newFreeing" // a script may be there twice
			if i := slices.IndexFunc(scripts, func(s *script.Script) bool {
				return s.Name == name && strings.HasPrefix(s.Text(), "#!") == freeing
			}); i >= 0 {
				p.byVar[spec.Names[0].Name] = scripts[i]
			}
		}
		return true
	})
}

// callOf returns which of some functions an expression calls, and its first argument where that is a text.
func callOf(e ast.Node, functions ...string) (function, first string) {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", ""
	}
	name := called(call)
	literal, ok := call.Args[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING || !slices.Contains(functions, name) {
		return "", ""
	}
	first, _ = strconv.Unquote(literal.Value)
	return name, first
}

func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// used are the scripts that a function calls, or hands on to be called.
func (p *pack) used(function *ast.FuncDecl) (used []*script.Script) {
	ast.Inspect(function, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && selector.Sel.Name != "On" && selector.Sel.Name != "Sized" {
			_, isVar := selector.X.(*ast.Ident)
			return !isVar // its name, say, is not a call
		}
		if ident, ok := n.(*ast.Ident); ok && p.byVar[ident.Name] != nil {
			used = append(used, p.byVar[ident.Name])
		}
		return true
	})
	return used
}

// given collects the names that a function gives, and those that it calls with a call or a script.
func (p *pack) given(function *ast.FuncDecl, names, seen map[string]bool) {
	if seen[function.Name.Name] {
		return
	}
	seen[function.Name.Name] = true
	ast.Inspect(function, func(n ast.Node) bool {
		if _, name := callOf(n, gives...); name != "" {
			names[name] = true
		}
		if call, ok := n.(*ast.CallExpr); ok {
			if next := p.functions[called(call)]; next != nil && takesCall(next) && len(p.used(next)) == 0 {
				p.given(next, names, seen)
			}
		}
		return true
	})
}

// takesCall tells whether a function has a parameter that is a call or a script.
func takesCall(function *ast.FuncDecl) (takes bool) {
	for _, field := range function.Type.Params.List {
		ast.Inspect(field.Type, func(n ast.Node) bool {
			if _, inner := n.(*ast.FuncType); inner {
				return false
			}
			if ident, ok := n.(*ast.Ident); ok && (ident.Name == "call" || ident.Name == "Call" || strings.HasSuffix(ident.Name, "Script") || ident.Name == "Step") {
				takes = true
			}
			return true
		})
	}
	return takes
}
