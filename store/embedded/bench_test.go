package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// benchSend spreads sends over groups: miniredis stores sorted sets as maps, and their growth is not what it measures.
func benchSend(b *testing.B, c *redis.Client, callers int, after func() error) {
	ctx := context.Background()
	if err := sendScript.Load(ctx, c).Err(); err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("x", 200)
	b.SetParallelism(max(1, callers/2)) // times GOMAXPROCS, which was 2 for the published numbers
	if callers == 1 {
		for b.Loop() {
			if err := sendScript.EvalSha(ctx, c, sendKeys, "chat:{p00}:g:general", text).Err(); err != nil {
				b.Fatal(err)
			}
			if err := after(); err != nil {
				b.Fatal(err)
			}
		}
		return
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := sendScript.EvalSha(ctx, c, sendKeys, "chat:{p00}:g:general", text).Err(); err != nil {
				b.Error(err)
				return
			}
			if err := after(); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func none() error { return nil }

func BenchmarkSend(b *testing.B) {
	for _, callers := range []int{1, 50} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := openStore(b, Options{Dir: b.TempDir()})
			benchSend(b, client(b, s), callers, none)
			b.ReportMetric(float64(s.j.size)/float64(s.j.calls), "journal-B/op")
		})
		b.Run(fmt.Sprintf("memory/callers=%d", callers), func(b *testing.B) {
			benchSend(b, client(b, openStore(b, Options{})), callers, none)
		})
		b.Run(fmt.Sprintf("synced/callers=%d", callers), func(b *testing.B) {
			var synced syncCounter
			s := openStore(b, Options{Dir: b.TempDir(), open: synced.open})
			benchSend(b, client(b, s), callers, func() error { return s.Sync(context.Background()) })
			b.ReportMetric(float64(synced.n.Load())/float64(b.N), "fsyncs/op")
		})
	}
}

// BenchmarkTransport compares the in-memory connection with a loopback port, for a command that costs nothing.
func BenchmarkTransport(b *testing.B) {
	ctx := context.Background()
	bench := func(name string, o *redis.Options) {
		o.Protocol, o.DisableIdentity, o.PoolSize, o.MaxRetries = 2, true, 64, -1
		c := redis.NewClient(o)
		b.Cleanup(func() { _ = c.Close() })
		b.Run(name+"/one", func(b *testing.B) {
			for b.Loop() {
				if err := c.Get(ctx, "k").Err(); err != nil && !errors.Is(err, redis.Nil) {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/50 callers", func(b *testing.B) {
			b.SetParallelism(25)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := c.Get(ctx, "k").Err(); err != nil && !errors.Is(err, redis.Nil) {
						b.Error(err)
						return
					}
				}
			})
		})
		b.Run(name+"/pipeline of 100", func(b *testing.B) {
			for b.Loop() {
				p := c.Pipeline()
				for range 100 {
					p.Get(ctx, "k")
				}
				if _, err := p.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
					b.Fatal(err)
				}
			}
		})
	}
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(m.Close)
	m.RequireAuth("random")
	s := openStore(b, Options{})
	bench("memory", &redis.Options{Dialer: s.Dialer()})
	bench("loopback", &redis.Options{Addr: m.Addr(), Password: "random"})
	bench("pipe", &redis.Options{Dialer: func(context.Context, string, string) (net.Conn, error) { return m.Dial() }, Password: "random"})
}

// BenchmarkOpen loads a journal of calls, and the snapshot made from it.
func BenchmarkOpen(b *testing.B) {
	const calls = 100_000
	ctx, dir := context.Background(), b.TempDir()
	s := openStore(b, Options{Dir: dir, CompactCalls: 1 << 40, CompactBytes: 1 << 40})
	c := client(b, s)
	if err := sendScript.Load(ctx, c).Err(); err != nil {
		b.Fatal(err)
	}
	var n atomic.Int64
	text := strings.Repeat("x", 200)
	for n.Load() < calls {
		p := c.Pipeline()
		for range 1000 {
			g := fmt.Sprintf("chat:{p00}:g:%d:", n.Add(1)%100)
			sendScript.EvalSha(ctx, p, []string{g + "id", g + "msgs"}, g, text)
		}
		if _, err := p.Exec(ctx); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	open := func(b *testing.B) {
		for b.Loop() {
			s, err := Open(ctx, Options{Dir: dir, Log: quiet(), CompactStartBytes: 1 << 40})
			if err != nil {
				b.Fatal(err)
			}
			_ = s.Close()
		}
		b.ReportMetric(float64(dirBytes(b, dir))/(1<<20), "MiB")
	}
	b.Run("journal", open)
	s = openStore(b, Options{Dir: dir, CompactStartBytes: 1 << 40})
	if err := s.Compact(); err != nil {
		b.Fatal(err)
	}
	_ = s.Close()
	b.Run("snapshot", open)
}

func dirBytes(b *testing.B, dir string) (n int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range entries {
		if st, err := os.Stat(filepath.Join(dir, e.Name())); err == nil {
			n += st.Size()
		}
	}
	return n
}
