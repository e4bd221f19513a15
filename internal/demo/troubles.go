package demo

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/chatd/chatd/client"
)

// Paths of a Receiver.
const (
	pathBusy    = "/crm"     // answers that it is out of order
	pathRefuses = "/billing" // answers that it does not take what it gets
)

// Receiver answers webhooks as programs in trouble do.
var Receiver = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == pathBusy {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusForbidden)
})

// plans makes what comes later: a schedule each working day, one message soon, one whose group is gone by then; and what stands in the inbox
// of Alice.
func (w *world) plans() {
	w.as("alice", func(c *client.Client) error {
		_, err := c.CreateSchedule(w, client.ScheduleDraft{Group: launch, Body: "Good morning! Stand-up in ten minutes.", Cron: "50 8 * * 1-5", Timezone: "Europe/Berlin"})
		if err == nil {
			_, err = c.SendLater(w, launch, client.Text("Reminder: please add your figures to the release report."), time.Now().Add(time.Hour).Truncate(time.Minute))
		}
		return err
	})
	w.group(client.GroupDraft{ID: review, Name: "Review of 1.9"}, "mateo")
	w.as("mateo", func(c *client.Client) error {
		soon := time.Now().Add(time.Second)
		_, err := c.CreateSchedule(w, client.ScheduleDraft{Group: review, Body: "The review starts in five minutes.", At: &soon})
		if err == nil {
			err = c.DeleteGroup(w, review)
		}
		return err
	})
	w.as("amina", func(c *client.Client) error {
		_, err := c.SendDirect(w, "alice", client.Direct{Body: "Could you look at the Arabic store page once more before noon?"})
		return err
	})
	w.as(Operator, func(c *client.Client) error {
		_, err := c.Announce(w, client.AnnouncementDraft{To: client.AnnouncementTarget{Users: everyone()}, Body: "Maintenance on Sunday from 06:00 to 06:15 UTC. Messages wait and are delivered afterwards.", Priority: "high"})
		return err
	})
}

const lettersDead = 6

// troubles makes what an operator should find: deliveries that were given up, and a webhook that fails.
func (w *world) troubles() {
	if w.server.Receiver == "" {
		return
	}
	w.webhook(pathRefuses, client.EventGroupCreated)
	for month := range lettersDead {
		w.group(client.GroupDraft{ID: fmt.Sprintf("%s-%02d", invoices, month+1), Name: time.Month(month+1).String() + " invoices"}, "mateo")
	}
	w.as(Operator, w.giveUp)
	w.webhook(pathBusy, client.EventMessageCreated)
}

func (w *world) webhook(path string, event string) {
	w.as(Operator, func(c *client.Client) error {
		_, err := c.CreateWebhook(w, client.WebhookDraft{URL: w.server.Receiver + path, Events: []string{event}})
		return err
	})
}

const (
	giveUpEvery = 50 * time.Millisecond
	giveUpMax   = 30 * time.Second
)

// giveUp runs the deliveries again that wait for their next attempt, hours ahead, until all were given up.
func (w *world) giveUp(c *client.Client) error {
	end := time.Now().Add(giveUpMax)
	again := time.NewTicker(giveUpEvery)
	defer again.Stop()
	for {
		dead, _, err := c.Tasks(w, client.TaskDead, "egress", client.Page{})
		switch {
		case err != nil || len(dead) >= lettersDead:
			return err
		case time.Now().After(end):
			return errors.New("the deliveries were not given up in time")
		}
		if _, err := c.ChangeTasks(w, client.TasksQuery{Queue: "egress", State: client.TaskDelayed, Kind: "hook", Act: "run"}); err != nil {
			return err
		}
		select {
		case <-w.Done():
			return w.Err()
		case <-again.C:
		}
	}
}
