package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
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
	PerSecond   float64 // of all connections, at even distances, whether answers come or not; 0: see answered
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
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(plan), &said
	out, err := cmd.Output()
	if err != nil {
		return done, fmt.Errorf("load generator: %w: %s", err, &said)
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

// do asks and takes the answers in one loop over the sockets: a goroutine for each, woken by the runtime, would cost
// half as much again. The sockets are closed when the process ends.
func (l load) do() (all loaded, err error) {
	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return all, err
	}
	r := loadRun{load: l, poll: poll, conns: make([]*loadConn, l.Connections)}
	for i := range r.conns {
		r.conns[i] = &loadConn{index: i, request: []byte(l.Requests[i%len(l.Requests)])}
		if err := r.dial(r.conns[i]); err != nil {
			return all, err
		}
	}
	r.begin = time.Now()
	r.settled, r.end = r.begin.Add(l.Settle), r.begin.Add(l.For)
	err = r.loop()
	for _, c := range r.conns {
		r.all.Unsent += c.unsent
	}
	return r.all, err
}

// loadRun is a load that is under way.
type loadRun struct {
	load
	poll                int
	conns               []*loadConn
	begin, settled, end time.Time
	asked               int // of those that come at even distances, also those that were not sent
	unanswered          int
	all                 loaded
}

func (r *loadRun) loop() error {
	if r.PerSecond == 0 {
		for _, c := range r.conns {
			if err := r.ask(c, r.begin); err != nil {
				return err
			}
		}
	}
	events, buffer := make([]syscall.EpollEvent, 256), make([]byte, 64<<10)
	for r.PerSecond > 0 {
		due, err := r.askDue(time.Now())
		if err != nil {
			return err
		}
		if !due.Before(r.end) {
			break
		}
		wait := time.Until(due).Milliseconds()
		if wait < 1 { // what comes within a millisecond is taken together: to be woken costs more than that
			time.Sleep(time.Millisecond)
			wait = 0
		}
		if err := r.answers(events, buffer, int(wait)); err != nil {
			return err
		}
	}
	for r.unanswered > 0 {
		if err := r.answers(events, buffer, -1); err != nil {
			return err
		}
	}
	return nil
}

// answers takes what has come, at the latest after so many milliseconds; -1: once anything has.
func (r *loadRun) answers(events []syscall.EpollEvent, buffer []byte, wait int) error {
	for {
		n, err := syscall.EpollWait(r.poll, events, wait)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		for _, e := range events[:max(n, 0)] {
			if err := r.take(r.conns[e.Fd], buffer); err != nil {
				return err
			}
		}
		if n < len(events) {
			return nil
		}
		wait = 0 // there may be more, or nothing
	}
}

// askDue sends what is due by now, and returns when the next one is.
func (r *loadRun) askDue(now time.Time) (time.Time, error) {
	each := time.Duration(float64(time.Second) / r.PerSecond)
	for ; ; r.asked++ {
		due := r.begin.Add(each * time.Duration(r.asked))
		if due.After(now) || !due.Before(r.end) {
			return due, nil
		}
		if err := r.ask(r.conns[r.asked%len(r.conns)], due); err != nil {
			return due, err
		}
	}
}

// ask sends one request. It waits where the socket is full, as it is when the server reads nothing.
func (r *loadRun) ask(c *loadConn, due time.Time) error {
	if len(c.due) >= pipelineMax {
		c.unsent++
		return nil
	}
	c.due = append(c.due, due)
	r.unanswered++
	return r.send(c)
}

// send writes the request of a connection.
func (r *loadRun) send(c *loadConn) error {
	if c.socket == 0 {
		if err := r.dial(c); err != nil {
			return err
		}
	}
	for rest := c.request; len(rest) > 0; {
		n, err := syscall.Write(c.socket, rest)
		switch {
		case ended(err):
			return nil // take will read so
		case err != nil && !errors.Is(err, syscall.EINTR):
			return err
		}
		rest = rest[max(n, 0):]
	}
	return nil
}

