package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/chatd/chatd/store/blob"
)

const (
	filesFolder = "files" // beside the embedded store where nothing else is configured
	filesOff    = "off"   // switches files off
)

// checkFiles reads CHATD_FILES. The address may hold a password, so it is not shown.
func (s *settings) checkFiles(p *problems) {
	scheme, rest, _ := strings.Cut(s.Files, ":")
	switch {
	case s.Files == "" && s.Redis == "":
		s.Files = "dir:" + filepath.Join(s.Data, filesFolder)
	case s.Files == "", s.Files == filesOff, scheme == "dir" && rest != "", scheme == "s3" && strings.HasPrefix(rest, "//"):
	default:
		p.add("CHATD_FILES", "want dir:PATH, s3://BUCKET?endpoint=HOST, or off")
	}
}

var errOtherBlobs = errors.New("the files of the store are in another folder or bucket: set the one that the other nodes have")

// openFiles opens the blob store that is configured, and compares it with the one that the files of the store are in: nodes with
// different folders would not find each other's files.
func (n *Node) openFiles(ctx context.Context) error {
	recorded, err := n.store.RecordBlobs(ctx, "")
	if err != nil {
		return err
	}
	switch {
	case n.set.Files == filesOff:
		return nil
	case n.set.Files == "" && recorded != "":
		return errors.New("CHATD_FILES: the store has files: set the folder or bucket that the other nodes have, or off to serve none")
	case n.set.Files == "":
		return nil
	}
	if n.blobs, err = blob.Open(ctx, n.set.Files); err != nil {
		return fmt.Errorf("CHATD_FILES: %w", err)
	}
	if recorded == "" {
		if err := n.checkNewFolder(ctx); err != nil {
			return err
		}
		recorded, err = n.store.RecordBlobs(ctx, n.blobs.Identity())
	}
	if err == nil && recorded != n.blobs.Identity() {
		err = fmt.Errorf("CHATD_FILES: %w", errOtherBlobs)
	}
	return err
}

// checkNewFolder refuses a folder with the files of another store: they would be removed as files that nobody knows.
func (n *Node) checkNewFolder(ctx context.Context) error {
	items, err := n.blobs.List(ctx, "", 1)
	if err != nil {
		return fmt.Errorf("CHATD_FILES: %w", err)
	}
	has, err := n.store.HasFiles(ctx)
	if err == nil && len(items) > 0 && !has {
		err = errors.New("CHATD_FILES: the folder or bucket has files and the store knows none: name an empty one, or remove them")
	}
	return err
}
