package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/conn"
)

// Tasks are the queues of the domain.
type Tasks struct {
	*base
}

// newClients makes a client for each queue of the domain, once the number of partitions is known.
func (s *Store) newClients() (err error) {
	s.queues = make(map[string]*queue.Client)
	for _, name := range []string{chat.QueueCore, chat.QueueEgress} {
		s.queues[name], err = queue.NewClient(queue.Options{
			Client: s.conn.Client(), Prefix: s.keys.prefix, Partitions: s.Partitions(), Queue: name,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Enqueue enqueues tasks, each in the partition of its subject.
func (s *Tasks) Enqueue(ctx context.Context, tasks ...chat.NewTask) error {
	byQueue := make(map[string][]queue.Task)
	for _, t := range tasks {
		payload, err := json.Marshal(t.Payload)
		if err != nil {
			return broke("enqueue", fmt.Errorf("the payload of a task of kind %s: %w", t.Kind, err))
		}
		p := s.keys.partition(t.Subject)
		id := queue.NewID(p)
		if t.Key != "" {
			id = keyedTaskID(p, t.Kind, t.Key)
		}
		if t.Account != "" {
			id = queue.WithAccount(id, t.Account)
		}
		byQueue[t.Queue] = append(byQueue[t.Queue], queue.Task{
			ID: id, Kind: t.Kind, Payload: payload, Priority: priorityOf(t.Priority), Delay: t.Delay, Unique: t.Unique,
		})
	}
	for name, list := range byQueue {
		client, ok := s.queues[name]
		if !ok {
			return broke("enqueue", fmt.Errorf("there is no queue %q", name))
		}
		// The ids exist already, so a repeated call enqueues nothing twice while its tasks exist.
		_, err := client.EnqueueAll(ctx, list)
		if conn.Broken(err) && ctx.Err() == nil {
			_, err = client.EnqueueAll(ctx, list)
		}
		if err != nil {
			return fail("enqueue", err)
		}
	}
	return nil
}

// keyedTaskID is the id of a task that is named by what it is about: 120 bits of its kind and key.
func keyedTaskID(partition int, kind, key string) string {
	return fmt.Sprintf("p%02d-%s", partition, hashed(kind+" "+key))
}

func priorityOf(p chat.Priority) queue.Priority {
	switch p {
	case chat.PriorityHigh:
		return queue.High
	case chat.PriorityLow:
		return queue.Low
	case chat.PriorityNormal:
	}
	return queue.Normal
}

// TaskServer makes a server that runs the tasks of this store. Client, Prefix and Partitions of o are those of the store.
func (s *Tasks) TaskServer(o queue.Options) (*queue.Server, error) {
	o.Client, o.Prefix, o.Partitions = s.conn.Client(), s.keys.prefix, s.partitions()
	return queue.New(o)
}

// TaskClient makes a client of one queue of this store. Client, Prefix and Partitions of o are those of the store.
func (s *Tasks) TaskClient(o queue.Options) (*queue.Client, error) {
	o.Client, o.Prefix, o.Partitions = s.conn.Client(), s.keys.prefix, s.partitions()
	return queue.NewClient(o)
}
