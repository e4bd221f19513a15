//go:build !unix

package ws

// tryWrite can't write without blocking here: each session waits for its client in a goroutine of its own.
func tryWrite(uintptr, []byte) (int, error) { return 0, errWouldBlock }
