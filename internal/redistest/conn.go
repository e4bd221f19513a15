package redistest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"strconv"
	"strings"
	"time"
)

// Conn speaks just enough of the Redis protocol (RESP2) for a test to observe a server from outside.
type Conn struct {
	net.Conn
	in *bufio.Reader
}

const replyTimeout = time.Minute

// Dial connects to a server.
func Dial(addr string) (*Conn, error) {
	dialer := net.Dialer{Timeout: replyTimeout}
	conn, err := dialer.DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: conn, in: bufio.NewReader(conn)}, nil
}

// Do runs one command. The reply is a string, an int64, a []any or nil; an error reply is an error.
func (c *Conn) Do(args ...string) (any, error) {
	_ = c.SetDeadline(time.Now().Add(replyTimeout))
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	if _, err := io.WriteString(c.Conn, b.String()); err != nil {
		return nil, err
	}
	return c.reply()
}

func (c *Conn) reply() (any, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return nil, errors.New("an empty line at the place of a reply")
	}
	switch rest := line[1:]; line[0] {
	case '+':
		return rest, nil
	case '-':
		return nil, errors.New(rest)
	case ':':
		return strconv.ParseInt(rest, 10, 64)
	case '$':
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return nil, err
		}
		data := make([]byte, n+2)
		_, err = io.ReadFull(c.in, data)
		return string(data[:n]), err
	case '*':
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return nil, err
		}
		list := make([]any, n)
		for i := range list {
			if list[i], err = c.reply(); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return nil, fmt.Errorf("no reply: %q", line)
}

func lines(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(s) {
			if !yield(strings.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

// cut splits "name:calls=1,usec=2" after the name.
func cut(stat string) (name, rest string) {
	name, rest, _ = strings.Cut(stat, ":")
	return name, rest
}
