//go:build !unix

package disk

// Lock does nothing on systems where files cannot be locked in the same way.
func Lock(string) (unlock func(), err error) { return func() {}, nil }
