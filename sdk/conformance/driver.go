package conformance

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"testing"
)

// Driver is the other side of the protocol: a program that has one client.
type Driver struct {
	in  io.Writer
	out *bufio.Scanner
}

// NewDriver talks to a driver by what it reads and what it writes.
func NewDriver(in io.Writer, out io.Reader) *Driver {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	return &Driver{in: in, out: lines}
}

// Start starts a driver that ends with the test.
func Start(t *testing.T, program ...string) *Driver {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program[0], program[1:]...)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // killed with the context of the test, if it did not end at the end of its input
	})
	return NewDriver(in, out)
}

// Ask sends a command and waits for the answer.
func (d *Driver) Ask(command Object) (Object, error) {
	line, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("the driver is gone: %w", err)
	}
	if !d.out.Scan() {
		return nil, fmt.Errorf("the driver is gone: %w", errors.Join(d.out.Err(), io.EOF))
	}
	var answer Object
	if err := json.Unmarshal(d.out.Bytes(), &answer); err != nil {
		return nil, fmt.Errorf("the driver said %q: %w", d.out.Text(), err)
	}
	if failed, ok := answer["error"].(string); ok {
		return nil, errors.New(failed)
	}
	return answer, nil
}

// clockStart is when every scenario begins, ms since 1970.
const clockStart = 1_800_000_000_000

// tokens makes JWTs of their names and seconds to live: {"t1": 600} each. A name alone is a token that says nothing of itself.
func tokens(of []any) (made []any) {
	part := func(v any) string {
		text, _ := json.Marshal(v) // of strings and numbers
		return base64.RawURLEncoding.EncodeToString(text)
	}
	for _, one := range of {
		if named, ok := one.(Object); ok {
			for name, seconds := range named {
				claims := Object{"sub": "ann", "jti": name, "iat": clockStart / 1000, "exp": clockStart/1000 + seconds.(float64)}
				one = part(Object{"alg": "none"}) + "." + part(claims) + "." + part(name)
			}
		}
		made = append(made, one)
	}
	return made
}
