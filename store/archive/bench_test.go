package archive

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/internal/pgtest"
)

const (
	benchGroups = 100
	benchEach   = 1_000 // messages of a group
	benchBatch  = 500
	benchBytes  = 200 // of a body
)

// engines runs a benchmark on both.
func engines(b *testing.B, run func(b *testing.B, s *Store, bytes func() int64)) {
	b.Run("sqlite", func(b *testing.B) {
		file := filepath.Join(b.TempDir(), "archive.db")
		run(b, openBench(b, "sqlite:"+file), func() int64 {
			info, err := os.Stat(file)
			if err != nil {
				b.Fatal(err)
			}
			return info.Size()
		})
	})
	b.Run("postgres", func(b *testing.B) {
		server := pgtest.Start(b, "shared_buffers=256MB", "fsync=on", "full_page_writes=on", "max_wal_size=4GB")
		s := openBench(b, server.Database())
		run(b, s, func() (size int64) {
			if err := s.read.QueryRowContext(b.Context(), `SELECT pg_database_size(current_database())`).Scan(&size); err != nil {
				b.Fatal(err)
			}
			return size
		})
	})
}

func openBench(b *testing.B, url string) *Store {
	b.Helper()
	s, err := Open(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// sentence is of words as people use them: few are common, many are rare.
func sentence(common *rand.Zipf) string {
	var text strings.Builder
	for text.Len() < benchBytes-12 {
		fmt.Fprintf(&text, "w%x ", common.Uint64()*2654435761%(1<<32))
	}
	text.WriteString(strings.Repeat("x", benchBytes-text.Len()))
	return text.String()
}

// commonWord is the most frequent one.
const commonWord = "w0"

// made are the batches of group n.
func made(n, messages int) (list []archive.Batch) {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	common := rand.NewZipf(random, 1.1, 4, 50_000)
	log := archive.Log{Group: fmt.Sprint("group", n), Epoch: "0123456789abcdef"}
	b := archive.Batch{Log: log}
	for id := int64(1); id <= int64(messages); id++ {
		body := sentence(common)
		e := chat.Entry{ID: id, Group: log.Group, From: fmt.Sprint("user", id%10), Content: chat.Content{Kind: chat.Text, Body: &body},
			SentAt: chat.TimeMs(firstSentMs + id*1000 + int64(n))}
		b.Messages = append(b.Messages, chat.Message{ID: id, Mark: "abcdef", JSON: chat.Encode(e)})
		if id%benchBatch == 0 {
			b.Last = id
			list, b.Messages = append(list, b), nil
		}
	}
	return list
}

// fill adds batches, eight calls at a time.
func fill(b *testing.B, s *Store, batches []archive.Batch) {
	var next atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for n := next.Add(1); n <= int64(len(batches)); n = next.Add(1) {
				if err := s.Add(b.Context(), batches[n-1:n]); err != nil {
					b.Error(err)
				}
			}
		})
	}
	callers.Wait()
}

// cpu is what this process has used; a server is not in it.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAdd: an operation is a batch of 500 messages; eight callers at a time, each with groups of its own.
func BenchmarkAdd(b *testing.B) {
	engines(b, func(b *testing.B, s *Store, bytes func() int64) {
		var batches []archive.Batch
		for n := range b.N {
			batches = append(batches, made(n, benchBatch)...)
		}
		before := cpu()
		b.ResetTimer()
		fill(b, s, batches)
		b.StopTimer()
		messages := float64(b.N * benchBatch)
		b.ReportMetric(messages/b.Elapsed().Seconds(), "messages/s")
		b.ReportMetric(float64((cpu()-before).Microseconds())/messages, "cpu-us/message")
		b.ReportMetric(float64(bytes())/messages, "disk-B/message")
	})
}

