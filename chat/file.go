package chat

// FilesMax is how many files a message names.
const FilesMax = 10

// File is a file of a group, as messages show it.
type File struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Size   int64  `json:"size"` // bytes
	Type   string `json:"type"` // with which it is served
	SHA256 string `json:"sha256"`
	Width  int    `json:"width,omitempty"` // of a picture, in pixels
	Height int    `json:"height,omitempty"`
}

// fileIDs are the ids of files.
func fileIDs(files []File) []string {
	var ids []string
	for _, f := range files {
		ids = append(ids, f.ID)
	}
	return ids
}
