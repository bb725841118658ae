// Package embed gets vectors for texts from providers. Two providers work over HTTP; a third is
// deterministic and serves tests and trials.
package embed

import (
	"context"
	"hash/fnv"
	"math"
)

// MockModel is the model of [Mock].
const MockModel = "mock"

// Mock computes vectors without a model. Equal texts have equal vectors; the distance between
// vectors of different texts has no meaning.
type Mock struct{}

// Model returns [MockModel].
func (Mock) Model() string { return MockModel }

// Embed returns for each text a vector of length 1 with dim components. The components before
// scaling are outputs of the generator SplitMix64 (Steele, Lea and Flood, Fast Splittable
// Pseudorandom Number Generators, 2014), seeded with the 64-bit FNV-1a hash of the text: the upper
// 24 bits of each output, as a fraction from -1 up to 1.
func (Mock) Embed(_ context.Context, texts []string, dim int) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		h := fnv.New64a()
		_, _ = h.Write([]byte(text)) // never fails
		out[i] = unit(h.Sum64(), dim)
	}
	return out, nil
}

// unit returns a vector of length 1 whose direction depends only on seed.
func unit(seed uint64, dim int) []float32 {
	raw := make([]float64, dim)
	var sum float64
	for i := range raw {
		seed += 0x9e3779b97f4a7c15
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		raw[i] = float64(z>>40)/(1<<23) - 1
		sum += float64(raw[i] * raw[i])
	}
	v := make([]float32, dim)
	for i, x := range raw {
		v[i] = float32(x / math.Sqrt(sum))
	}
	return v
}
