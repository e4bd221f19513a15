package demo

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
)

const avatarSide = 256

// scene is the landscape of a picture: colours as 0xRRGGBB, the hills from the farthest to the nearest.
type scene struct {
	sky, sun uint32
	hills    [3]uint32
}

// avatar draws a square landscape. Each person's is another one.
func (s scene) avatar() ([]byte, error) {
	phase := float64(s.sky%97) / 97 * 2 * math.Pi
	return draw(avatarSide, avatarSide, func(x, y float64) color.RGBA { return s.at(x, y, phase) })
}

// at is the colour of a point; x and y lie between 0 and 1.
func (s scene) at(x, y, phase float64) color.RGBA {
	for i := len(s.hills) - 1; i >= 0; i-- {
		depth := float64(i)
		ridge := 0.52 + 0.15*depth + 0.09*math.Sin(phase+(2.2+depth)*x*math.Pi) + 0.035*math.Sin(2*phase+depth+9*x)
		if y > ridge {
			return mix(rgb(s.hills[i]), rgb(s.sky), 0.25*(1-(y-ridge)))
		}
	}
	if math.Hypot(x-0.5-0.2*math.Cos(phase), y-0.3) < 0.13 {
		return rgb(s.sun)
	}
	return mix(rgb(s.sky), rgb(s.sun), 0.75*y)
}

// climb draws the elevation of a route: the picture of a message.
func climb() ([]byte, error) {
	const ground, ridge, line, level = 0xf5f7f4, 0x2f7d6b, 0x14463d, 0xdfe5e0
	hill := func(x, at, wide float64) float64 { return math.Exp(-(x - at) * (x - at) / (wide * wide)) }
	height := func(x float64) float64 {
		return 0.82 - 0.62*hill(x, 0.68, 0.2) - 0.22*hill(x, 0.25, 0.11) - 0.012*math.Sin(40*x)*math.Sin(3*x)
	}
	return draw(720, 360, func(x, y float64) color.RGBA {
		at := height(x)
		slope := (height(x+0.001) - height(x-0.001)) / 0.002 / 2
		switch far := (y - at) / math.Hypot(1, slope); {
		case math.Abs(far) < 0.009:
			return rgb(line)
		case far > 0:
			return mix(rgb(ground), rgb(ridge), 0.75-0.7*(y-at))
		case math.Abs(math.Mod(y, 0.2)-0.1) < 0.0025:
			return rgb(level)
		}
		return rgb(ground)
	})
}

// draw makes a PNG of a function of the plane, where both coordinates lie between 0 and 1, with smooth edges.
func draw(width, height int, at func(x, y float64) color.RGBA) ([]byte, error) {
	const samples = 2 // in each direction
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for py := range height {
		for px := range width {
			var r, g, b int
			for i := range samples * samples {
				x, y := float64(px)+(float64(i%samples)+0.5)/samples, float64(py)+(float64(i/samples)+0.5)/samples
				c := at(x/float64(width), y/float64(height))
				r, g, b = r+int(c.R), g+int(c.G), b+int(c.B)
			}
			n := samples * samples
			picture.SetRGBA(px, py, color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 255}) //nolint:gosec // means of bytes
		}
	}
	var out bytes.Buffer
	err := png.Encode(&out, picture)
	return out.Bytes(), err
}

func rgb(c uint32) color.RGBA { return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 255} } //nolint:gosec // the low bytes

// mix is a share of b in a.
func mix(a, b color.RGBA, share float64) color.RGBA {
	share = min(max(share, 0), 1)
	one := func(x, y uint8) uint8 { return uint8(math.Round(float64(x)*(1-share) + float64(y)*share)) }
	return color.RGBA{one(a.R, b.R), one(a.G, b.G), one(a.B, b.B), 255}
}
