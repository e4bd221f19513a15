package store_test

import (
	"fmt"
	"sync"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
)

var accountTests = map[string]func(*fixture){
	"Account, AccountsOf and PutAccount": testAccount,
	"one of many accounts prevails":      testAccountRace,
}

func testAccount(w *fixture) {
	account := func(user string) string {
		w.Helper()
		text, err := w.Account(w.ctx, user)
		w.ok(err)
		return text
	}
	w.equal(account("alice"), "")
	w.ok(w.PutAccount(w.ctx, "alice", "", "one", true, audit.Entry{}))
	w.equal(account("alice"), "one")
	w.ok(w.PutAccount(w.ctx, "alice", "", "one", true, audit.Entry{})) // a repetition
	w.fails(w.PutAccount(w.ctx, "alice", "", "two", false, audit.Entry{}), chat.ErrConflict)
	w.fails(w.PutAccount(w.ctx, "alice", "other", "two", false, audit.Entry{}), chat.ErrConflict)
	w.ok(w.PutAccount(w.ctx, "alice", "one", "two", false, audit.Entry{}))
	texts, err := w.AccountsOf(w.ctx, []string{"bob", "alice", "carl"})
	w.ok(err)
	w.equal(texts, []string{"", "two", ""})
	w.ok(w.PutAccount(w.ctx, "alice", "two", "", false, audit.Entry{}))
	w.equal(account("alice"), "")
	w.fails(w.PutAccount(w.ctx, "alice", "", "three", true, audit.Entry{}), chat.ErrExists) // the id stays taken
	w.ok(w.Know(w.ctx, "known"))
	w.fails(w.PutAccount(w.ctx, "known", "", "one", true, audit.Entry{}), chat.ErrExists)
	w.ok(w.PutAccount(w.ctx, "known", "", "one", false, audit.Entry{}))
	more, err := w.ErasePerson(w.ctx, "known")
	w.ok(err)
	w.equal(more, false)
	w.equal(account("known"), "")
}

func testAccountRace(w *fixture) {
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { errs[i] = w.PutAccount(w.ctx, "alice", "", fmt.Sprint("text ", i), true, audit.Entry{}) })
	}
	wg.Wait()
	text, err := w.Account(w.ctx, "alice")
	w.ok(err)
	for i, err := range errs {
		if text == fmt.Sprint("text ", i) {
			w.ok(err)
		} else if code := chat.CodeOf(err); code != chat.CodeConflict && code != chat.CodeExists {
			w.Errorf("got %v, want a refusal", err)
		}
	}
}
