package harness

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// RuntimeMemory returns how much memory the node's Go runtime holds, garbage included, in bytes. It does not count the
// race detector's own memory, which is several times as much.
func (n *Node) RuntimeMemory(ctx context.Context) (int64, error) {
	m, err := n.Metrics(ctx)
	return int64(m["go_memstats_sys_bytes"] - m["go_memstats_heap_released_bytes"]), err
}

// Metrics returns what the node shows at /metrics, without what has labels. It leaves no connection behind.
func (n *Node) Metrics(ctx context.Context) (map[string]float64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, n.direct()+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	found := map[string]float64{}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		var name string
		var value float64
		if got, _ := fmt.Sscanf(lines.Text(), "%s %g", &name, &value); got == 2 {
			found[name] = value
		}
	}
	if found["go_memstats_sys_bytes"] == 0 {
		return nil, fmt.Errorf("%s: no memory in /metrics", resp.Status)
	}
	return found, nil
}

// PeakMemory returns the highest memory use of the process since the last ForgetPeak, in bytes.
func (n *Node) PeakMemory() int64 {
	n.tb.Helper()
	status, err := os.ReadFile(n.proc("status"))
	if err != nil {
		n.tb.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	n.tb.Fatalf("no peak in %s", status)
	return 0
}

// ForgetPeak resets the peak to the current memory use.
func (n *Node) ForgetPeak() {
	n.tb.Helper()
	if err := os.WriteFile(n.proc("clear_refs"), []byte("5"), 0); err != nil {
		n.tb.Fatal(err)
	}
}

func (n *Node) proc(file string) string { return fmt.Sprintf("/proc/%d/%s", n.Pid(), file) }

// Pid returns the id of the node's process.
func (n *Node) Pid() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cmd.Process.Pid
}
