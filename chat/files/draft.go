package files

import (
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"

	spelling "github.com/chatd/chatd/internal/text"
)

// Draft is what a creation says about a file.
type Draft struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Type   string `json:"type,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // hex; empty: not known yet
	Key    string `json:"-"`                // a retry key that the caller chose; the same draft with it is the same upload
}

const (
	nameMax      = 255 // characters; a file system that counts bytes may have to shorten a name
	typeBytesMax = 127
)

// check refuses what no file can have, and normalizes the rest.
func (d *Draft) check(sizeMax int64) error {
	var err error
	if d.Name, err = fileName(d.Name); err != nil {
		return err
	}
	switch {
	case d.Size < 0:
		return chat.Errorf(chat.CodeInvalid, "size: want an integer from 0")
	case d.Size > sizeMax:
		return chat.Errorf(chat.CodeTooLarge, "size: a file has at most %d bytes", sizeMax)
	case len(d.Type) > typeBytesMax:
		return chat.Errorf(chat.CodeInvalid, "type: at most %d bytes", typeBytesMax)
	}
	if d.Type != "" {
		media, _, err := mime.ParseMediaType(d.Type)
		if err != nil || !strings.Contains(media, "/") {
			return chat.Errorf(chat.CodeInvalid, "type: want a media type such as text/plain")
		}
		d.Type = media
	}
	d.SHA256 = strings.ToLower(d.SHA256)
	if d.SHA256 != "" && (len(d.SHA256) != 64 || strings.Trim(d.SHA256, "0123456789abcdef") != "") {
		return chat.Errorf(chat.CodeInvalid, "sha256: want 64 hexadecimal digits")
	}
	return nil
}

// fileName is the name of a file as it is stored. It refuses names that would mislead people, or programs that save under them.
func fileName(name string) (string, error) {
	clean := spelling.CleanName(name)
	switch {
	case clean == "" || !utf8.ValidString(name) || utf8.RuneCountInString(clean) > nameMax:
		return "", chat.Errorf(chat.CodeInvalid, "name: want 1 to %d characters of UTF-8", nameMax)
	case clean == "." || clean == ".." || strings.TrimSpace(clean) == "":
		return "", chat.Errorf(chat.CodeInvalid, "name: want the name of a file")
	case strings.ContainsAny(clean, "/\\\uFFFD") || strings.ContainsFunc(clean, unicode.IsControl):
		return "", chat.Errorf(chat.CodeInvalid, "name: slashes and control characters are not allowed")
	}
	return clean, nil
}

// unknownType is the type of a file of which nothing better is known, or whose type a browser might run.
const unknownType = "application/octet-stream"

// Pictures are the types that a browser may show inside a page, checked by content.
var pictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// IsPicture tells whether a file of this type may be shown inside a page.
func IsPicture(kind string) bool { return pictures[kind] }

// harmless are the types that are kept as declared; besides audio, video, fonts and those of office programs.
var harmless = map[string]bool{
	"text/plain": true, "text/csv": true, "application/json": true, "application/x-ndjson": true, "application/pdf": true,
	"application/zip": true, "application/gzip": true, "application/zstd": true, "application/x-tar": true, "application/x-7z-compressed": true,
	"application/msword": true, "application/rtf": true, "application/epub+zip": true, unknownType: true,
}

// servedType decides with which type a file is served: that of its content for pictures, a declared one if no browser runs it.
func servedType(declared, sniffed string) string {
	sniffed, _, _ = strings.Cut(sniffed, ";")
	if pictures[sniffed] {
		return sniffed
	}
	if declared == "" {
		declared = sniffed
	}
	top, sub, _ := strings.Cut(declared, "/")
	office := strings.HasPrefix(sub, "vnd.openxmlformats-officedocument.") || strings.HasPrefix(sub, "vnd.oasis.opendocument.") || strings.HasPrefix(sub, "vnd.ms-")
	switch {
	case strings.HasSuffix(sub, "xml") || strings.HasPrefix(declared, "image/"): // SVG, and what only claims to be a picture
		return unknownType
	case harmless[declared], top == "audio", top == "video", top == "font", top == "application" && office:
		return declared
	}
	return unknownType
}
