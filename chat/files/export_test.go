package files

import "context"

// Compare compares blobs and records, for all letters.
func (s *Service) Compare(ctx context.Context) error {
	for _, letter := range []byte(letters) {
		if err := s.compare(ctx, letter); err != nil {
			return err
		}
	}
	return nil
}

// LockLease is lockLease.
const LockLease = lockLease

// OrphansMax is orphansMax.
const OrphansMax = orphansMax
