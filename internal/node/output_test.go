package node

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// reader is an output whose reader stops and goes on.
type reader struct {
	bytes.Buffer
	reads chan struct{} // closed while it reads
}

func (r *reader) Write(b []byte) (int, error) {
	<-r.reads
	return r.Buffer.Write(b)
}

// An output that takes nothing holds up one writer for a moment and then nobody, keeps what fits, and says what did not.
func TestOutputThatBlocksStallsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &reader{reads: make(chan struct{})}
		o := newOutput(to, func(w io.Writer, lines int) { _, _ = fmt.Fprintf(w, "%d lines are missing\n", lines) })
		began := time.Now()
		line := strings.Repeat("x", 1023) + "\n"
		for i := range 3000 {
			_, _ = fmt.Fprintf(o, "%04d%s", i, line[4:])
		}
		if took := time.Since(began); took > 2*outputPatience {
			t.Errorf("3000 lines took %v", took)
		}
		close(to.reads)
		synctest.Wait()
		_, _ = io.WriteString(o, "after\n")
		o.Close()
		lines := strings.Split(strings.TrimSuffix(to.String(), "\n"), "\n")
		kept := len(lines) - 2
		if kept < outputBytesMax>>10 || lines[kept] != fmt.Sprintf("%d lines are missing", 3000-kept) || lines[kept+1] != "after" {
			t.Fatalf("%d lines, the last ones %.20q", len(lines), lines[len(lines)-3:])
		}
		for i, text := range lines[:kept] {
			if !strings.HasPrefix(text, fmt.Sprintf("%04d", i)) {
				t.Fatalf("line %d begins with %.8q", i, text)
			}
		}
	})
}

// A program that has logged may crash: the line is written before.
func TestOutputIsWrittenAtOnce(t *testing.T) {
	var to bytes.Buffer
	o := newOutput(&to, nil)
	defer o.Close()
	for i := range 100 {
		if _, _ = fmt.Fprintln(o, i); !strings.HasSuffix(to.String(), fmt.Sprintf("%d\n", i)) {
			t.Fatalf("line %d is not written when Write returns", i)
		}
	}
}
