package chat_test

import (
	"testing"

	"go.uber.org/goleak"
)

// A pool of go-redis that could not connect notices within a second that it was closed.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}
