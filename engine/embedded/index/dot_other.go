//go:build !amd64

package index

// Dot is the inner product of two vectors of one length, rounded in any order: its error
// is at most length · 2⁻²³ of the product of the vectors' lengths.
func Dot(x, y []float32) float32 {
	y = y[:len(x)]
	var a, b, c, d, e, f, g, h float32
	for ; len(x) >= 8; x, y = x[8:], y[8:] {
		p, q := (*[8]float32)(x), (*[8]float32)(y)
		a += p[0] * q[0]
		b += p[1] * q[1]
		c += p[2] * q[2]
		d += p[3] * q[3]
		e += p[4] * q[4]
		f += p[5] * q[5]
		g += p[6] * q[6]
		h += p[7] * q[7]
	}
	for i := range x {
		a += x[i] * y[i]
	}
	return ((a + e) + (b + f)) + ((c + g) + (d + h))
}
