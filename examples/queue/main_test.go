package main

import (
	"bytes"
	"context"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/queuetest"
)

func TestEveryFeatureWorks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	if err := start(ctx, "", "", &out); err != nil {
		t.Fatalf("%v, after\n%s", err, out.String())
	}
	for _, want := range []string{
		"the same order again: enqueued false",
		"cancelled a delayed task",
		"mail.invoice is dead: the post office is closed; once more",
		"posted mail.invoice",
		"wait was interrupted: context deadline exceeded",
		"confirmed order 7 of Ada, attempt 1, high priority",
		"shipped order 7, 0 failed attempts",
		"digest comes next on a Monday",
		"posted mail.digest",
		"mail adds up: true",
		"tidy is paused: true",
		"account 7: open, rename, close",
		"while stock is taken: true, true",
		"stock: one has it, one waits",
		"thanked for waiting",
		"the second call came later: true",
		"2 letters wait",
		"3 letters in one envelope",
		"1 parcel in the van",
		"thanked for order 7",
		"remind 7: again false, the key is the first one's: true",
		"inventory: again false, the key is the first one's: true",
		"run: 2",
		"retry: 1",
		"delete: 3",
		"delete: 1",
		"of ada: 1 task in partition 1, true",
		"priorities have names: true",
		"without a handler: true",
		"with 3 partitions for 2: true; without a kind: true",
		"book.change: 3 done, 1 failed",
		"store: 1 enqueued, 1 done",
		"shipping was snoozed 1 time",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}

// A test of one handler, without waiting for the delay.
func TestOrderIsConfirmedAfterItsDelay(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	o := r.Options("mail")
	o.Queues = []queue.QueueOptions{{Name: "mail"}, {Name: "store"}}
	server, err := queue.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := &shop{server: server, out: &out}
	s.handle()
	task, err := Confirm.Task(Order{8, "Grace"}, queue.Task{Delay: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := server.Enqueue(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	queuetest.RequireEnqueued(t, server, task)
	r.Advance(time.Hour)
	if runs := r.RunAll(t.Context(), server); runs != 1 || out.String() != "confirmed order 8 of Grace, attempt 1, normal priority\n" {
		t.Errorf("%d runs: %s", runs, out.String())
	}
}

// TestShopShowsItsTasks to operators.
func TestShopShowsItsTasks(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	server, err := queue.New(r.Options("mail"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := queue.NewClient(r.Options("store"))
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{server: server, store: store}
	if _, _, err := Confirm.Enqueue(t.Context(), server, Order{9, "Edsger"}, queue.Task{Delay: time.Hour}); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.pages().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/tasks/tasks?state=delayed", nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "mail.confirm") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// TestProgramOfTheREADMEBuilds: the first thing that a newcomer copies.
func TestProgramOfTheREADMEBuilds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../queue/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(text), "```go\n")
	program, _, _ = strings.Cut(program, "```\n")
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil || !strings.HasPrefix(program, "package main\n") {
		t.Errorf("%v: %s", err, out)
	}
	formatted, err := format.Source([]byte(program))
	if err != nil || string(formatted) != program {
		t.Errorf("it is not formatted: %v", err)
	}
}

// TestProgramUsesEveryFeature: whatever the engine exports for applications is used here, so that this program shows it
// works from outside. What is not used has a reason.
func TestProgramUsesEveryFeature(t *testing.T) {
	t.Parallel()
	besides := map[string]string{
		"RunNext": "queuetest.RunAll calls it", "ErrLayout": "needs a store of a newer engine", "ErrDead": "of Wait", "ErrNotReady": "of Result",
		"ErrConflict": "of Retry", "ErrLeaseLost": "a cause, as ErrCancelled", "ErrCancelled": "the middleware prints the cause", "ErrStopped": "the same",
		"MisfireOnce": "the default", "MisfireAll": "as MisfireSkip", "KindHold": "as what slots are listed", "PartitionsMax": "a bound",
		"EnqueueLua": "for scripts", "CancelLua": "for scripts", "KeyNames": "for scripts", "NewKeys": "for scripts", "Keys": "for scripts",
		"KeyTable": "for who examines or copies a store", "KeyRow": "the same",
		"Enqueuer": "implemented by what is used", "Handlers": "the same", "BatchHandler": "the type of a function", "Middleware": "the same",
		"Normal": "the default", "Ready": "a state, as Delayed", "Parked": "the same", "BulkAct": "a type", "Progress": "what Get shows of SetProgress",
		"KindPeriodic": "what runs inside", "Walk": "for payloads that hold what may have to be taken back", "Payloads": "the same", "Rewrite": "the same",
	}
	used := map[string]bool{}
	each := func(dir string, visit func(file *ast.File)) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			visit(file)
		}
	}
	each(".", func(file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				used[n.Sel.Name] = true
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok {
					used[key.Name] = true
				}
			}
			return true
		})
	})
	settings := map[string]bool{"Task": true, "Limit": true, "Rate": true, "Batch": true, "Periodic": true, "BulkQuery": true, "Policy": true,
		"Options": true, "QueueOptions": true, "ListQuery": true}
	need := func(name string) {
		if ast.IsExported(name) && !used[name] && besides[name] == "" {
			t.Errorf("nothing here uses %s", name)
		}
		if used[name] && besides[name] != "" {
			t.Errorf("%s is used: it needs no reason", name)
		}
	}
	fields := func(spec ast.Spec) {
		s, ok := spec.(*ast.TypeSpec)
		if !ok || !settings[s.Name.Name] {
			return
		}
		if of, ok := s.Type.(*ast.StructType); ok {
			for _, field := range of.Fields.List {
				for _, name := range field.Names {
					need(name.Name)
				}
			}
		}
	}
	for _, option := range []string{"batch", "limit", "rate"} {
		each("../../queue/option/"+option, func(file *ast.File) {
			for _, decl := range file.Decls {
				if d, ok := decl.(*ast.GenDecl); ok {
					for _, spec := range d.Specs {
						fields(spec)
					}
				}
			}
		})
	}
	each("../../queue", func(file *ast.File) {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if receiver := receiverOf(d); receiver != "Keys" && (receiver == "" || ast.IsExported(receiver)) {
					need(d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.ValueSpec); ok {
						for _, name := range s.Names {
							need(name.Name)
						}
					}
					fields(spec)
				}
			}
		}
	})
}

// receiverOf returns the type whose method a function is; empty if it is none.
func receiverOf(d *ast.FuncDecl) (name string) {
	if d.Recv == nil {
		return ""
	}
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}
