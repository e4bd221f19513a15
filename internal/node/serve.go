package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
)

func serve(s *http.Server, l net.Listener, failed chan<- error) {
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		failed <- fmt.Errorf("serving %s: %w", l.Addr(), err)
	}
}

// report passes on the error of a loop that ended without being stopped.
func report(ctx context.Context, failed chan<- error, what string, err error) {
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		err = errors.New("ended unexpectedly")
	}
	failed <- fmt.Errorf("%s: %w", what, err)
}
