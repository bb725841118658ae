package column

import (
	"math"
	"slices"
)

// CodeStep is a divisor of the number of codes per vector.
const CodeStep = 32

// Codes holds the directions of a column's vectors with one byte per component. For a
// vector divided by its length, u, |u − Scale·codes| ≤ Error.
type Codes struct {
	Rows      []uint32  // rows of the vectors that are zero or have a direction, ascending
	Bytes     []int8    // for each of Rows: its codes, padded with zeros to Stride bytes
	Stride    int       // codes, of one byte each, per row; a multiple of CodeStep
	Scale     []float32 // for each of Rows: the length of one step of its codes
	Error     []float32 // for each of Rows: the bound above
	MaxError  float32   // the maximum of Error
	NotFinite []uint32  // rows of vectors that are not finite
}

// codesTick is the number of components that are coded between two calls of proceed.
const codesTick = 1 << 20

// Codes returns the codes of a column of vectors. They are computed only once. Codes calls the
// function `proceed` from time to time, and returns the error of `proceed`.
func (c *Column) Codes(proceed func() error) (*Codes, error) {
	if known := c.codes.Load(); known != nil {
		return known, nil
	}
	c.ready()
	dim := c.typ.Dim
	x := NewCodes(dim)
	n := 0
	for i := range c.n {
		if !c.IsNull(uint32(i)) {
			n++
		}
	}
	x.Grow(n)
	left := 0
	for i := range uint32(c.n) {
		if left -= dim; left < 0 {
			left = codesTick
			if err := proceed(); err != nil {
				return nil, err
			}
		}
		if !c.IsNull(i) {
			x.Add(i, c.vector(i))
		}
	}
	c.codes.Store(x)
	return x, nil
}

// NewCodes returns empty Codes, to which vectors with dim components can be added.
func NewCodes(dim int) *Codes {
	return &Codes{Stride: (dim + CodeStep - 1) / CodeStep * CodeStep}
}

// Grow makes room for n more vectors, so that Add does not move those that are there.
func (x *Codes) Grow(n int) {
	x.Rows, x.Scale, x.Error = slices.Grow(x.Rows, n), slices.Grow(x.Scale, n), slices.Grow(x.Error, n)
	x.Bytes = slices.Grow(x.Bytes, n*x.Stride)
}

// Add appends the codes of v, the vector of a row. Rows must be added in ascending order.
func (x *Codes) Add(row uint32, v []float32) {
	var sum, most float64
	for _, y := range v {
		f := float64(y)
		sum += f * f
		most = max(most, math.Abs(f))
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		x.NotFinite = append(x.NotFinite, row)
		return
	}
	at := len(x.Bytes)
	x.Rows = append(x.Rows, row)
	x.Bytes = slices.Grow(x.Bytes, x.Stride)[:at+x.Stride]
	codes := x.Bytes[at:]
	if sum == 0 {
		clear(codes)
		x.Scale, x.Error = append(x.Scale, 0), append(x.Error, 0)
		return
	}
	inverse := 1 / math.Sqrt(sum)
	scale := float32(most * inverse / 127)
	var lack float64
	for k, y := range v {
		u := float64(y) * inverse
		code := math.RoundToEven(u / float64(scale))
		code = max(-127, min(127, code))
		codes[k] = int8(code)
		d := u - float64(scale)*code
		lack += d * d
	}
	clear(codes[len(v):])
	// Round up by more than the possible rounding error of the computation.
	err := float32(math.Sqrt(lack)*(1+1e-6) + 1e-9)
	err = math.Nextafter32(err, float32(math.Inf(1)))
	x.Scale, x.Error, x.MaxError = append(x.Scale, scale), append(x.Error, err), max(x.MaxError, err)
}
