package layout

import (
	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/blocks"
	"github.com/chatd/chatd/chat/buttons"
	"github.com/chatd/chatd/chat/directory"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/expiry"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/quorum"
	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/chat/retention"
	"github.com/chatd/chatd/chat/reviews"
	"github.com/chatd/chatd/chat/rules"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/stream"
	"github.com/chatd/chatd/chat/webhook"
)

// Task says of a kind of tasks where they are.
type Task struct {
	Queue string
	By    string // the package whose handler runs it
	Home  Home
}

// Home is where a task lives. What it lives with is named in its payload.
type Home string

const (
	WithGroup          Home = "its group"
	WithGroupOrUser    Home = "its group, or its first user" // of an inbox
	WithGroupOrWebhook Home = "its group, or its webhook"    // what is of no group
	WithUser           Home = "its user"
	WithGroupOrInbox   Home = "its group, or its user"
	WithSchedule       Home = "its schedule"
	WithErasure        Home = "its erasure"
	WithPart           Home = "the partition that it is for"
	AtKind             Home = "the hash of its kind" // it is of the whole store
	AtFirst            Home = "partition 0"
)

// Tasks are all kinds. docs/tasks.md says what each does.
var Tasks = map[string]Task{
	blocks.TaskBlock:     {chat.QueueCore, "chat/blocks", WithUser},
	chat.TaskMention:     {chat.QueueCore, "chat", WithGroup},
	chat.TaskMember:      {chat.QueueCore, "chat", WithGroup},
	chat.TaskTrim:        {chat.QueueCore, "chat", WithGroup},
	chat.TaskCleanup:     {chat.QueueCore, "chat", WithGroup},
	chat.TaskUnreact:     {chat.QueueCore, "chat", WithGroup},
	notify.TaskFanOut:    {chat.QueueCore, "chat/notify", WithGroup},
	notify.TaskInbox:     {chat.QueueCore, "chat/notify", WithUser},
	notify.TaskDispatch:  {chat.QueueCore, "chat/notify", WithGroupOrUser},
	notify.TaskPush:      {chat.QueueEgress, "chat/notify", WithUser},
	webhook.TaskSpread:   {chat.QueueCore, "chat/webhook", AtFirst},
	webhook.TaskEvents:   {chat.QueueCore, "chat/webhook", WithGroup},
	webhook.TaskEnded:    {chat.QueueCore, "chat/webhook", WithGroup},
	webhook.TaskWithdraw: {chat.QueueCore, "chat/webhook", WithGroup},
	webhook.TaskDeliver:  {chat.QueueEgress, "chat/webhook", WithGroupOrWebhook},
	schedule.TaskFire:    {chat.QueueCore, "chat/schedule", WithSchedule},
	schedule.TaskFailed:  {chat.QueueCore, "chat/schedule", WithSchedule},
	schedule.TaskForget:  {chat.QueueCore, "chat/schedule", WithSchedule},
	announce.TaskRun:     {chat.QueueCore, "chat/announce", AtFirst},
	announce.TaskPart:    {chat.QueueCore, "chat/announce", WithPart},
	archive.TaskArchive:  {chat.QueueCore, "chat/archive", WithGroup},
	archive.TaskWalk:     {chat.QueueCore, "chat/archive", AtKind},
	archive.TaskCompare:  {chat.QueueCore, "chat/archive", AtKind},
	retention.TaskRetain: {chat.QueueCore, "chat/retention", WithGroup},
	expiry.TaskExpire:    {chat.QueueCore, "chat/expiry", WithGroup},
	retention.TaskWalk:   {chat.QueueCore, "chat/retention", AtKind},
	directory.TaskIndex:  {chat.QueueCore, "chat/directory", AtKind},
	erase.TaskErase:      {chat.QueueCore, "chat/erase", WithErasure},
	erase.TaskHeld:       {chat.QueueCore, "chat/erase", WithGroup},
	erase.TaskForget:     {chat.QueueCore, "chat/erase", WithErasure},
	files.TaskRemoved:    {chat.QueueCore, "chat/files", WithGroup},
	files.TaskExpire:     {chat.QueueCore, "chat/files", WithGroup},
	files.TaskGone:       {chat.QueueCore, "chat/files", WithGroup},
	quorum.TaskQuorum:    {chat.QueueCore, "chat/quorum", WithGroup},
	buttons.TaskPressed:  {chat.QueueCore, "chat/buttons", WithGroup},
	reports.TaskReported: {chat.QueueCore, "chat/reports", WithGroup},
	reports.TaskEnd:      {chat.QueueCore, "chat/reports", WithGroup},
	reviews.TaskReview:   {chat.QueueCore, "chat/reviews", WithGroupOrInbox},
	reviews.TaskOver:     {chat.QueueCore, "chat/reviews", WithGroupOrInbox},
	rules.TaskRequested:  {chat.QueueCore, "chat/rules", WithGroup},
	stream.TaskCut:       {chat.QueueCore, "chat/stream", WithGroup},
	rules.TaskPurge:      {chat.QueueCore, "chat/rules", WithGroup},
	files.TaskCompare:    {chat.QueueCore, "chat/files", AtKind},
}
