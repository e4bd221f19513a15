package queue

import "github.com/chatd/chatd/queue/option/rate"

// Rate bounds how often tasks with a key begin: Key, N in each Per, and Burst.
type Rate = rate.Rate
