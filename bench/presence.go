package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/bulk"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/presence"
)

// What the section about presence does.
const (
	presenceMembers = 100_000
	presenceSockets = 5000
	presenceFlaps   = 2 // of each socket a second, each an end and a beginning
	presenceLooks   = 50
	presenceFor     = 10 * time.Second
)

// whereabouts measures presence in a large group: what sockets cost that come and go all the time, and who looks meanwhile.
func whereabouts(b *bench) {
	fresh(b, func(own *bench) {
		members, sockets := max(100, scaled(presenceMembers)), max(20, scaled(presenceSockets))
		own.table.section(fmt.Sprintf("presence in a group of %d, of whose sockets some come and go twice a second", members))
		ok(own.group("hall", 1))
		owner := chat.Caller{User: "owner"}
		adding := bulk.New(own.service, own.store)
		for first := 1; first < members-1; first += bulk.UsersMax {
			var some []bulk.Draft
			for i := range min(bulk.UsersMax, members-1-first) {
				some = append(some, bulk.Draft{User: fmt.Sprintf("user-%d", first+i)})
			}
			must(adding.ChangeMembers(own.ctx, owner, "hall", some, nil))
		}
		ctx, stop := context.WithCancel(own.ctx)
		service := notify.New(own.service, own.store, notify.Options{})
		var running sync.WaitGroup
		running.Go(func() { _ = service.Run(ctx) })
		defer running.Wait()
		defer stop()
		for i := range sockets {
			service.SessionsBegan(fmt.Sprintf("user-%d", i))
		}
		shown := presence.New(own.service, own.store, nil)
		look := func() error {
			_, err := shown.Of(own.ctx, chat.Caller{User: "user-0"}, "hall", 50, "")
			return err
		}
		ok(look())
		for _, flapping := range []int{0, sockets / 5, sockets} {
			commands := own.flaps(service, flapping, nil)
			own.table.count(fmt.Sprintf("%d of %d sockets flap", flapping, sockets), "%.0f commands to Redis a second", commands)
		}
		commands := own.flaps(service, sockets, look)
		own.table.count(fmt.Sprintf("the same, while somebody looks at the group %d times a second", presenceLooks), "%.0f commands to Redis a second", commands)
	})
}

// flaps has sockets end and begin again for a time, and returns how many commands that took a second.
func (b *bench) flaps(service *notify.Service, sockets int, look func() error) float64 {
	const every = 10 * time.Millisecond
	over := shorter(presenceFor)
	began := time.Now()
	commands, _ := b.traffic.during(func() error {
		tick, looks := time.NewTicker(every), time.NewTicker(time.Second/presenceLooks)
		defer tick.Stop()
		defer looks.Stop()
		next, live := 0, true
		for time.Since(began) < over {
			select {
			case <-b.ctx.Done():
				return b.ctx.Err()
			case <-looks.C:
				if look != nil {
					if err := look(); err != nil {
						return err
					}
				}
			case <-tick.C:
				// An end and a beginning each, one after the other.
				for range sockets * 2 * presenceFlaps * int(every) / int(time.Second) {
					if user := fmt.Sprintf("user-%d", next); live {
						service.SessionsEnded(user)
					} else {
						service.SessionsBegan(user)
					}
					if next++; next == sockets {
						next, live = 0, !live
					}
				}
			}
		}
		return nil
	})
	return float64(commands) / time.Since(began).Seconds()
}
