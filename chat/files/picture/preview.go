package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"

	"golang.org/x/image/draw"
)

const previewQuality = 82 // of a JPEG

// Preview is a small picture of a picture. It carries pixels alone: no EXIF, so no place where a photograph was taken.
type Preview struct {
	Info
	Content []byte // at most a few 100 KB
}

// NewPreview makes a preview of the picture in r: a PNG if something shows through, a JPEG otherwise, at most PreviewEdge
// pixels wide and high, upright. It takes a few 100 MB at most, which are free again when it returns: only one should be made at a
// time. Errors: ErrNotPicture, also for damaged and unsupported ones; ErrTooLarge, before anything is decoded; those of r and ctx.
func NewPreview(ctx context.Context, r io.ReadSeeker) (Preview, error) {
	m, err := smallOf(ctx, r, shrink)
	if err != nil {
		return Preview{}, err
	}
	return encode(m)
}

// smallOf makes a small copy of the picture in r, upright.
func smallOf(ctx context.Context, r io.ReadSeeker, shrink func(image.Image) *image.RGBA) (*image.RGBA, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	if max(h.config.Width, h.config.Height) > edgeMax || int64(h.config.Width)*int64(h.config.Height) > PixelsMax ||
		h.decodedBytes() > decodedBytesMax {
		return nil, fmt.Errorf("%w: %d x %d", ErrTooLarge, h.config.Width, h.config.Height)
	}
	small, err := h.shrunk(ctx, r, shrink)
	if err != nil {
		return nil, err
	}
	if h.decodedBytes() >= collectedBytes {
		// Otherwise two or three more are decoded before the heap has doubled. It takes a twentieth of the time of decoding.
		runtime.GC()
	}
	return upright(small, h.orientation), nil
}

// shrunk is a small copy of the picture. The decoded one is free when it returns.
func (h header) shrunk(ctx context.Context, r io.ReadSeeker, shrink func(image.Image) *image.RGBA) (*image.RGBA, error) {
	decoded, err := h.decodeFrom(ctx, r)
	if err != nil {
		return nil, err
	}
	return shrink(decoded), nil
}

// collectedBytes is from when on the memory of a decoded picture is collected at once. Tests lower it.
var collectedBytes int64 = 64 << 20

// decodeFrom decodes the picture; a cancelled context ends it at its next read.
func (h header) decodeFrom(ctx context.Context, r io.ReadSeeker) (decoded image.Image, err error) {
	if err := rewind(r); err != nil {
		return nil, err
	}
	source := &watched{r: &cancellable{ctx, r}}
	// The decoders return errors for damage; a panic would be a bug of theirs, and no stranger may end a node by that.
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: its decoder failed: %v", ErrNotPicture, v)
		}
	}()
	var counted io.Reader = source
	if h.mime == "image/jpeg" {
		counted = &scans{r: source}
	}
	decoded, err = h.decode(counted)
	switch {
	case source.err != nil:
		return nil, source.err
	case errors.Is(err, ErrTooLarge):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNotPicture, err)
	}
	if size := decoded.Bounds().Size(); size.X < 1 || size.Y < 1 {
		return nil, fmt.Errorf("%w: it is empty", ErrNotPicture)
	}
	return decoded, nil
}

type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// shrink scales a picture down to PreviewEdge; a smaller one keeps its size. First whole squares of pixels are averaged, a strip
// of rows at a time, which is cheap and needs no second large picture; the rest, less than half, is interpolated.
func shrink(src image.Image) *image.RGBA {
	size := src.Bounds().Size()
	longest := max(size.X, size.Y)
	averaged := average(src, src.Bounds(), max(1, longest/PreviewEdge))
	if longest <= PreviewEdge {
		return averaged
	}
	dst := image.NewRGBA(image.Rect(0, 0, scaled(size.X, longest), scaled(size.Y, longest)))
	draw.CatmullRom.Scale(dst, dst.Bounds(), averaged, averaged.Bounds(), draw.Src, nil)
	return dst
}

// scaled is an edge of the preview of a picture whose longest edge is longest.
func scaled(edge, longest int) int { return max(1, (edge*PreviewEdge+longest/2)/longest) }

// average makes a pixel of each k x k pixels of a part of src; the squares at the right and the bottom may be smaller.
func average(src image.Image, from image.Rectangle, k int) *image.RGBA {
	dst := image.NewRGBA(image.Rect(0, 0, (from.Dx()+k-1)/k, (from.Dy()+k-1)/k))
	strip := image.NewRGBA(image.Rect(0, 0, from.Dx(), k))
	for y := range dst.Rect.Dy() {
		rows := min(k, from.Dy()-y*k)
		draw.Draw(strip, image.Rect(0, 0, from.Dx(), rows), src, from.Min.Add(image.Pt(0, y*k)), draw.Src)
		for x := range dst.Rect.Dx() {
			dst.SetRGBA(x, y, mean(strip, image.Rect(x*k, 0, min(x*k+k, from.Dx()), rows)))
		}
	}
	return dst
}

func mean(src *image.RGBA, area image.Rectangle) color.RGBA {
	var r, g, b, a int
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := src.Pix[src.PixOffset(area.Min.X, y):src.PixOffset(area.Max.X, y)]
		for i := 0; i+3 < len(row); i += 4 {
			r, g, b, a = r+int(row[i]), g+int(row[i+1]), b+int(row[i+2]), a+int(row[i+3])
		}
	}
	n := area.Dx() * area.Dy()
	return color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), uint8(a / n)}
}

// upright turns and mirrors a picture as EXIF's orientation says.
func upright(src *image.RGBA, orientation int) *image.RGBA {
	w, h := src.Rect.Dx(), src.Rect.Dy()
	var from func(x, y int) (int, int) // the pixel of src that is shown at x, y
	switch orientation {
	case 2:
		from = func(x, y int) (int, int) { return w - 1 - x, y }
	case 3:
		from = func(x, y int) (int, int) { return w - 1 - x, h - 1 - y }
	case 4:
		from = func(x, y int) (int, int) { return x, h - 1 - y }
	case 5:
		from = func(x, y int) (int, int) { return y, x }
	case 6:
		from = func(x, y int) (int, int) { return y, h - 1 - x }
	case 7:
		from = func(x, y int) (int, int) { return w - 1 - y, h - 1 - x }
	case 8:
		from = func(x, y int) (int, int) { return w - 1 - y, x }
	default:
		return src
	}
	size := image.Rect(0, 0, w, h)
	if orientation > 4 {
		size = image.Rect(0, 0, h, w)
	}
	dst := image.NewRGBA(size)
	for y := range size.Dy() {
		for x := range size.Dx() {
			dst.SetRGBA(x, y, src.RGBAAt(from(x, y)))
		}
	}
	return dst
}

func encode(m *image.RGBA) (Preview, error) {
	if m.Opaque() {
		return inJPEG(m, previewQuality)
	}
	p := Preview{Info: Info{Type: "image/png", Width: m.Rect.Dx(), Height: m.Rect.Dy()}}
	var out bytes.Buffer
	err := png.Encode(&out, m)
	p.Content = out.Bytes()
	return p, err
}

func inJPEG(m *image.RGBA, quality int) (Preview, error) {
	p := Preview{Info: Info{Type: "image/jpeg", Width: m.Rect.Dx(), Height: m.Rect.Dy()}}
	var out bytes.Buffer
	err := jpeg.Encode(&out, m, &jpeg.Options{Quality: quality})
	p.Content = out.Bytes()
	return p, err
}