// BenchmarkRead: pages and searches with 100,000 messages in 100 groups.
func BenchmarkRead(b *testing.B) {
	engines(b, func(b *testing.B, s *Store, bytes func() int64) {
		var first, second []archive.Batch // a log's batches may not overtake one another
		for n := range benchGroups {
			list := made(n, benchEach)
			first, second = append(first, list[0]), append(second, list[1:]...)
		}
		fill(b, s, first)
		fill(b, s, second)
		if s.engine.name == "postgres" {
			if _, err := s.write.ExecContext(b.Context(), `ANALYZE`); err != nil {
				b.Fatal(err)
			}
		}
		var all []archive.Visible
		for n := range benchGroups {
			all = append(all, archive.Visible{Log: archive.Log{Group: fmt.Sprint("group", n), Epoch: "0123456789abcdef"}, From: 1, To: benchEach})
		}
		b.Run("page", func(b *testing.B) {
			measure(b, func(n int) (int, error) {
				from := int64(n*37%(benchEach-50)) + 1
				page, err := s.Read(b.Context(), all[n%benchGroups].Log, archive.Span{From: from, To: chat.IDMax, Limit: 50, BytesMax: 1 << 20})
				return len(page), err
			})
			b.ReportMetric(float64(bytes())/(benchGroups*benchEach), "disk-B/message")
		})
		for _, c := range []struct {
			name string
			q    archive.Query
		}{
			{"common word in all", archive.Query{Text: commonWord, Visible: all, Limit: 20}},
			{"common word in one", archive.Query{Text: commonWord, Visible: all[:1], Limit: 20}},
			{"two words", archive.Query{Text: fmt.Sprintf("w0 w%x", uint64(2654435761)*40%(1<<32)), Visible: all, Limit: 20}},
			{"rare word", archive.Query{Text: fmt.Sprintf("w%x", uint64(2654435761)*9000%(1<<32)), Visible: all, Limit: 20}},
			{"best", archive.Query{Text: commonWord, Visible: all, Limit: 20, Sort: archive.Best}},
		} {
			b.Run("search "+c.name, func(b *testing.B) {
				measure(b, func(int) (int, error) {
					c.q.BytesMax = pageBytes
					found, err := s.Search(b.Context(), c.q)
					return len(found.Hits), err
				})
			})
		}
	})
}

// BenchmarkOneGroup: what the second index of SQLite is for, and the first one alone, in turns in one archive of 300,000 messages. Each
// group but one has "elsewhere" in a fifth of its messages.
func BenchmarkOneGroup(b *testing.B) {
	s := openBench(b, "sqlite:"+filepath.Join(b.TempDir(), "archive.db"))
	const groups = 3 * benchGroups
	var first, second []archive.Batch // a log's batches may not overtake one another
	var visible []archive.Visible
	for n := range groups {
		list := made(n, benchEach)
		for _, batch := range list {
			for i, m := range batch.Messages {
				if n > 0 && i%5 == 0 {
					batch.Messages[i].JSON = bytes.Replace(m.JSON, []byte(`"body":"`), []byte(`"body":"elsewhere `), 1)
				}
			}
		}
		first, second = append(first, list[0]), append(second, list[1:]...)
		visible = append(visible, archive.Visible{Log: list[0].Log, From: 1, To: benchEach})
	}
	fill(b, s, first)
	fill(b, s, second)
	finders := s.engine.finders
	for _, c := range []struct {
		name, text string
		groups     int
	}{
		{"common word", commonWord, 1},
		{"usual word", fmt.Sprintf("w%x", uint64(2654435761)*40%(1<<32)), 1},
		{"usual word in eight", fmt.Sprintf("w%x", uint64(2654435761)*40%(1<<32)), fewLogs},
		{"rare word", fmt.Sprintf("w%x", uint64(2654435761)*9000%(1<<32)), 1},
		{"word of others", "elsewhere", 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took [2][]time.Duration
			for range b.N {
				for i := range took {
					s.engine.finders = finders[i:]
					start := time.Now()
					if _, err := s.Search(b.Context(), archive.Query{Text: c.text, Visible: visible[:c.groups], Limit: 20, BytesMax: pageBytes}); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], time.Since(start))
				}
			}
			for i, unit := range []string{"both-p50-ms", "first-p50-ms"} {
				slices.Sort(took[i])
				b.ReportMetric(float64(took[i][len(took[i])/2].Microseconds())/1000, unit)
			}
		})
	}
}

// measure calls read b.N times, one after the other, and reports the slow ones.
func measure(b *testing.B, read func(n int) (found int, err error)) {
	took := make([]time.Duration, 0, b.N)
	total := 0
	for n := range b.N {
		start := time.Now()
		found, err := read(n)
		if err != nil {
			b.Fatal(err)
		}
		took, total = append(took, time.Since(start)), total+found
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(total)/float64(b.N), "found")
}
