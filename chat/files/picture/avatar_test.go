package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"math/rand/v2"
	"testing"
)

// avatar makes an avatar, and checks what all have in common.
func avatar(t *testing.T, content []byte) (Preview, image.Image) {
	t.Helper()
	p, err := NewAvatar(t.Context(), bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	m, kind, err := image.Decode(bytes.NewReader(p.Content))
	if err != nil || "image/"+kind != p.Type || m.Bounds().Size() != image.Pt(256, 256) || len(p.Content) > AvatarBytesMax {
		t.Fatalf("%s, %v, %v: %d bytes of %+v", kind, m.Bounds(), err, len(p.Content), p.Info)
	}
	return p, m
}

// TestAvatarIsTheMiddle: whatever the size, the square in the middle is what is seen.
func TestAvatarIsTheMiddle(t *testing.T) {
	for _, size := range []image.Point{{256, 256}, {3, 3}, {1, 1}, {300, 200}, {200, 300}, {4000, 1000}, {1000, 3000}, {5000, 2}} {
		p, m := avatar(t, asJPEG(t, corners(size.X, size.Y)))
		if p.Type != "image/jpeg" {
			t.Errorf("%v: %s", size, p.Type)
		}
		if size.X > 100 && size.Y > 100 {
			showsCorners(t, m, [4]color.NRGBA{red, green, blue, white})
		}
	}
	ends := image.NewNRGBA(image.Rect(0, 0, 900, 300))
	for x := range 900 {
		for y := range 300 {
			ends.SetNRGBA(x, y, []color.NRGBA{red, blue, green}[x/300])
		}
	}
	_, m := avatar(t, asPNG(t, ends))
	showsCorners(t, m, [4]color.NRGBA{blue, blue, blue, blue})
}

func TestAvatarIsUprightWithoutMetadata(t *testing.T) {
	photo := withEXIF(asJPEG(t, corners(300, 200)), 6, binary.BigEndian)
	p, m := avatar(t, photo)
	showsCorners(t, m, [4]color.NRGBA{blue, red, white, green})
	for _, secret := range []string{"GPS", "Exif", "48.8584"} {
		if bytes.Contains(p.Content, []byte(secret)) {
			t.Errorf("%q is in the avatar", secret)
		}
	}
}

// TestAvatarIsShort: what shows through stays so, unless that takes too many bytes.
func TestAvatarIsShort(t *testing.T) {
	half := image.NewNRGBA(image.Rect(0, 0, 400, 400))
	noise := image.NewNRGBA(half.Rect)
	random := rand.New(rand.NewPCG(1, 2))
	for x := range 400 {
		for y := range 400 {
			if x >= 200 {
				half.SetNRGBA(x, y, red)
			}
			noise.SetNRGBA(x, y, color.NRGBA{uint8(random.IntN(256)), uint8(random.IntN(256)), uint8(random.IntN(256)), uint8(random.IntN(256))})
		}
	}
	p, m := avatar(t, asPNG(t, half))
	if _, _, _, a := m.At(50, 128).RGBA(); p.Type != "image/png" || a != 0 || !near(m.At(200, 128), red) {
		t.Errorf("%s, alpha %d, %v", p.Type, a, m.At(200, 128))
	}
	if p, _ := avatar(t, asPNG(t, noise)); p.Type != "image/jpeg" {
		t.Errorf("noise: %s of %d bytes", p.Type, len(p.Content))
	}
	for name, content := range map[string][]byte{"gif": asGIF(t, corners(700, 70)), "webp": asWebP(t)} {
		if p, _ := avatar(t, content); p.Width != AvatarEdge {
			t.Errorf("%s: %+v", name, p.Info)
		}
	}
}

func TestAvatarOfABomb(t *testing.T) {
	if _, err := NewAvatar(t.Context(), bytes.NewReader(pngOf(t, 100_000, 10_000, 8, 0, 1000))); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if _, err := NewAvatar(t.Context(), bytes.NewReader([]byte("<svg/>"))); !errors.Is(err, ErrNotPicture) {
		t.Errorf("got %v", err)
	}
}
