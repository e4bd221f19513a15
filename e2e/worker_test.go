package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/queue"
)

// workerEnv makes this program a worker instead of a test: the test starts itself again, so that a worker is a process
// of its own, built as the test is.
const workerEnv = "CHATD_E2E_WORKER"

const (
	effectKind  = "effect"
	workerTerm  = 20 * time.Second // a drain ends within a few
	workerTries = 200              // of a call to the receiver, 20 ms apart
)

// workerSpec is what a worker begins with. Redis is a URL; Workers and Lease are those of the engine.
type workerSpec struct {
	Name, Redis, Receiver string
	Partitions, Workers   int
	Lease                 time.Duration
}

// effect is the payload of a task: which one it is, how long its handler takes, and whether its first attempt fails.
type effect struct {
	N     int           `json:"n"`
	Takes time.Duration `json:"takes"`
	Fails bool          `json:"fails,omitempty"`
}

// taskOptions are those of everyone on the queue of these tests.
func taskOptions(address string, partitions int) (queue.Options, error) {
	rdb, err := taskClient(address)
	return queue.Options{
		Client: rdb, Partitions: partitions, BackoffMin: 50 * time.Millisecond, BackoffMax: time.Second,
	}, err
}

// workerMain is the whole program of a worker. It ends with SIGTERM, after its drain.
func workerMain(text string) error {
	var spec workerSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return err
	}
	o, err := taskOptions(spec.Redis, spec.Partitions)
	if err != nil {
		return err
	}
	defer func() { _ = o.Client.Close() }()
	o.Workers, o.Lease = spec.Workers, spec.Lease
	tasks, err := queue.New(o)
	if err != nil {
		return err
	}
	// The handler does not look at its context: a worker that was stopped past its lease has its effect all the same,
	// and says that it is done. It is the receiver and the engine that must stand it.
	tasks.Handle(effectKind, func(_ context.Context, t queue.Task) error {
		var e effect
		if err := json.Unmarshal(t.Payload, &e); err != nil {
			return queue.Bury(err)
		}
		if err := spec.report("begin", t.ID, t.Attempt-1-t.Attempts); err != nil {
			return err
		}
		if e.Fails && t.Attempt == 1 {
			return errors.New("the first attempt fails")
		}
		harness.Pause(context.Background(), e.Takes/2)
		if err := spec.report("effect", t.ID, 0); err != nil {
			return err
		}
		harness.Pause(context.Background(), e.Takes/2)
		return nil
	})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := os.NewFile(3, "ready").Close(); err != nil {
		return err
	}
	return tasks.Run(ctx)
}

// report makes one call to the receiver, again until it is heard. ended is how many leases of the task have ended so far.
func (s workerSpec) report(what, id string, ended int) error {
	query := url.Values{"worker": {s.Name}, "id": {id}, "ended": {strconv.Itoa(ended)}}
	for try := 0; ; try++ {
		answer, err := http.Post(s.Receiver+"/"+what+"?"+query.Encode(), "text/plain", nil)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
		if err == nil || try == workerTries {
			return err
		}
		harness.Pause(context.Background(), 20*time.Millisecond)
	}
}

// receiver is the world that tasks act upon. Its effects are idempotent by the id of the task: the first counts.
type receiver struct {
	url string

	mu      sync.Mutex
	effects map[string]int    // how often the effect of a task arrived
	holder  map[string]string // which worker began a task last
	began   map[string]int    // how often a worker began
	ended   map[string]int    // how many leases of a task the engine says have ended
	arrived chan struct{}     // closed and made again with each effect
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{effects: map[string]int{}, holder: map[string]string{}, began: map[string]int{}, ended: map[string]int{},
		arrived: make(chan struct{})}
	listener := must((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	r.url = "http://" + listener.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /begin", func(_ http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		worker, id := req.FormValue("worker"), req.FormValue("id")
		ended, err := strconv.Atoi(req.FormValue("ended"))
		if err != nil {
			t.Errorf("worker %s began %s after %q ended leases", worker, id, req.FormValue("ended"))
		}
		r.ended[id] = max(r.ended[id], ended) // a worker that was stopped may report late
		r.holder[id] = worker
		r.began[worker]++
	})
	mux.HandleFunc("POST /effect", func(_ http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.effects[req.FormValue("id")]++
		close(r.arrived)
		r.arrived = make(chan struct{})
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: workerTerm}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // ends with Close
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return r
}

// hasBegun is whether a worker has begun any task.
func (r *receiver) hasBegun(worker string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.began[worker] > 0
}

// counts tells of how many tasks an effect arrived, and how many effects beyond the first of their task.
func (r *receiver) counts() (tasks, repeats int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.effects {
		repeats += n - 1
	}
	return len(r.effects), repeats
}

// had waits until the effect of a task has arrived.
func (r *receiver) had(ctx context.Context, id string) error {
	for {
		r.mu.Lock()
		n, arrived := r.effects[id], r.arrived
		r.mu.Unlock()
		if n > 0 {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return fmt.Errorf("no effect of %s: %w", id, ctx.Err())
		}
	}
}

// worker is one such process.
type worker struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	log    string
	ready  chan struct{} // closed once it drains on SIGTERM, or is gone
	exited chan struct{}
}

// startWorker starts a worker process. It ends with the test at the latest.
func startWorker(t *testing.T, spec workerSpec) *worker {
	t.Helper()
	w := &worker{t: t, name: spec.Name, log: filepath.Join(t.TempDir(), "worker.log"), ready: make(chan struct{}),
		exited: make(chan struct{})}
	log := must(os.Create(w.log))(t)
	defer log.Close()
	w.cmd = exec.CommandContext(context.Background(), must(os.Executable())(t))
	text := must(json.Marshal(spec))(t)
	w.cmd.Env = append(os.Environ(), workerEnv+"="+string(text), "GORACE=halt_on_error=0 atexit_sleep_ms=0")
	w.cmd.Stdout, w.cmd.Stderr = log, log
	listening, ready, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	w.cmd.ExtraFiles = []*os.File{ready}
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := w.cmd.Start(); err != nil {
		listening.Close()
		t.Fatal(err)
	}
	go func() {
		_ = w.cmd.Wait() // the result is in cmd.ProcessState
		close(w.exited)
	}()
	go func() {
		defer close(w.ready)
		defer listening.Close()
		_, _ = listening.Read(make([]byte, 1)) // until the worker closes its end
	}()
	t.Cleanup(func() {
		w.kill()
		log := must(os.ReadFile(w.log))(t)
		if bytes.Contains(log, []byte("DATA RACE")) || bytes.Contains(log, []byte("panic: ")) {
			t.Errorf("worker %s raced or panicked", w.name)
		}
		if t.Failed() {
			t.Logf("worker %s wrote:\n%s", w.name, log[max(0, len(log)-4000):])
		}
	})
	return w
}

// kill ends the process as a crash would, and waits until it is gone.
func (w *worker) kill() {
	w.signal(syscall.SIGKILL)
	<-w.exited
}

// signal sends a signal to the process, which may have ended.
func (w *worker) signal(sig syscall.Signal) { _ = w.cmd.Process.Signal(sig) }

// terminate ends the process with SIGTERM; the test fails when it does not drain.
func (w *worker) terminate() {
	w.t.Helper()
	<-w.ready
	w.signal(syscall.SIGTERM)
	select {
	case <-w.exited:
		if !w.cmd.ProcessState.Success() {
			w.t.Errorf("worker %s ended its drain with %v", w.name, w.cmd.ProcessState)
		}
	case <-time.After(workerTerm):
		w.t.Errorf("worker %s does not end", w.name)
	}
}
