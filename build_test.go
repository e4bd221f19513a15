package chatd_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// redisNamesMax bounds how often the symbols of a compiled package name go-redis: about 150 times if it only sends commands.
// If it reaches the type of a client it does so 49,000 times, and takes more than a second longer to compile.
const redisNamesMax = 500

// TestClientTypesStayInTheStore: what others use of store and queue does not lead to the clients of go-redis. See
// store/conn/server.go.
func TestClientTypesStayInTheStore(t *testing.T) {
	for _, folder := range []string{"./cmd/chatd", "./internal/node", "./store/doctor", "./store/dump"} {
		// With the flags that the other tests are built with, if GOFLAGS has them: the package is compiled already.
		archive, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-f", "{{.Export}}", folder).Output()
		if err != nil {
			t.Fatalf("go list -export %s: %v", folder, err)
		}
		symbols, err := exec.CommandContext(t.Context(), "go", "tool", "nm", strings.TrimSpace(string(archive))).Output()
		if err != nil {
			t.Fatalf("go tool nm: %v", err)
		}
		if !bytes.Contains(symbols, []byte(module)) {
			t.Fatalf("%s: the list of symbols has none of ours", folder)
		}
		if n := bytes.Count(symbols, []byte("github.com/redis/go-redis/v9.")); n > redisNamesMax {
			t.Errorf("the symbols of %s name go-redis %d times, more than %d: which field, method or inlined function leads to a client?",
				folder, n, redisNamesMax)
		}
	}
}
