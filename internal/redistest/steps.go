package redistest

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// work keeps the server busy for about workTime, in microseconds, on an idle machine like those that the bounds of steps
// were measured on.
const (
	work     = "local t = {} for i = 1, 4500 do t[i] = 'x' .. i end return #table.concat(t)"
	workTime = 1000
)

// Longest runs do, after prepare, and returns the longest single step, which blocks the server, in microseconds, and
// what it was, by the server's own log. A step is a command, a script or a transaction. A busy machine may suspend the
// server in the middle, so the server goes before all other processes from then on, if the test may say so, forks no
// process that rewrites its file, and this is repeated, up to twenty times, until no step of a run takes longer than
// enough; the best run counts. Processes that share a processor and its caches also make each step slower, all the time.
// So the steps of a run are shortened by as much as a fixed piece of work took longer than on an idle machine; a step that
// blocks the server too long still does then.
func (s *Server) Longest(enough int64, prepare, do func(run int)) (us int64, step string) {
	s.tb.Helper()
	const runs = 20
	s.Do("CONFIG", "SET", "auto-aof-rewrite-percentage", "0")
	first := exec.CommandContext(s.tb.Context(), "chrt", "--all-tasks", "--rr", "--pid", "1", fmt.Sprint(s.cmd.Process.Pid))
	_ = first.Run() // root may; others get by with the repetitions
	for run := range runs {
		prepare(run)
		s.Do("CONFIG", "RESETSTAT")
		s.Do("SLOWLOG", "RESET") // before anything is logged: freeing old entries takes time
		s.Do("CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "1000000")
		do(run)
		s.Do("CONFIG", "SET", "slowlog-log-slower-than", "-1")
		longest, of := s.longest()
		longest = longest * workTime / max(s.timeOfWork(), workTime)
		if run == 0 || longest < us {
			us, step = longest, of
		}
		if us <= enough {
			break
		}
	}
	return us, step
}

// timeOfWork returns how long work takes now, in microseconds: the median of some times.
func (s *Server) timeOfWork() int64 {
	s.tb.Helper()
	s.Do("SLOWLOG", "RESET")
	s.Do("CONFIG", "SET", "slowlog-log-slower-than", "0")
	for range 5 {
		s.Do("EVAL", work, "0")
	}
	s.Do("CONFIG", "SET", "slowlog-log-slower-than", "-1")
	var times []int64
	list, _ := s.Do("SLOWLOG", "GET", "-1").([]any)
	for _, one := range list {
		if fields, _ := one.([]any); strings.HasPrefix(fmt.Sprint(fields[3]), "[EVAL") {
			times = append(times, fields[2].(int64))
		}
	}
	if len(times) == 0 {
		s.tb.Fatal("no time of work was logged")
	}
	slices.Sort(times)
	return times[len(times)/2]
}

func (s *Server) longest() (us int64, step string) {
	s.tb.Helper()
	list, _ := s.Do("SLOWLOG", "GET", "-1").([]any)
	for _, one := range list {
		fields, _ := one.([]any) // id, time, microseconds, the command and its first arguments, the client
		took, _ := fields[2].(int64)
		if args, _ := fields[3].([]any); took > us {
			us, step = took, strings.Join(strings.Fields(fmt.Sprint(args[:min(len(args), 4)]...)), " ")
		}
	}
	// That log has no transactions, only their commands; INFO has the mean of all transactions.
	info, _ := s.Do("INFO", "commandstats").(string)
	for line := range lines(info) {
		var calls, usec int64
		if _, err := fmt.Sscanf(line, "cmdstat_exec:calls=%d,usec=%d", &calls, &usec); err == nil && calls > 0 && usec/calls > us {
			us, step = usec/calls, "EXEC"
		}
	}
	return us, step
}
