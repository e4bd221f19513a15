package main

import (
	"bytes"
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
	prepare   func() error          // brings its statistics and its index up to date, as happens by itself in time
	size      func() (int64, error) // bytes on disk
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
	return database{"SQLite", "sqlite:" + file, func() error { return nil }, func() (int64, error) {
		info, err := os.Stat(file)
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}}
}

func postgresAt(b *bench, url string) database {
	ask := func(query string, to ...any) error {
		conn, err := pgx.Connect(b.ctx, url)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(b.ctx) }()
		if len(to) == 0 {
			_, err := conn.Exec(b.ctx, query)
			return err
		}
		return conn.QueryRow(b.ctx, query).Scan(to...)
	}
	return database{"PostgreSQL", url, func() error { return ask("ANALYZE; SELECT gin_clean_pending_list('entries_words')") }, func() (size int64, err error) {
		return size, ask("SELECT pg_database_size(current_database())", &size)
	}}
}

// archiving measures how fast a node archives a backlog, from reading it in the store to the commit and the ack, while
// messages are sent.
func archiving(b *bench) error {
	b.table.section(fmt.Sprintf("archiving messages of 200 bytes in %d groups, beside %d sends a second", archiveGroups, besidePerSecond))
	for _, kind := range b.databases(1) {
		if err := archived(b, kind[0]); err != nil {
			return fmt.Errorf("%s: %w", kind[0].name, err)
		}
	}
	return nil
}

// archived fills a store, switches its archive on, and waits until what was there is archived.
func archived(b *bench, db database) error {
	server := redistest.Start(b.tb)
	b.open(store.Options{URL: server.URL()})
	backlog := scaled(archiveBacklog)
	groups := min(archiveGroups, backlog)
	name := func(i int) string { return "archived-" + strconv.Itoa(i%groups) }
	if _, err := parallel(groups, archiveSenders, func(i int) error { return b.group(name(i), 1) }); err != nil {
		return err
	}
	t := newTexts(1)
	bodies := make([]string, 1000)
	for i := range bodies {
		bodies[i] = t.body("")
	}
	send := func(i int) error {
		_, err := b.service.Send(b.ctx, chat.Caller{User: "owner"}, name(i), chat.Content{Body: &bodies[i%len(bodies)]}, "")
		return err
	}
	if _, err := parallel(backlog, archiveSenders, send); err != nil {
		return err
	}
	began := time.Now()
	url, stop, err := b.node(server.URL(), false, db.url)
	if err != nil {
		return err
	}
	defer stop()
	beside := beside(send)
	rate, err := archivingRate(b, url, backlog, began)
	took, failed := beside()
	if err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	b.table.rate(fmt.Sprintf("%s: %d messages that waited, and what came meanwhile", db.name, backlog), rate, 0, "")
	b.table.spread(db.name+": the sends meanwhile", took)
	return nil
}

// beside sends at a steady rate until stop, which returns how long each send took from when it was due.
func beside(send func(i int) error) (stop func() ([]time.Duration, error)) {
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
	return func() ([]time.Duration, error) {
		close(over)
		running.Wait()
		if err := failed.Load(); err != nil {
			return took, *err
		}
		return took, nil
	}
}

var archivedEntries = regexp.MustCompile(`(?m)^chatd_archived_entries_total (\S+)$`)

// archivingRate waits until a node has archived so many entries, and returns how many it did a second.
func archivingRate(b *bench, url string, entries int, began time.Time) (float64, error) {
	for {
		page, err := metrics(b, url)
		if err != nil {
			return 0, err
		}
		found := archivedEntries.FindSubmatch(page)
		if found == nil {
			return 0, errors.New("the metrics do not say how much is archived")
		}
		done, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil || done >= float64(entries) {
			return done / time.Since(began).Seconds(), err
		}
		if err := pause(b.ctx, 50*time.Millisecond); err != nil {
			return 0, err
		}
	}
}

func metrics(b *bench, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(b.ctx, http.MethodGet, url+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the metrics answer %s", res.Status)
	}
	var page bytes.Buffer
	_, err = io.Copy(&page, res.Body)
	return page.Bytes(), err
}
