package health

// Code names a kind of problem, for programs. It keeps its name when the code is renamed.
type Code string

// The kinds of problems. What the subject of each is: Problem.
const (
	StoreAway        Code = "store_away"
	StorePersistence Code = "store_persistence"
	StoreEviction    Code = "store_eviction"
	StoreMemory      Code = "store_memory"
	StoreReplica     Code = "store_replica"
	StoreCoverage    Code = "store_coverage"
	DiskLow          Code = "disk_low" // of store, archive or files
	ArchiveAway      Code = "archive_away"
	ArchiveLate      Code = "archive_late"
	FilesAway        Code = "files_away"
	NodeGone         Code = "node_gone"    // of a node
	QueuePaused      Code = "queue_paused" // of a queue, as those of tasks
	TasksLate        Code = "tasks_late"
	TasksDead        Code = "tasks_dead"
	TasksUnserved    Code = "tasks_unserved"
	WebhookFailing   Code = "webhook_failing" // of a webhook
	ScheduleFailed   Code = "schedule_failed" // of a schedule
	GroupHeld        Code = "group_held"      // of a group
	Unknown          Code = "unknown"         // of a part that could not be looked at
)

// Codes are all of them.
var Codes = []Code{StoreAway, StorePersistence, StoreEviction, StoreMemory, StoreReplica, StoreCoverage, DiskLow, ArchiveAway, ArchiveLate, FilesAway,
	NodeGone, QueuePaused, TasksLate, TasksDead, TasksUnserved, WebhookFailing, ScheduleFailed, GroupHeld, Unknown}
