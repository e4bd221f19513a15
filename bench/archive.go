package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

const (
	archiveGroups   = 200
	archiveBacklog  = 60_000 // messages that wait when the archive is switched on
	archiveSenders  = 64     // callers that send them
	besidePerSecond = 500    // sends while they are archived
)

// database is one that history is kept in.
type database struct {
	name, url string
	prepare   func()       // brings its statistics and its index up to date, as happens by itself in time
	size      func() int64 // bytes on disk
}

// databases makes so many empty ones of each kind. Their commits wait for the disk, as in production.
func (b *bench) databases(each int) (kinds [][]database) {
	server := pgtest.Start(b.tb, "fsync=on", "full_page_writes=on", "shared_buffers=256MB", "max_wal_size=4GB")
	var lite, big []database
	for range each {
		lite = append(lite, sqliteIn(filepath.Join(b.tb.TempDir(), "archive.db")))
		big = append(big, postgresAt(b, server.Database()))
	}
	return [][]database{lite, big}
}

func sqliteIn(file string) database {
	return database{"SQLite", "sqlite:" + file, func() {}, func() int64 { return must(os.Stat(file)).Size() }}
}

func postgresAt(b *bench, url string) database {
	connected := func(do func(conn *pgx.Conn)) {
		conn := must(pgx.Connect(b.ctx, url))
		defer func() { _ = conn.Close(b.ctx) }()
		do(conn)
	}
	return database{"PostgreSQL", url, func() {
		connected(func(conn *pgx.Conn) {
			must(conn.Exec(b.ctx, "ANALYZE; SELECT gin_clean_pending_list('entries_words')"))
		})
	}, func() (size int64) {
		connected(func(conn *pgx.Conn) {
			ok(conn.QueryRow(b.ctx, "SELECT pg_database_size(current_database())").Scan(&size))
		})
		return size
	}}
}

// archiving measures how fast a node archives a backlog, from reading it in the store to the commit and the ack, while
// messages are sent.
func archiving(b *bench) {
	b.table.section(fmt.Sprintf("archiving messages of 200 bytes in %d groups, beside %d sends a second", archiveGroups, besidePerSecond))
	for _, kind := range b.databases(1) {
		archived(b, kind[0])
	}
}

// archived fills a store, switches its archive on, and waits until what was there is archived.
func archived(b *bench, db database) {
	server := redistest.Start(b.tb)
	b.open(store.Options{URL: server.URL()})
	backlog := scaled(archiveBacklog)
	groups := min(archiveGroups, backlog)
	name := func(i int) string { return "archived-" + strconv.Itoa(i%groups) }
	parallel(groups, archiveSenders, func(i int) error { return b.group(name(i), 1) })
	t := newTexts(1)
	bodies := make([]string, 1000)
	for i := range bodies {
		bodies[i] = t.body("")
	}
	send := func(i int) error {
		_, err := b.service.Send(b.ctx, chat.Caller{User: "owner"}, name(i), chat.Content{Body: &bodies[i%len(bodies)]}, "")
		return err
	}
	parallel(backlog, archiveSenders, send)
	began := time.Now()
	url, stop := b.node(server.URL(), false, db.url)
	defer stop()
	beside := beside(send)
	rate := archivingRate(b, url, backlog, began)
	took := beside()
	b.table.rate(fmt.Sprintf("%s: %d messages that waited, and what came meanwhile", db.name, backlog), rate, 0, "")
	b.table.spread(db.name+": the sends meanwhile", took)
}

// beside sends at a steady rate until stop, which returns how long each send took from when it was due.
func beside(send func(i int) error) (stop func() []time.Duration) {
	var running sync.WaitGroup
	var mu sync.Mutex
	var took []time.Duration
	var failed atomic.Pointer[error]
	over := make(chan struct{})
	running.Go(func() {
		tick := time.NewTicker(time.Second / besidePerSecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-over:
				return
			case due := <-tick.C:
				running.Go(func() {
					if err := send(i); err != nil {
						failed.Store(&err)
					}
					mu.Lock()
					defer mu.Unlock()
					took = append(took, time.Since(due))
				})
			}
		}
	})
	return func() []time.Duration {
		close(over)
		running.Wait()
		if err := failed.Load(); err != nil {
			ok(*err)
		}
		return took
	}
}

var archivedEntries = regexp.MustCompile(`(?m)^chatd_archived_entries_total (\S+)$`)

// archivingRate waits until a node has archived so many entries, and returns how many it did a second.
func archivingRate(b *bench, url string, entries int, began time.Time) float64 {
	for {
		found := archivedEntries.FindSubmatch(metrics(b, url))
		if found == nil {
			ok(errors.New("the metrics do not say how much is archived"))
		}
		if done := must(strconv.ParseFloat(string(found[1]), 64)); done >= float64(entries) {
			return done / time.Since(began).Seconds()
		}
		ok(pause(b.ctx, 50*time.Millisecond))
	}
}

func metrics(b *bench, url string) []byte {
	req := must(http.NewRequestWithContext(b.ctx, http.MethodGet, url+"/metrics", http.NoBody))
	res, err := http.DefaultClient.Do(req)
	ok(err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		ok(fmt.Errorf("the metrics answer %s", res.Status))
	}
	return must(io.ReadAll(res.Body))
}