// take reads what came on a connection and notes the answers that are whole.
func (r *loadRun) take(c *loadConn, buffer []byte) error {
	n, err := syscall.Read(c.socket, buffer)
	switch {
	case errors.Is(err, syscall.EINTR):
		return nil // it is still readable
	case n == 0 || ended(err):
		return r.again(c)
	case err != nil:
		return err
	}
	now, came := time.Now(), buffer[:n]
	if len(c.part) > 0 {
		c.part = append(c.part, came...)
		came = c.part
	}
	for len(came) > 0 {
		status, size, err := wholeAnswer(came)
		if err != nil {
			return err
		}
		if size == 0 {
			break
		}
		came = came[size:]
		if err := r.answered(c, status, now); err != nil {
			return err
		}
	}
	c.part = append(c.part[:0], came...)
	return nil
}

// again goes on after the server has ended a connection on which nothing came for too long: the next request dials, and so does one
// that the server did not read.
func (r *loadRun) again(c *loadConn) error {
	err := syscall.Close(c.socket)
	c.socket = 0
	switch {
	case len(c.due) == 0:
		return err
	case len(c.part) > 0 || c.repeated == repeatsMax:
		return io.ErrUnexpectedEOF // before the end: nobody reads after it
	}
	c.repeated++
	for range c.due {
		err = errors.Join(err, r.send(c))
	}
	return err
}

// ended tells whether the server has ended a connection.
func ended(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// answered notes an answer to the oldest request of a connection. Without a rate, the next request follows, unless it was
// refused: who asks again at once asks for more than can be served.
func (r *loadRun) answered(c *loadConn, status int, now time.Time) error {
	if len(c.due) == 0 {
		return errAnswer
	}
	due := c.due[0]
	c.due = c.due[1:]
	r.unanswered--
	early, took := due.Before(r.settled), now.Sub(due)
	done, refused := status == http.StatusOK || status == http.StatusCreated, status == http.StatusServiceUnavailable || status == http.StatusUnprocessableEntity
	switch {
	case done && early:
		r.all.Early = append(r.all.Early, took)
	case done:
		r.all.Served = append(r.all.Served, took)
	case refused && early:
	case refused:
		r.all.Refused = append(r.all.Refused, took)
	default:
		return fmt.Errorf("a request answers %d", status)
	}
	if r.PerSecond == 0 && done && now.Before(r.end) {
		return r.ask(c, now)
	}
	return nil
}

// repeatsMax is how often the requests of a connection are written again.
const repeatsMax = 10

// loadConn is a connection and what is unanswered on it. Its socket blocks: it is read when something came.
type loadConn struct {
	index    int
	socket   int // 0: the server has ended it
	repeated int // how often
	request  []byte
	due      []time.Time // of those unanswered
	part     []byte      // of an answer that is not whole
	unsent   int
}

// dial connects, and has the answers awaited.
func (r *loadRun) dial(c *loadConn) error {
	to, err := netip.ParseAddrPort(r.Addr)
	if err != nil {
		return err
	}
	if c.socket, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(c.index)} // Fd is ours to choose
	return errors.Join(syscall.SetsockoptInt(c.socket, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1),
		syscall.Connect(c.socket, &syscall.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())}),
		syscall.EpollCtl(r.poll, syscall.EPOLL_CTL_ADD, c.socket, &event))
}

var (
	headEnd      = []byte("\r\n\r\n")
	lengthHeader = []byte("\r\nContent-Length: ")
	errAnswer    = errors.New("no answer of HTTP/1.1 with a length")
)

// wholeAnswer reads the status and the size of the first answer in what came; size is 0 while it is not whole. It knows
// what chatd writes, and no more of HTTP than that: http.ReadResponse would cost more than a refusal.
func wholeAnswer(came []byte) (status, size int, err error) {
	end := bytes.Index(came, headEnd)
	if end < 0 {
		return 0, 0, nil
	}
	head := came[:end]
	at := bytes.Index(head, lengthHeader)
	if len(head) < 12 || at < 0 {
		return 0, 0, errAnswer
	}
	digits, _, _ := bytes.Cut(head[at+len(lengthHeader):], headEnd[:2])
	length, err := strconv.Atoi(string(digits))
	if err != nil || length < 0 {
		return 0, 0, errAnswer
	}
	if status, err = strconv.Atoi(string(head[9:12])); err != nil {
		return 0, 0, errAnswer
	}
	if size = end + len(headEnd) + length; size > len(came) {
		return 0, 0, nil
	}
	return status, size, nil
}
