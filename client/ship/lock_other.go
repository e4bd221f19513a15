//go:build !unix

package ship

// lockState does nothing where files cannot be locked alike.
func lockState(string) (unlock func(), err error) { return func() {}, nil }
