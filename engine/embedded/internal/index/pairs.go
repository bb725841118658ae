package index

import "github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"

// Pairs are pairs of numbers in a temporary file. They are divided into parts. Within a part, they
// stay in the order in which they were put.
type Pairs struct {
	pile  *pile
	src   column.Source // the temporary file
	count []int         // by part: the number of pairs
}

// SpillPairs calls `fill`, which passes each pair with the number of its part to `put`. It writes the
// pairs to a temporary file. Each part needs a buffer of some kilobytes in the meantime.
func SpillPairs(parts int, scratch Scratch, fill func(put func(part int, a, b uint32) error) error) (*Pairs, error) {
	p := &Pairs{count: make([]int, parts)}
	var err error
	p.src, err = scratch(func(add func(string, []byte) error) error {
		p.pile = newPile("p", parts, add)
		err := fill(func(part int, a, b uint32) error {
			p.count[part]++
			return p.pile.put(part, a, b)
		})
		if err != nil {
			return err
		}
		return p.pile.finish()
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Len returns the number of pairs in a part.
func (p *Pairs) Len(part int) int { return p.count[part] }

// Each calls f with each pair of a part, in order.
func (p *Pairs) Each(part int, f func(a, b uint32)) error {
	return p.pile.each(p.src, part, func(numbers []uint32) error {
		for i := 0; i < len(numbers); i += 2 {
			f(numbers[i], numbers[i+1])
		}
		return nil
	})
}
