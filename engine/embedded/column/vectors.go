package column

import "math"

// Vectors returns the components of a column of vectors one after the other, those of
// nulls included, and the length of a vector.
func (c *Column) Vectors() (data []float32, dim int) {
	c.ready()
	return c.f32, c.typ.Dim
}

// InverseLengths returns for each vector of a column 1 over its Euclidean length, rounded
// to float32; NaN for a null, and +Inf where the length or its square is out of
// float32's comfortable range, so that nothing can be said with it. It is computed once.
func (c *Column) InverseLengths() []float32 {
	if known := c.lengths.Load(); known != nil {
		return *known
	}
	c.ready()
	inv := make([]float32, c.n)
	for i := range inv {
		if c.null(uint32(i)) {
			inv[i] = float32(math.NaN())
			continue
		}
		var sum float64
		for _, x := range c.vector(uint32(i)) {
			sum += float64(x) * float64(x)
		}
		if inv[i] = float32(1 / math.Sqrt(sum)); !(sum > 1e-24 && sum < 1e24) {
			inv[i] = float32(math.Inf(1))
		}
	}
	c.lengths.Store(&inv)
	return inv
}
