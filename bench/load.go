package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// loadVariable makes this program a load generator: a process of its own, so that it is scheduled beside the server and not
// inside it, and what it costs can be told apart.
const loadVariable = "CHATD_BENCH_LOAD"

// pipelineMax is how many requests a connection may have unanswered. What is due beyond that is not sent.
const pipelineMax = 64

// load says what to ask for: the requests in turn, one of them a connection, over and over.
type load struct {
	Addr        string
	Requests    []string // as they are sent
	Connections int
	PerSecond   float64 // of all connections, at even distances, whether answers come or not; 0: as often as answers come
	For         time.Duration
	Settle      time.Duration // of it: what is due before that is kept apart
}

// loaded is what came of it.
type loaded struct {
	Early   []time.Duration // served of what was due before it settled
	Served  []time.Duration // each from when it was due
	Refused []time.Duration
	Unsent  int           // too many were unanswered on the connection
	CPU     time.Duration // that the generator used
}

// run has a process of its own do l.
func (l load) run(ctx context.Context) (done loaded, err error) {
	self, err := os.Executable()
	if err != nil {
		return done, err
	}
	plan, err := json.Marshal(l)
	if err != nil {
		return done, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), loadVariable+"=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(plan), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return done, fmt.Errorf("load generator: %w", err)
	}
	if err := json.Unmarshal(out, &done); err != nil {
		return done, err
	}
	done.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return done, nil
}

// generate is the process: it reads a load and writes what came of it.
func generate(in io.Reader, out io.Writer) error {
	var l load
	if err := json.NewDecoder(in).Decode(&l); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1) // threads that wake each other would cost more than the work
	done, err := l.do()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(done)
}

func (l load) do() (all loaded, err error) {
	conns := make([]*loadConn, l.Connections)
	for i := range conns {
		c, err := net.Dial("tcp", l.Addr) //nolint:noctx // ended with the process
		if err != nil {
			return all, err
		}
		conns[i] = &loadConn{Conn: c, request: []byte(l.Requests[i%len(l.Requests)])}
		defer c.Close()
	}
	begin := time.Now()
	end := begin.Add(l.For)
	errs := make([]error, len(conns))
	var reading sync.WaitGroup
	for i, c := range conns {
		reading.Go(func() { errs[i] = c.read(l.PerSecond == 0, begin.Add(l.Settle), end) })
	}
	if l.PerSecond == 0 {
		for _, c := range conns {
			err = errors.Join(err, c.ask(time.Now()))
		}
	} else {
		err = l.askEvenly(conns, begin, end)
	}
	for _, c := range conns {
		c.finish(end)
	}
	reading.Wait()
	for _, c := range conns {
		all.Early, all.Served = append(all.Early, c.early...), append(all.Served, c.served...)
		all.Refused, all.Unsent = append(all.Refused, c.refused...), all.Unsent+c.unsent
	}
	return all, errors.Join(append(errs, err)...)
}

// askEvenly sends each request when it is due, those of a millisecond one after the other.
func (l load) askEvenly(conns []*loadConn, begin, end time.Time) error {
	each := time.Duration(float64(time.Second) / l.PerSecond)
	for i := 0; ; {
		now := time.Now()
		for ; ; i++ {
			due := begin.Add(each * time.Duration(i))
			if !due.Before(end) {
				return nil
			}
			if due.After(now) {
				time.Sleep(max(time.Until(due), time.Millisecond))
				break
			}
			if err := conns[i%len(conns)].ask(due); err != nil {
				return err
			}
		}
	}
}

// loadConn is a connection and what is unanswered on it.
type loadConn struct {
	net.Conn
	request                []byte
	early, served, refused []time.Duration
	unsent                 int

	mu       sync.Mutex
	due      []time.Time // of those unanswered
	finished bool
}

func (c *loadConn) ask(due time.Time) error {
	c.mu.Lock()
	if len(c.due) >= pipelineMax {
		c.unsent++
		c.mu.Unlock()
		return nil
	}
	c.due = append(c.due, due)
	c.mu.Unlock()
	_, err := c.Write(c.request)
	return err
}

// finish ends the reader once everything is answered.
func (c *loadConn) finish(end time.Time) {
	time.Sleep(time.Until(end))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished = true; len(c.due) == 0 {
		_ = c.Close()
	}
}

// read takes answers until the connection is finished; again: each is followed by the next request.
func (c *loadConn) read(again bool, settled, end time.Time) error {
	in := bufio.NewReaderSize(c, 8<<10)
	for {
		status, err := readAnswer(in)
		now := time.Now()
		c.mu.Lock()
		if err != nil {
			defer c.mu.Unlock()
			if c.finished && len(c.due) == 0 {
				return nil
			}
			return err
		}
		due := c.due[0]
		c.due = c.due[1:]
		last := c.finished && len(c.due) == 0
		c.mu.Unlock()
		took := now.Sub(due)
		switch {
		case status == 200 && due.Before(settled):
			c.early = append(c.early, took)
		case status == 200:
			c.served = append(c.served, took)
		case status == 503 && due.Before(settled):
		case status == 503:
			c.refused = append(c.refused, took)
		default:
			return fmt.Errorf("a request answers %d", status)
		}
		if last {
			return nil
		}
		if again && now.Before(end) {
			if err := c.ask(now); err != nil {
				return err
			}
		}
	}
}

var (
	lengthHeader = []byte("Content-Length: ")
	errAnswer    = errors.New("no answer of HTTP/1.1 with a length")
)

// readAnswer reads what chatd writes, and no more of HTTP than that: http.ReadResponse would cost more than a refusal.
func readAnswer(in *bufio.Reader) (status int, err error) {
	length := -1
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case status == 0:
			if len(line) < 12 {
				return 0, errAnswer
			}
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, errAnswer
			}
		case bytes.HasPrefix(line, lengthHeader):
			if length, err = strconv.Atoi(string(line[len(lengthHeader):])); err != nil {
				return 0, errAnswer
			}
		case len(line) == 0:
			if length < 0 {
				return 0, errAnswer
			}
			_, err := in.Discard(length)
			return status, err
		}
	}
}

// cpuUsed is what this process has used so far.
func cpuUsed() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
