// Package picture reads what users uploaded as pictures, and makes previews of them. It trusts nothing: the type comes from
// the content, the size from the header, and nothing is decoded that would take much memory or time.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"
)

// The bounds of what is read and decoded.
const (
	// PixelsMax is how many pixels a picture may have to get a preview.
	PixelsMax = 40_000_000
	// PreviewEdge is the longest edge of a preview in pixels.
	PreviewEdge = 640

	edgeMax         = 65_535    // pixels: what a JPEG or GIF can have. Rows of 40 million would take memory for squares as high
	decodedBytesMax = 256 << 20 // what decoding may allocate, as estimated from the header
	headerBytesMax  = 16 << 20  // within which the size of a picture must be found; embedded previews come before it
	scansMax        = 100       // of a JPEG; an encoder writes about 10, and each costs as much as the whole picture
)

// Errors to compare with in errors.Is.
var (
	ErrNotPicture = errors.New("not a PNG, JPEG, GIF or WebP picture")
	ErrTooLarge   = errors.New("the picture is too large to make a preview of")
)

// Info is what the header of a picture says.
type Info struct {
	Type          string // the media type, such as image/png
	Width, Height int    // pixels, as people see it: a photograph may be stored on its side
}

// format is a kind of picture.
type format struct {
	mime   string
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

// formatOf recognizes the first bytes of a picture.
func formatOf(head []byte) (format, bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return format{"image/png", png.DecodeConfig, png.Decode}, true
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return format{"image/jpeg", jpeg.DecodeConfig, jpeg.Decode}, true
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return format{"image/gif", gif.DecodeConfig, gif.Decode}, true // the first frame of an animation
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return format{"image/webp", webp.DecodeConfig, webp.Decode}, true
	}
	return format{}, false
}

// header is a picture of which only the beginning was read.
type header struct {
	format
	config      image.Config
	orientation int  // 1 to 8, as EXIF counts
	progressive bool // a JPEG of many scans, whose decoder holds all coefficients
}

// Read reads the header of the picture that r begins with. Errors: ErrNotPicture, and those of r.
func Read(r io.ReadSeeker) (Info, error) {
	h, err := readHeader(r)
	if err != nil {
		return Info{}, err
	}
	info := Info{Type: h.mime, Width: h.config.Width, Height: h.config.Height}
	if h.orientation > 4 {
		info.Width, info.Height = info.Height, info.Width
	}
	return info, nil
}

func readHeader(r io.ReadSeeker) (header, error) {
	var head [12]byte
	if err := rewind(r); err != nil {
		return header{}, err
	}
	n, err := io.ReadFull(r, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return header{}, err
	}
	f, ok := formatOf(head[:n])
	if !ok {
		return header{}, ErrNotPicture
	}
	h := header{format: f, orientation: 1}
	if err := rewind(r); err != nil {
		return header{}, err
	}
	source := &watched{r: io.LimitReader(r, headerBytesMax)}
	h.config, err = f.config(source)
	if source.err != nil {
		return header{}, source.err
	}
	if err != nil || h.config.Width < 1 || h.config.Height < 1 {
		return header{}, fmt.Errorf("%w: its header is damaged", ErrNotPicture)
	}
	if f.mime == "image/jpeg" {
		if err := rewind(r); err != nil {
			return header{}, err
		}
		h.orientation, h.progressive, err = scanJPEG(io.LimitReader(r, headerBytesMax))
	}
	return h, err
}

func rewind(r io.Seeker) error {
	_, err := r.Seek(0, io.SeekStart)
	return err
}

// watched keeps the error of a reader, to distinguish it from what a decoder makes of it.
type watched struct {
	r   io.Reader
	err error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

// decodedBytes estimates what decoding allocates.
func (h header) decodedBytes() int64 {
	pixels := int64(h.config.Width) * int64(h.config.Height)
	switch {
	case h.mime == "image/gif":
		return pixels
	case h.mime == "image/webp":
		return 8 * pixels // lossless: the pixels, and again those before a transformation
	case h.progressive:
		return 15 * pixels // three components of a byte, and their coefficients of four
	case h.mime == "image/jpeg":
		return 4 * pixels
	}
	switch h.config.ColorModel {
	case color.NRGBA64Model, color.RGBA64Model:
		return 8 * pixels
	case color.GrayModel:
		return pixels
	case color.Gray16Model:
		return 2 * pixels
	}
	return 4 * pixels
}
