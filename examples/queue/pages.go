package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/chatd/chatd/queue/admin"
)

// pages shows operators the tasks of the shop, below /tasks/. A real shop would ask them for a password first.
func (s *shop) pages() http.Handler {
	tasks := admin.New([]admin.Of{{Name: "mail", Client: s.server.Client}, {Name: "store", Client: s.store}}, nil)
	mux := http.NewServeMux()
	mux.Handle("/tasks/", http.StripPrefix("/tasks", admin.Handler(tasks, admin.Pages{})))
	return mux
}

// show serves the pages until ctx ends.
func (s *shop) show(ctx context.Context, addr string) error {
	server := &http.Server{Addr: addr, Handler: s.pages(), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	s.say("see http://%s/tasks/", addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
