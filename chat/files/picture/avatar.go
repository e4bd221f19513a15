package picture

import (
	"context"
	"image"
	"io"

	"golang.org/x/image/draw"
)

// Bounds of an avatar.
const (
	AvatarEdge     = 256      // pixels: its width and its height
	AvatarBytesMax = 64 << 10 // a photograph takes 10 to 20 KB
)

// avatarQualities are those of the JPEG of an avatar: the first one that is short enough. The last one always is.
var avatarQualities = []int{previewQuality, 60, 30}

// NewAvatar makes an avatar of the picture in r: the square in its middle, upright, a PNG if something shows through and it is short
// enough as that, a JPEG otherwise. What NewPreview says of memory and errors holds here too.
func NewAvatar(ctx context.Context, r io.ReadSeeker) (Preview, error) {
	m, err := smallOf(ctx, r, square)
	if err != nil {
		return Preview{}, err
	}
	p, err := encode(m)
	if err != nil || len(p.Content) <= AvatarBytesMax {
		return p, err
	}
	paper := image.NewRGBA(m.Rect)
	draw.Draw(paper, m.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(paper, m.Rect, m, m.Rect.Min, draw.Over)
	for _, quality := range avatarQualities {
		if p, err = inJPEG(paper, quality); err != nil || len(p.Content) <= AvatarBytesMax {
			break
		}
	}
	return p, err
}

// square scales the square in the middle of a picture to AvatarEdge, as shrink does.
func square(src image.Image) *image.RGBA {
	from := src.Bounds()
	edge := min(from.Dx(), from.Dy())
	at := from.Min.Add(image.Pt((from.Dx()-edge)/2, (from.Dy()-edge)/2))
	averaged := average(src, image.Rectangle{Min: at, Max: at.Add(image.Pt(edge, edge))}, max(1, edge/AvatarEdge))
	dst := image.NewRGBA(image.Rect(0, 0, AvatarEdge, AvatarEdge))
	draw.CatmullRom.Scale(dst, dst.Bounds(), averaged, averaged.Bounds(), draw.Src, nil)
	return dst
}
