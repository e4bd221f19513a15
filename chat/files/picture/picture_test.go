package picture

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"runtime"
	"slices"
	"testing"
)

// A lossless WebP of 1 x 1 pixel: x/image has no encoder.
const tinyWebP = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="

// corners is a picture whose four quarters have different colours.
func corners(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, [2][2]color.NRGBA{{red, green}, {blue, white}}[y*2/h][x*2/w])
		}
	}
	return m
}

var (
	red   = color.NRGBA{255, 0, 0, 255}
	green = color.NRGBA{0, 255, 0, 255}
	blue  = color.NRGBA{0, 0, 255, 255}
	white = color.NRGBA{255, 255, 255, 255}
)

func asPNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asJPEG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asGIF(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gif.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asWebP(t testing.TB) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(tinyWebP)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withEXIF puts an orientation and a place into a JPEG, as a camera does.
func withEXIF(photo []byte, orientation uint16, order binary.AppendByteOrder) []byte {
	tiff := []byte("II")
	if order.String() == "BigEndian" {
		tiff = []byte("MM")
	}
	tiff = order.AppendUint16(tiff, 42)
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	for _, entry := range [][2]uint16{{0x0100, 7}, {0x0112, orientation}} {
		tiff = order.AppendUint16(tiff, entry[0])
		tiff = order.AppendUint16(tiff, 3)
		tiff = order.AppendUint32(tiff, 1)
		tiff = order.AppendUint16(tiff, entry[1])
		tiff = order.AppendUint16(tiff, 0)
	}
	segment := append([]byte("Exif\x00\x00"), append(tiff, "GPS 48.8584 N"...)...)
	app1 := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(segment)+2))
	return slices.Concat(photo[:2], app1, segment, photo[2:])
}

func TestReadsTypeAndSize(t *testing.T) {
	for name, test := range map[string]struct {
		content []byte
		want    Info
	}{
		"png":     {asPNG(t, corners(30, 20)), Info{"image/png", 30, 20}},
		"jpeg":    {asJPEG(t, corners(30, 20)), Info{"image/jpeg", 30, 20}},
		"gif":     {asGIF(t, corners(30, 20)), Info{"image/gif", 30, 20}},
		"webp":    {asWebP(t), Info{"image/webp", 1, 1}},
		"on side": {withEXIF(asJPEG(t, corners(30, 20)), 6, binary.LittleEndian), Info{"image/jpeg", 20, 30}},
		"in MM":   {withEXIF(asJPEG(t, corners(30, 20)), 8, binary.BigEndian), Info{"image/jpeg", 20, 30}},
		"mirror":  {withEXIF(asJPEG(t, corners(30, 20)), 2, binary.BigEndian), Info{"image/jpeg", 30, 20}},
		"strange": {withEXIF(asJPEG(t, corners(30, 20)), 77, binary.BigEndian), Info{"image/jpeg", 30, 20}},
	} {
		r := bytes.NewReader(test.content)
		_, _ = r.Seek(5, io.SeekStart)
		if got, err := Read(r); err != nil || got != test.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, test.want)
		}
	}
}

func TestWhatIsNoPicture(t *testing.T) {
	picture := asPNG(t, corners(30, 20))
	for name, content := range map[string][]byte{
		"nothing": nil, "text": []byte("hello"), "html": []byte("<html><script>alert(1)</script>"), "svg": []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"),
		"a name alone": picture[:8], "half a header": picture[:20], "bmp": []byte("BM123456789012345678901234567890"),
		"jpeg of nothing": []byte("\xff\xd8\xff\xd9"), "gif of no size": []byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"), "riff": []byte("RIFF\x10\x00\x00\x00WAVEfmt "),
	} {
		if _, err := Read(bytes.NewReader(content)); !errors.Is(err, ErrNotPicture) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := NewPreview(t.Context(), bytes.NewReader(content)); !errors.Is(err, ErrNotPicture) {
			t.Errorf("preview of %s: %v", name, err)
		}
	}
	// The header is fine, and the rest is not there.
	if _, err := NewPreview(t.Context(), bytes.NewReader(picture[:len(picture)/2])); !errors.Is(err, ErrNotPicture) {
		t.Errorf("half a picture: %v", err)
	}
}

// near tells whether two colours look the same: JPEG changes them a little.
func near(a color.Color, b color.NRGBA) bool {
	r, g, bl, _ := a.RGBA()
	diff := func(x uint32, y uint8) float64 { return math.Abs(float64(x>>8) - float64(y)) }
	return diff(r, b.R)+diff(g, b.G)+diff(bl, b.B) < 40
}

