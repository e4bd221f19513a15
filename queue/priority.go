package queue

import "fmt"

// Priority decides which waiting task goes first.
type Priority uint8

// The zero Priority is Normal, so a Task without one is an ordinary task.
const (
	Normal Priority = iota
	Critical
	High
	Low
)

// priorities lists all, highest first: the order of the keys in the scripts.
var priorities = [...]Priority{Critical, High, Normal, Low}

// String returns the name that keys, scripts and answers use.
func (p Priority) String() string {
	switch p {
	case Critical:
		return "critical"
	case High:
		return "high"
	case Normal:
		return "normal"
	case Low:
		return "low"
	}
	return fmt.Sprintf("priority(%d)", uint8(p))
}

// ParsePriority is the inverse of String.
func ParsePriority(name string) (Priority, error) {
	for _, p := range priorities {
		if p.String() == name {
			return p, nil
		}
	}
	return Normal, fmt.Errorf("queue: unknown priority %q", name)
}
