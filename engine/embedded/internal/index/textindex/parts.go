package textindex

import "github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"

// Texts reads the texts of rows. Only one goroutine may use it.
type Texts interface {
	// Text returns the text of a row; ok is false if the text is null. The text is valid until the
	// next call.
	Text(row uint32) (text string, ok bool)
	// Size returns the length of the text of a row in bytes.
	Size(row uint32) int
}

// File writes the blocks of a segment.
type File interface {
	AddBlock(name string, data []byte) error
	// AddStream adds the block whose bytes the function `pieces` passes to `put`, one part after another.
	AddStream(name string, pieces func(put func(data []byte) error) error) error
}

// Parts says how InParts divides and stores an index.
type Parts struct {
	Open  func() Texts       // opens the texts for one goroutine
	Bytes int                // approximate number of bytes of text in a part
	Begin func(first uint32) // is called with the first ordinal of each part, before its texts are read
	// Store makes the segment of a part; `write` adds its blocks.
	Store func(write func(to File) error) (Part, error)
}

// BuildInParts is [Build] in bounded memory. It divides the texts into parts, and indexes and stores
// one part at a time. The view then reads each part from its segment. BuildInParts fails only if the context
// ends, or if Spend or p.Store fails.
func BuildInParts(w index.Work, next uint32, rows index.Rows, p Parts) (*View, error) {
	v := &View{rows: rows, next: next}
	texts := p.Open()
	for first := uint32(0); first < next; {
		p.Begin(first)
		end, bytes := first, 0
		for ; end < next && bytes < p.Bytes && end-first < partTexts; end++ {
			if end%index.CancelEvery == 0 && w.Ctx.Err() != nil {
				return nil, w.Ctx.Err()
			}
			if row := rows.Get(end); row != index.Dead {
				bytes += texts.Size(row)
			}
		}
		gathered, err := gather(w, int(end-first), func(from, to int, yield func(textDoc) bool) {
			rangeOf(w, first, rows, p.Open().Text)(from, to, yield)
		})
		if err != nil {
			return nil, err
		}
		if first = end; countDocs(gathered) == 0 {
			continue
		}
		stored, err := p.Store(func(to File) error { return new(textWriter).store(gathered, to) })
		if err != nil {
			return nil, err
		}
		x, _ := openText(stored.Name, stored.Source, next)
		v.docs, v.sum = v.docs+uint64(x.docs), v.sum+x.sum
		v.runs = append(v.runs, textRun{Text: x})
	}
	return v, nil
}

// countDocs returns the number of documents.
func countDocs(parts []*gathered) (n int) {
	for _, p := range parts {
		n += len(p.ords)
	}
	return n
}

// partTexts is the maximum number of texts in a part that InParts makes. Two parts with this number
// of texts are together too large for the method compact to merge.
const partTexts = 1 << 22
