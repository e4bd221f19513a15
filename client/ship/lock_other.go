//go:build !unix

package ship

// lockState does nothing on systems where files cannot be locked in the same way.
func lockState(string) (unlock func(), err error) { return func() {}, nil }
