package load

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// embedTogether is the number of texts per call of the embedding function.
const embedTogether = 100

// Embedding computes vectors of texts for a property. The argument `prop` is the position of the
// property in the type; `line` is the line number of the first text.
type Embedding func(ctx context.Context, t *version.Type, prop int, line int64, texts []string) ([][]float32, error)

// LeftOut returns the number of vectors that must be computed for the input.
func (in *Input) LeftOut() int {
	n := 0
	in.each(func(r *Rows) {
		for _, b := range r.batches {
			n += len(b.left)
		}
	})
	return n
}

// Embed computes the missing vectors of the input, in the order of its lines. The error is that of
// the function `embed`.
func (in *Input) Embed(ctx context.Context, embed Embedding) error {
	var err error
	in.each(func(r *Rows) {
		for prop, p := range r.Type.Props {
			if p.Embed == nil || err != nil {
				continue
			}
			source, _ := r.Type.Prop(p.Embed.Source)
			var texts []string
			var at []vectorPlace
			flush := func() {
				if err != nil || len(texts) == 0 {
					return
				}
				var vectors [][]float32
				if vectors, err = embed(ctx, r.Type, prop, int64(at[0].line(at[0].row)), texts); err == nil {
					for i, v := range vectors {
						at[i].props[prop].SetVector(at[i].row, v)
					}
				}
				texts, at = texts[:0], at[:0]
			}
			for _, b := range r.batches {
				for _, l := range b.left {
					if l.prop != prop {
						continue
					}
					texts, at = append(texts, b.props[source].Str(l.row)), append(at, vectorPlace{b, l.row})
					if len(texts) == embedTogether {
						flush()
					}
				}
			}
			flush()
		}
	})
	return err
}

// vectorPlace is the destination of a vector.
type vectorPlace struct {
	*batch
	row int // position in the batch
}

// each calls f with the rows of each type in the input, nodes first.
func (in *Input) each(f func(r *Rows)) {
	for _, list := range [][]*Rows{in.Nodes, in.Edges} {
		for _, r := range list {
			if r != nil {
				f(r)
			}
		}
	}
}
