package chat

// newFeeds makes the feeds of one node. They run in feeds.run.
func newFeeds(s *Service) *feeds { return &feeds{stores: s.stores, opt: s.opt} }
