package load

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
)

// embedTogether is the number of texts per call of the embedding function.
const embedTogether = 100

// Embedding computes vectors of texts for a property. The argument `prop` is the position of the
// property in the type; `line` is the line number of the first text.
type Embedding func(ctx context.Context, t *schema.Type, prop int, line int64, texts []string) ([][]float32, error)

// LeftOut returns the number of vectors that must be computed for the input.
func (in *Input) LeftOut() int {
	n := 0
	in.each(func(r *Rows) {
		for _, b := range r.batches {
			n += len(b.left)
			if b.file != nil {
				for _, missing := range b.file.missing {
					n += missing
				}
			}
		}
	})
	return n
}

// Embed computes the missing vectors of the input, in the order of its lines. The vectors of a
// spilled batch are in memory only until they are computed; then Embed writes them to a temporary
// file. It fails only if the function `embed` or the write of a file fails.
func (in *Input) Embed(ctx context.Context, embed Embedding) error {
	var err error
	in.each(func(r *Rows) {
		for prop, p := range r.Type.Props {
			if p.Embed == nil || err != nil {
				continue
			}
			source, _ := r.Type.Prop(p.Embed.Source)
			w := &waiting{embed: func(line int64, texts []string) ([][]float32, error) {
				return embed(ctx, r.Type, prop, line, texts)
			}}
			err = r.embed(prop, source, w, in.opts.Scratch)
		}
		for _, b := range r.batches {
			b.left = nil // so that a later spill does not list these rows as missing vectors
		}
	})
	return err
}

// embed computes the missing vectors of the property `prop` from the texts of the property
// `source`.
func (r *Rows) embed(prop, source int, w *waiting, scratch Scratch) error {
	for _, b := range r.batches {
		if b.file != nil {
			if err := b.embedSpilled(prop, source, w, scratch); err != nil {
				return err
			}
			continue
		}
		for _, l := range b.left {
			if l.prop != prop {
				continue
			}
			if err := w.add(b.props[source].Str(l.row), vectorPlace{b.props[prop], l.row, b.line(l.row)}); err != nil {
				return err
			}
		}
	}
	return w.flush()
}

// embedSpilled computes the missing vectors of one property of a spilled batch, and writes the
// property's column to a temporary file.
func (b *batch) embedSpilled(prop, source int, w *waiting, scratch Scratch) error {
	f := b.file
	n := f.missing[prop]
	if n == 0 {
		return nil
	}
	texts := f.open(f.rest, propColumn(source), b.typ.Props[source].Type)
	vectors := column.Gather([]*column.Builder{f.open(f.rest, propColumn(prop), b.typ.Props[prop].Type)}, nil)
	for _, row := range column.Read[uint32](f.perRow, f.name+missingColumn(prop), n) {
		if err := w.add(texts.Str(int(row)), vectorPlace{vectors, int(row), b.line(int(row))}); err != nil {
			return err
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	_, err := f.replace(prop, vectors, scratch)
	return err
}

// waiting holds the texts for the next call of the embedding function.
type waiting struct {
	embed func(line int64, texts []string) ([][]float32, error) // computes the vectors
	texts []string                                              // texts to embed
	at    []vectorPlace                                         // by text: where its vector goes
}

// vectorPlace is the destination of a vector.
type vectorPlace struct {
	column *column.Builder // column of the batch
	row    int             // position in the column
	line   int64           // of the input
}

// add adds a text. It calls the embedding function once there are enough texts.
func (w *waiting) add(text string, at vectorPlace) error {
	w.texts, w.at = append(w.texts, text), append(w.at, at)
	if len(w.texts) == embedTogether {
		return w.flush()
	}
	return nil
}

// flush computes the vectors of the texts and stores each vector at its destination.
func (w *waiting) flush() error {
	if len(w.texts) == 0 {
		return nil
	}
	vectors, err := w.embed(w.at[0].line, w.texts)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		w.at[i].column.SetVector(w.at[i].row, v)
	}
	w.texts, w.at = w.texts[:0], w.at[:0]
	return nil
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
