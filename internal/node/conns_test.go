//go:build unix

package node

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

func TestConnsOfAnAddressLeaveFilesToOthers(t *testing.T) {
	for files, want := range map[uint64]int{0: 1, 64: 32, 1024: 512, 2999: 1499, 3000: 2000, 1 << 63: 2000} {
		if got := connsIPDefault(files, true); got != want {
			t.Errorf("with %d open files: got %d, want %d", files, got, want)
		}
	}
	if got := connsIPDefault(0, false); got != connsIPMaxDefault {
		t.Errorf("where nobody knows: got %d", got)
	}
}

// TestLoweredConnsAreSaid: a start with few open files takes fewer connections of an address and says so, unless a setting does.
func TestLoweredConnsAreSaid(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	})
	lowered := before
	lowered.Cur = 1024
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lowered); err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]int{"": 512, "700": 700} {
		c, err := Default()
		if err != nil {
			t.Fatal(err)
		}
		c.Addr, c.Data, c.MaxConnsIP = "127.0.0.1:0", t.TempDir(), number(setting)
		var log bytes.Buffer
		n, err := Open(t.Context(), c, &log)
		if err != nil {
			t.Fatal(err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := n.Run(ended); err != nil {
			t.Error(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		says := strings.Contains(log.String(), fmt.Sprintf("CHATD_MAX_CONNS_IP=%d", want))
		if got := n.set.callers.Conns; got != want || says != (setting == "") {
			t.Errorf("set to %q: got %d connections, want %d; log:\n%s", setting, got, want, log.String())
		}
	}
}
