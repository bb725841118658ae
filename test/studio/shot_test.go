package studio

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/chromedp/chromedp"
)

// shoot writes a screenshot to a file if the flag for screenshots is set.
func (b *tab) shoot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	var shot []byte
	bars := func(width string) chromedp.Action {
		return chromedp.Evaluate(`document.documentElement.style.scrollbarWidth = "`+width+`"`, nil)
	}
	b.run(bars("none"), chromedp.CaptureScreenshot(&shot), bars(""))
	small, err := reduced(shot)
	if err == nil {
		err = os.MkdirAll(*shots, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), small, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// mostColours is the maximum number of colours in a screenshot: as many as an index of one byte can
// distinguish.
const mostColours = 256

// reduced returns the screenshot as a PNG that has only its most frequent colours. It is smaller than
// the PNG of the browser.
func reduced(shot []byte) ([]byte, error) {
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return nil, err
	}
	bounds := img.Bounds()
	count := map[color.Color]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[img.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return cmp.Compare(count[b], count[a]) })
	palette := color.Palette(colours[:min(mostColours, len(colours))])
	index := map[color.Color]uint8{}
	for c := range count {
		index[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			out.SetColorIndex(x, y, index[img.At(x, y)])
		}
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&b, out)
	return b.Bytes(), err
}
