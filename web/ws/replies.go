package ws

import "sync"

// Bounds of the answers that wait for a client; beyond them, its commands are not read.
const (
	answersMax     = 32
	answerBytesMax = 16 << 10 // plus one long answer
)

// replies are what a session's reader hands to its writer: answers to commands, and to a ping.
type replies struct {
	mu      sync.Mutex
	room    sync.Cond // an answer was written, or the session ends
	answers [][]byte
	bytes   int    // of the answers here and of those being written
	ping    []byte // the newest ping not answered yet; nil: none
	ended   bool
}

// add waits for room, then hands over an answer. While the client does not read its answers, its commands wait. Once the
// session ends, only what there is room for is kept.
func (r *replies) add(answer []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.ended && (r.bytes > answerBytesMax || len(r.answers) >= answersMax) {
		r.room.Wait()
	}
	if len(r.answers) < answersMax {
		r.answers = append(r.answers, answer)
		r.bytes += len(answer)
	}
}

// pong has a ping answered. If there are several, answering the newest is enough.
func (r *replies) pong(data []byte) {
	r.mu.Lock()
	r.ping = data
	r.mu.Unlock()
}

// take takes what waits. sent makes room for more, once that many bytes of answers have been written.
func (r *replies) take() (answers [][]byte, ping []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answers, ping = r.answers, r.ping
	r.answers, r.ping = nil, nil
	return answers, ping
}

func (r *replies) sent(bytes int) {
	r.mu.Lock()
	r.bytes -= bytes
	r.mu.Unlock()
	r.room.Signal()
}

// end lets a reader go on that waits for room.
func (r *replies) end() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.room.Broadcast()
}
