package main

import (
	"html/template"
	"io"
	"math"
	"strconv"
)

// chart shows a line per operation over sizes. Each size is ten times the one before, so the axis of sizes is logarithmic.
type chart struct {
	file, title, x string
	sizes          []int
	lines          []line
}

type line struct {
	what   string
	values []float64 // one per size
}

const (
	chartWidth, chartHeight = 720, 360
	plotLeft, plotTop       = 56, 48
	plotWidth, plotHeight   = 440, 260
)

// colors can be told apart by colour-blind readers (Okabe and Ito), on white and on black alike.
var colors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

type point struct{ X, Y float64 }

type (
	drawnLine struct {
		What, Color string
		Points      []point
		LabelY      float64
	}
	tick struct {
		At    float64
		Label string
	}
	drawing struct {
		Title, X                         string
		Width, Height                    int
		Left, Right, Top, Bottom, Middle float64
		Columns, Rows                    []tick
		Lines                            []drawnLine
	}
)

var chartTemplate = template.Must(template.New("chart").Parse(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{.Width}} {{.Height}}" role="img" aria-label="{{.Title}}">
<style>text{font:13px sans-serif;fill:#777}.title{font-size:15px}.grid{stroke:#8884}.line{fill:none;stroke-width:2}</style>
<text class="title" x="{{.Left}}" y="24">{{.Title}}</text>
{{range .Rows}}<line class="grid" x1="{{$.Left}}" x2="{{$.Right}}" y1="{{.At}}" y2="{{.At}}"/><text x="{{$.Left}}" dx="-8" y="{{.At}}" dy="4" text-anchor="end">{{.Label}}</text>
{{end}}{{range .Columns}}<line class="grid" x1="{{.At}}" x2="{{.At}}" y1="{{$.Top}}" y2="{{$.Bottom}}"/><text x="{{.At}}" y="{{$.Bottom}}" dy="20" text-anchor="middle">{{.Label}}</text>
{{end}}<text x="{{.Middle}}" y="{{.Bottom}}" dy="40" text-anchor="middle">{{.X}}</text>
{{range .Lines}}{{$color := .Color}}<polyline class="line" stroke="{{.Color}}" points="{{range .Points}}{{.X}},{{.Y}} {{end}}"/>
{{range .Points}}<circle cx="{{.X}}" cy="{{.Y}}" r="3.5" fill="{{$color}}"/>{{end}}
<circle cx="{{$.Right}}" cy="{{.LabelY}}" r="5" fill="{{.Color}}" transform="translate(20,-4)"/><text x="{{$.Right}}" dx="32" y="{{.LabelY}}">{{.What}}</text>
{{end}}</svg>
`))

// write draws the chart as SVG. Times differ by orders of magnitude between operations, so their axis is logarithmic too.
func (c chart) write(out io.Writer) error {
	low, high := math.Inf(1), 0.0
	for _, l := range c.lines {
		for _, v := range l.values {
			low, high = min(low, max(v, 0.1)), max(high, v)
		}
	}
	bottom, top := math.Floor(math.Log10(low)), math.Ceil(math.Log10(max(high, low)))
	top = max(top, bottom+1)
	x := func(i int) float64 {
		return plotLeft + float64(i)/float64(max(1, len(c.sizes)-1))*plotWidth
	}
	y := func(v float64) float64 {
		return math.Round(10*(plotTop+plotHeight*(1-(math.Log10(max(v, 0.1))-bottom)/(top-bottom)))) / 10
	}
	d := drawing{
		Title: c.title + " (us)", X: c.x, Width: chartWidth, Height: chartHeight,
		Left: plotLeft, Right: plotLeft + plotWidth, Top: plotTop, Bottom: plotTop + plotHeight, Middle: plotLeft + plotWidth/2,
	}
	for i, size := range c.sizes {
		d.Columns = append(d.Columns, tick{x(i), short(size)})
	}
	for power := bottom; power <= top; power++ {
		d.Rows = append(d.Rows, tick{y(math.Pow(10, power)), strconv.FormatFloat(math.Pow(10, power), 'f', -1, 64)})
	}
	for i, l := range c.lines {
		drawn := drawnLine{What: l.what, Color: colors[i%len(colors)], LabelY: plotTop + 12 + float64(24*i)}
		for at, v := range l.values {
			drawn.Points = append(drawn.Points, point{math.Round(x(at)), y(v)})
		}
		d.Lines = append(d.Lines, drawn)
	}
	return chartTemplate.Execute(out, d)
}
