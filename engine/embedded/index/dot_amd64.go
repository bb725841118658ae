package index

// Dot is the inner product of two vectors of one length, rounded in any order: its error
// is at most length · 2⁻²³ of the product of the vectors' lengths.
func Dot(x, y []float32) float32 {
	n := len(x) &^ 3
	y = y[:len(x)]
	var sum float32
	if n > 0 {
		sum = dot4(&x[0], &y[0], n)
	}
	for i := n; i < len(x); i++ {
		sum += x[i] * y[i]
	}
	return sum
}

// dot4 is the inner product of n components, a multiple of 4. It uses SSE, which every
// amd64 has.
//
//go:noescape
func dot4(x, y *float32, n int) float32
