package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/chatd/chatd/queue"
)

// class is groups of one size. Shares are of all memberships, and of all messages: people write less in large groups.
type class struct {
	size                      int
	memberships, messages     float64
	groups                    int
	popular                   *rand.Zipf // which of its groups a message is for
	perGroupMessages, readers float64
}

// world is an installation in its busiest hour.
type world struct {
	users, groupsEach        int
	online                   float64 // share of the users with a websocket
	messagesADay, visitsADay float64 // of a user
	peak                     float64 // the rate of the busiest hour by the average
	notifiedOnceIn           float64 // messages: a member who is away is notified once until they look
	partitions, masters      int
	classes                  []*class
	random                   *rand.Rand
}

// skew is the exponent of Zipf's law for how messages are divided among the groups of a size.
const skew = 1.05

// newWorld assumes what docs/scaling.md says.
func newWorld(users, partitions, masters int, seed uint64) *world {
	w := &world{
		users: users, groupsEach: 20, online: 0.1, messagesADay: 20, visitsADay: 10, peak: 3, notifiedOnceIn: 5,
		partitions: partitions, masters: masters, random: rand.New(rand.NewPCG(seed, 1)), //nolint:gosec // chance of a simulation
	}
	w.classes = []*class{
		{size: 2, memberships: 0.20, messages: 0.30}, {size: 10, memberships: 0.40, messages: 0.40},
		{size: 100, memberships: 0.30, messages: 0.25}, {size: 1000, memberships: 0.08, messages: 0.045},
		{size: 10_000, memberships: 0.02, messages: 0.005},
	}
	for _, c := range w.classes {
		c.groups = max(1, int(float64(users*w.groupsEach)*c.memberships/float64(c.size)))
		c.popular = rand.NewZipf(w.random, skew, 10, uint64(c.groups-1))
		c.perGroupMessages = w.daily() * c.messages / float64(c.groups)
		c.readers = float64(c.size) * w.online
	}
	return w
}

// daily is how many messages all users send in a day.
func (w *world) daily() float64 { return float64(w.users) * w.messagesADay }

// rate is the messages of a second in the busiest hour.
func (w *world) rate() float64 { return w.daily() / 86_400 * w.peak }

// visits is the users of a second who come back in the busiest hour.
func (w *world) visits() float64 { return float64(w.users) * w.visitsADay / 86_400 * w.peak }

// draw chooses the group of the next message.
func (w *world) draw() (c *class, group string) {
	share := w.random.Float64()
	for _, c = range w.classes {
		if share -= c.messages; share < 0 {
			break
		}
	}
	return c, fmt.Sprintf("%d-%d", c.size, c.popular.Uint64())
}

// master returns the one that has a group, or a user.
func (w *world) master(id string) int { return masterOf(queue.Partition(id, w.partitions), w.masters) }

// anybody returns the master of a user, or of a group of theirs, by chance.
func (w *world) anybody() int { return masterOf(w.random.IntN(w.partitions), w.masters) }

const slots = 16_384 // of a Redis Cluster

// masterOf returns which of n masters, which divide the slots evenly, has a partition.
func masterOf(partition, n int) int {
	slot := int(crc16(fmt.Sprintf("p%02d", partition)) % slots)
	return min(slot*n/slots, n-1)
}

// crc16 is the hash of a tag in Redis Cluster: CRC-16/XMODEM. Source: the specification of Redis Cluster, appendix A.
func crc16(tag string) uint16 {
	var crc uint16
	for _, b := range []byte(tag) {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

// memory is what Redis holds in all, in bytes: memberships, and messages of which each group keeps so many, or what it has
// had in a month, if that is less.
func (w *world) memory(keep float64) (members, messages float64) {
	for _, c := range w.classes {
		members += float64(c.groups*c.size) * memberBytes(c.size)
		messages += float64(c.groups) * min(keep, 30*c.perGroupMessages) * messageBytes
	}
	return members, messages
}