func preview(t *testing.T, content []byte) (Preview, image.Image) {
	t.Helper()
	p, err := NewPreview(t.Context(), bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	m, kind, err := image.Decode(bytes.NewReader(p.Content))
	if err != nil || "image/"+kind != p.Type || m.Bounds().Dx() != p.Width || m.Bounds().Dy() != p.Height {
		t.Fatalf("%s, %v, %v of %+v", kind, m.Bounds(), err, p.Info)
	}
	return p, m
}

func TestPreviewFits(t *testing.T) {
	for _, test := range []struct{ w, h, wantW, wantH int }{
		{1, 1, 1, 1}, {640, 640, 640, 640}, {641, 640, 640, 639}, {1279, 300, 640, 150}, {1280, 300, 640, 150},
		{1500, 1000, 640, 427}, {1000, 1500, 427, 640}, {5000, 1, 640, 1}, {1, 5000, 1, 640},
	} {
		p, m := preview(t, asJPEG(t, corners(test.w, test.h)))
		if p.Width != test.wantW || p.Height != test.wantH {
			t.Errorf("%d x %d becomes %d x %d, want %d x %d", test.w, test.h, p.Width, p.Height, test.wantW, test.wantH)
		}
		if test.w > 100 && test.h > 100 {
			showsCorners(t, m, [4]color.NRGBA{red, green, blue, white})
		}
	}
}

// showsCorners compares the middle of each quarter: top left, top right, bottom left, bottom right.
func showsCorners(t *testing.T, m image.Image, want [4]color.NRGBA) {
	t.Helper()
	size := m.Bounds().Size()
	for i, c := range want {
		at := image.Pt(size.X/4+i%2*size.X/2, size.Y/4+i/2*size.Y/2)
		if got := m.At(at.X, at.Y); !near(got, c) {
			t.Errorf("at %v: %v, want %v", at, got, c)
		}
	}
}

func TestPreviewIsUprightWithoutMetadata(t *testing.T) {
	for orientation, want := range map[uint16][4]color.NRGBA{
		1: {red, green, blue, white}, 2: {green, red, white, blue}, 3: {white, blue, green, red}, 4: {blue, white, red, green},
		5: {red, blue, green, white}, 6: {blue, red, white, green}, 7: {white, green, blue, red}, 8: {green, white, red, blue},
	} {
		photo := withEXIF(asJPEG(t, corners(300, 200)), orientation, binary.LittleEndian)
		p, m := preview(t, photo)
		if wide := p.Width > p.Height; wide != (orientation < 5) {
			t.Errorf("orientation %d: %d x %d", orientation, p.Width, p.Height)
		}
		showsCorners(t, m, want)
		for _, secret := range []string{"GPS", "Exif", "48.8584"} {
			if !bytes.Contains(photo, []byte(secret)) || bytes.Contains(p.Content, []byte(secret)) {
				t.Errorf("orientation %d: %q is in the preview", orientation, secret)
			}
		}
	}
}

func TestPreviewKeepsWhatShowsThrough(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 1400, 300))
	for x := 700; x < 1400; x++ {
		for y := range 300 {
			m.SetNRGBA(x, y, red)
		}
	}
	p, small := preview(t, asPNG(t, m))
	if _, _, _, a := small.At(100, 100).RGBA(); p.Type != "image/png" || a != 0 || !near(small.At(500, 100), red) {
		t.Errorf("%s, alpha %d, %v", p.Type, a, small.At(500, 100))
	}
	for name, content := range map[string][]byte{"gif": asGIF(t, corners(700, 70)), "webp": asWebP(t)} {
		if p, _ := preview(t, content); p.Width > PreviewEdge {
			t.Errorf("%s: %+v", name, p.Info)
		}
	}
}

