package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
)

// space generates vectors that look like embeddings of texts. It is a mixture of topics, some common
// and most rare, as in a collection of documents. A vector is the sum of
//   - one direction that all vectors share, as with the embedding models in use;
//   - the centre of its topic; the centres lie in a space of few dimensions, so that topics are near
//     others;
//   - a place within the topic, along few axes of its own that matter less and less;
//   - a little noise in all components.
//
// Then its length becomes 1. So a vector has hundreds of components, but around each vector the others
// fill only about 17 dimensions, and the closest ones are much closer than a random one: among 50,000
// vectors of 768 components the cosine of the closest is 0.74, of the tenth 0.67, of the median 0.2.
// Vectors of plain noise have no near neighbours, unlike the embeddings that users search.
type space struct {
	dim    int
	seed   uint64
	shared []float32
	topics []topic
	shares []float64 // by topic: the share of the vectors in it and in the topics before
}

// topic is one topic of a space.
type topic struct {
	centre []float32   // a vector of length topicLength
	axes   [][]float32 // the spread of the vectors along each axis
}

// These are the approximate lengths of the parts of a vector.
const (
	sharedLength = 0.5
	topicLength  = 0.7
	placeLength  = 0.7
	noiseLength  = 0.25
)

const (
	topics    = 1000 // number of topics
	topicAxes = 48   // dimensions within a topic
	worldAxes = 64   // dimensions of the space of the centres
	decay     = 0.3  // axis i has a spread in proportion to (i+1)^-decay
)

// parts is the number of parts into which the rows are divided. A filter that names a part keeps
// this fraction of the rows.
const parts = 100

// partOf returns the part of a row. It does not depend on the vector.
func partOf(row int) int { return row % parts }

// newSpace returns the space of a seed, for vectors of dim components.
func newSpace(dim int, seed uint64) *space {
	s := &space{dim: dim, seed: seed}
	rng := rand.New(rand.NewPCG(seed, 0))
	s.shared = direction(rng, dim, sharedLength)
	world := axes(rng, worldAxes, dim, 1)
	total := 0.0
	for i := range topics {
		centre := make([]float32, dim)
		for _, axis := range world {
			add(centre, axis, rng.NormFloat64())
		}
		scale(centre, topicLength)
		s.topics = append(s.topics, topic{centre, axes(rng, topicAxes, dim, placeLength)})
		total += 1 / float64(i+5) // the shares follow Zipf's law
		s.shares = append(s.shares, total)
	}
	for i := range s.shares {
		s.shares[i] /= total
	}
	return s
}

// axes returns n random axes. A sum of them with standard normal factors has about the given length.
func axes(rng *rand.Rand, n, dim int, length float64) [][]float32 {
	squares := 0.0
	for i := range n {
		squares += math.Pow(float64(i+1), -2*decay)
	}
	list := make([][]float32, n)
	for i := range list {
		list[i] = direction(rng, dim, length*math.Pow(float64(i+1), -decay)/math.Sqrt(squares))
	}
	return list
}

// direction returns a vector of a random direction and the given length.
func direction(rng *rand.Rand, dim int, length float64) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	scale(v, length)
	return v
}

// add adds factor·x to v.
func add(v, x []float32, factor float64) {
	f := float32(factor)
	for i := range v {
		v[i] += f * x[i]
	}
}

// scale gives v the given length.
func scale(v []float32, length float64) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	f := float32(length / math.Sqrt(sum))
	for i := range v {
		v[i] *= f
	}
}

// fill writes the vector of a row to v. Each row has random numbers of its own.
func (s *space) fill(v []float32, row int) {
	rng := rand.New(rand.NewPCG(s.seed, uint64(row)+1))
	t := &s.topics[s.topicOf(rng.Float64())]
	copy(v, s.shared)
	add(v, t.centre, 1)
	for _, axis := range t.axes {
		add(v, axis, rng.NormFloat64())
	}
	noise := noiseLength / math.Sqrt(float64(s.dim))
	for i := range v {
		v[i] += float32(rng.NormFloat64() * noise)
	}
	scale(v, 1)
}

// topicOf returns the topic for a number of [0, 1).
func (s *space) topicOf(x float64) int {
	low, high := 0, len(s.shares)-1
	for low < high {
		if mid := (low + high) / 2; s.shares[mid] <= x {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// writeFloats writes the vectors of the rows [from, end) as little-endian floats of 4 bytes.
func (s *space) writeFloats(to io.Writer, from, end int) error {
	w := bufio.NewWriterSize(to, 1<<20)
	v, text := make([]float32, s.dim), []byte(nil)
	for row := from; row < end; row++ {
		s.fill(v, row)
		text = text[:0]
		for _, x := range v {
			text = binary.LittleEndian.AppendUint32(text, math.Float32bits(x))
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return w.Flush()
}

// slug returns the key of a row.
func slug(row int) string { return fmt.Sprintf("p%08d", row) }

// rowOf returns the row of a key.
func rowOf(slug string) (int, error) {
	if len(slug) == 0 || slug[0] != 'p' {
		return 0, fmt.Errorf("the key %q is not that of a row", slug)
	}
	return strconv.Atoi(slug[1:])
}

// writeNDJSON writes the rows [0, n) as the lines of a load.
func (s *space) writeNDJSON(to io.Writer, n int) error {
	w := bufio.NewWriterSize(to, 1<<20)
	v, line := make([]float32, s.dim), []byte(nil)
	for row := range n {
		s.fill(v, row)
		line = append(line[:0], `{"type":"Passage","data":{"slug":"`...)
		line = append(line, slug(row)...)
		line = append(line, `","part":`...)
		line = strconv.AppendInt(line, int64(partOf(row)), 10)
		line = append(line, `,"place":[`...)
		for i, x := range v {
			if i > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, float64(x), 'g', -1, 32)
		}
		line = append(line, "]}}\n"...)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}
