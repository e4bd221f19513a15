package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"
)

// daysOf returns the totals of today as texts.
func daysOf(t testing.TB, c *Client) (texts []string) {
	t.Helper()
	days, err := c.Days(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range days {
		if age := time.Since(d.Day); age < -time.Hour || age > 25*time.Hour || d.Day.Location() != time.UTC {
			t.Errorf("day %v", d.Day)
		}
		texts = append(texts, fmt.Sprint(d.Kind, " ", d.Done, d.Failed, d.Buried, d.Crashed))
	}
	return texts
}

// TestRunsAreCountedByDayAndKind: each run once, under the pattern of its handler, as soon as a server has nothing to do or
// stops; those that were given back, snoozed or fenced off are none.
func TestRunsAreCountedByDayAndKind(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.BackoffMin, o.BackoffMax, o.AttemptsMax, o.CrashesMax = time.Nanosecond, time.Nanosecond, 2, 1
		s := newServer(t, o)
		again := map[string]bool{}
		s.Handle("good", func(_ context.Context, task Task) error {
			if string(task.Payload) == "later" && !again[task.ID] {
				again[task.ID] = true
				return Snooze(0)
			}
			return nil
		})
		s.Handle("mail.*", func(context.Context, Task) error { return errors.New("no") })
		for range 3 {
			enqueue(t, s.Client, Task{Kind: "good", Payload: []byte("later")})
		}
		enqueue(t, s.Client, Task{Kind: "mail.a"})
		enqueue(t, s.Client, Task{Kind: "mail.b", AttemptsMax: 1})
		enqueue(t, s.Client, Task{Kind: "other"})
		enqueue(t, s.Client, Task{Kind: "good", Deadline: time.Now().Add(-time.Second)})
		lost := enqueue(t, s.Client, Task{Kind: "good", Priority: Critical})
		p, _ := PartitionOf(lost)
		if r := claimOne(t, s.Client, p, terms{lease: time.Millisecond, crashesMax: 5}); r.ID != lost {
			t.Fatalf("claimed %s", r.ID)
		}
		until(t, "the lease to be over and all to have run", func() bool {
			for range pagesMax {
				ran, err := s.RunNext(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if !ran {
					return stats(t, s.Client).Leased+stats(t, s.Client).Delayed == 0
				}
			}
			return false
		})
		if got, want := daysOf(t, s.Client), []string{"* 0 1 1 0", "good 3 0 2 1", "mail.* 0 3 2 0"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}

		another := newServer(t, o)
		another.Handle("good", func(context.Context, Task) error { return nil })
		stop := start(t, another)
		enqueue(t, another.Client, Task{Kind: "good"})
		until(t, "the task to be done", func() bool { return stats(t, another.Client).Done == 4 })
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got, want := daysOf(t, s.Client)[1], "good 4 0 2 1"; got != want {
			t.Errorf("after a server has stopped: got %q, want %q", got, want)
		}
		for _, days := range []int{-1, 0, 91} {
			if _, err := s.Days(t.Context(), days); !errors.Is(err, ErrInvalid) {
				t.Errorf("%d days: %v", days, err)
			}
		}
	})
}

// TestTotalsAreWrittenOnce: a call that is repeated because its answer got lost counts once, and what was counted
// meanwhile goes with the next.
func TestTotalsAreWrittenOnce(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		counts := s.tallies[0]
		send := func(answered bool) {
			t.Helper()
			one := counts.writing(time.Now(), 0)
			if one == nil {
				t.Fatal("nothing to write")
			}
			if err := run(t.Context(), s.rdb, []*call{one}); err != nil {
				t.Fatal(err)
			}
			if answered {
				counts.answered(one)
			}
		}
		counts.add("a", DayTotals{Done: 1})
		send(false)
		counts.add("a", DayTotals{Done: 10, Failed: 2})
		send(false)
		send(true)
		if got := daysOf(t, s.Client); !slices.Equal(got, []string{"a 1 0 0 0"}) {
			t.Errorf("after a lost answer: %q", got)
		}
		send(true)
		counts.add("b", DayTotals{Buried: 1})
		if counts.writing(time.Now(), tallyEvery) != nil {
			t.Error("it writes more often than it says")
		}
		send(true)
		if got := daysOf(t, s.Client); !slices.Equal(got, []string{"a 11 2 0 0", "b 0 0 1 0"}) {
			t.Errorf("in the end: %q", got)
		}
		if counts.writing(time.Now(), 0) != nil {
			t.Error("it writes what it has written")
		}
	})
}

// TestOldDaysAreForgotten: of the days 90 are kept, and of the servers that counted those of today and yesterday.
func TestOldDaysAreForgotten(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		key := NewKeys(s.prefix, 0, s.name).Of("days")
		s.tallies[0].add("a", DayTotals{Done: 1})
		s.writeTallies(t.Context())
		today, err := o.Client.HGet(t.Context(), key, "@").Int()
		if err != nil {
			t.Fatal(err)
		}
		day := func(ago int) string { return strconv.Itoa(today - ago) }
		poke(t, o.Client, key, "HSET", "@", day(1), day(89)+" a", "5 0 0 0", day(90)+" a", "6 0 0 0", day(400)+" b", "7 0 0 0",
			"@gone", "3 "+day(2), "@here", "3 "+day(1))
		s.tallies[0].add("a", DayTotals{Done: 1})
		s.writeTallies(t.Context())
		all, err := o.Client.HGetAll(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"@": day(0), day(0) + " a": "2 0 0 0", day(89) + " a": "5 0 0 0", "@here": "3 " + day(1), "@" + s.tallies[0].server: "2 " + day(0)}
		if fmt.Sprint(all) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", all, want)
		}
		days, err := s.Days(t.Context(), 90)
		if err != nil || len(days) != 2 || days[1].Done != 5 {
			t.Errorf("90 days: %+v, %v", days, err)
		}
		if days, err = s.Days(t.Context(), 89); err != nil || len(days) != 1 {
			t.Errorf("89 days: %+v, %v", days, err)
		}
	})
}
