package live

import "github.com/chatd/chatd/chat"

// fitBytes cuts messages so that they take no more than room, except for the first.
func fitBytes(messages []chat.Message, room int) []chat.Message {
	for i, m := range messages {
		if room -= len(m.JSON); i > 0 && room < 0 {
			return messages[:i]
		}
	}
	return messages
}

// bytesOf is the size of messages.
func bytesOf(messages []chat.Message) (bytes int) {
	for _, m := range messages {
		bytes += len(m.JSON)
	}
	return bytes
}
