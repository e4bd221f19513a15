package queue

import _ "embed"

// EnqueueLua defines the Lua function
//
//	task_enqueue(qk, id, kind, payload, priority, due_ms, now_ms, unique, options)
//
// for scripts of the same partition that enqueue a task in the step that makes it
// necessary. qk is a Lua array of the keys that Keys.Enqueue lists; the file itself says
// the rest. Join it in front of the script.
//
//go:embed enqueue_func.lua
var EnqueueLua string