// pngOf writes a PNG of that size whose rows are all zero, which takes 1000 times less bytes.
func pngOf(t testing.TB, w, h uint32, depth, colour byte, rowBytes int) []byte {
	t.Helper()
	out := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(name string, data []byte) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
		body := append([]byte(name), data...)
		out = append(out, body...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	chunk("IHDR", append(head, depth, colour, 0, 0, 0))
	var rows bytes.Buffer
	z := zlib.NewWriter(&rows)
	for range min(h, 100) {
		if _, err := z.Write(make([]byte, rowBytes+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	chunk("IDAT", rows.Bytes())
	chunk("IEND", nil)
	return out
}

// TestBombsAreNotDecoded counts what is allocated for pictures that are much larger than their files.
func TestBombsAreNotDecoded(t *testing.T) {
	progressive := asJPEG(t, corners(30, 20))
	sof := bytes.Index(progressive, []byte{0xff, 0xc0})
	progressive[sof+1] = markerSOF2
	binary.BigEndian.PutUint16(progressive[sof+5:], 6000)
	binary.BigEndian.PutUint16(progressive[sof+7:], 6000)
	wide := asGIF(t, corners(30, 20))
	binary.LittleEndian.PutUint16(wide[6:], 65535)
	binary.LittleEndian.PutUint16(wide[8:], 65535)
	for name, content := range map[string][]byte{
		"png": pngOf(t, 100_000, 10_000, 8, 0, 1000), "png of the largest size": pngOf(t, math.MaxInt32, 1, 1, 0, 1),
		"png of one row": pngOf(t, PixelsMax, 1, 1, 0, PixelsMax/8),
		"png of 16 bits": pngOf(t, 6200, 6200, 16, 6, 100), "progressive jpeg": progressive, "gif": wide,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := NewPreview(t.Context(), bytes.NewReader(content))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s of %d bytes: %v", name, len(content), err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("%s: %d bytes were allocated", name, took)
		}
	}
}

// TestLargePictureIsCollected: pictures that are decoded one after the other are not in memory together.
func TestLargePictureIsCollected(t *testing.T) {
	defer func(bytes int64) { collectedBytes = bytes }(collectedBytes)
	collectedBytes = 4 << 20
	content := pngOf(t, 15_000, 100, 8, 6, 4*15_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if p, err := NewPreview(t.Context(), bytes.NewReader(content)); err != nil || p.Width != PreviewEdge {
		t.Fatalf("%+v, %v", p.Info, err)
	}
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+3<<20 {
		t.Errorf("%d KiB more are in use", (after.HeapAlloc-before.HeapAlloc)>>10)
	}
}

// TestScansAreBounded gives a JPEG more scans than any encoder writes: each costs as much as a picture.
func TestScansAreBounded(t *testing.T) {
	photo := asJPEG(t, image.NewGray(image.Rect(0, 0, 8, 8)))
	sos := bytes.Index(photo, []byte{0xff, markerSOS})
	scan := photo[sos : len(photo)-2]
	photo = slices.Concat(photo[:sos], bytes.Repeat(scan, scansMax+1), photo[len(photo)-2:])
	_, err := NewPreview(t.Context(), bytes.NewReader(photo))
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("%d scans: %v", scansMax+1, err)
	}
}

// failing is a picture whose storage fails beyond the header.
type failing struct {
	*bytes.Reader
	err error
}

func (f failing) Read(p []byte) (int, error) {
	if at := f.Size() - int64(f.Len()); at >= 40 {
		return 0, f.err
	}
	return f.Reader.Read(p[:min(len(p), 40)])
}

func TestErrorsOfTheSourceAreItsOwn(t *testing.T) {
	away := errors.New("the disk is gone")
	_, err := NewPreview(t.Context(), failing{bytes.NewReader(asPNG(t, corners(300, 200))), away})
	if !errors.Is(err, away) || errors.Is(err, ErrNotPicture) {
		t.Errorf("got %v, want %v", err, away)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewPreview(ctx, bytes.NewReader(asPNG(t, corners(300, 200)))); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// FuzzPreview: whatever is uploaded, nothing panics, and a preview is a picture that fits.
func FuzzPreview(f *testing.F) {
	for _, content := range [][]byte{
		asPNG(f, corners(30, 20)), asJPEG(f, corners(30, 20)), asGIF(f, corners(30, 20)), asWebP(f),
		withEXIF(asJPEG(f, corners(30, 20)), 6, binary.BigEndian), asPNG(f, image.NewGray16(image.Rect(0, 0, 9, 700))), []byte("\xff\xd8\xff"),
	} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		info, err := Read(bytes.NewReader(content))
		if err == nil && info.Width*info.Height > 1<<20 {
			return // decoding it is right and slow
		}
		p, previewErr := NewPreview(t.Context(), bytes.NewReader(content))
		if previewErr != nil {
			if !errors.Is(previewErr, ErrNotPicture) && !errors.Is(previewErr, ErrTooLarge) {
				t.Fatalf("an error of no kind: %v", previewErr)
			}
			return
		}
		if err != nil {
			t.Fatalf("a preview of what has no header: %v", err)
		}
		if got, err := Read(bytes.NewReader(p.Content)); err != nil || got != p.Info || max(got.Width, got.Height) > PreviewEdge {
			t.Fatalf("%+v, %v, want %+v", got, err, p.Info)
		}
	})
}
