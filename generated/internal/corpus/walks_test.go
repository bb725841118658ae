package corpus_test

import (
	"errors"
	"reflect"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
)

// runWalks runs the queries with alternatives and bound walks. Ada knows nova, nova knows bob and owns a sample, and bob
// knows ada and ann.
func runWalks(s *session) {
	found[corpus.KnownSamplesRow](s, "known_samples", `{"wide":18446744073709551614}`)(
		corpus.KnownSamples(s.ctx, s.g, corpus.KnownSamplesParams{Slug: "bob"}))
	found[corpus.WaysRow](s, "ways", `{"hops":3,"nodes":["ada","nova","bob","ann"],"types":["Person","Person","Person","Person"]}`)(
		corpus.Ways(s.ctx, s.g, corpus.WaysParams{From: "ada", To: "ann"}))
	found[corpus.WaysRow](s, "ways", `{"hops":null,"nodes":null,"types":null}`)(
		corpus.Ways(s.ctx, s.g, corpus.WaysParams{From: "ann", To: "ada"}))
	found[corpus.SampleWaysRow](s, "sample_ways", strings.Join([]string{
		`{"slug":"nova","w.hops":1,"w.types":["Person","Sample"]}`, `{"slug":"ada","w.hops":2,"w.types":["Person","Person","Sample"]}`,
	}, "\n"))(corpus.SampleWays(s.ctx, s.g, corpus.SampleWaysParams{Most: 2}))

	one, err := corpus.WaysOne(s.ctx, s.g, corpus.WaysParams{From: "ada", To: "ann"})
	if rows, _ := corpus.Ways(s.ctx, s.g, corpus.WaysParams{From: "ada", To: "ann"}); err != nil || len(rows) != 1 || !reflect.DeepEqual(one, rows[0]) {
		s.t.Errorf("the only row is %+v, %v; the rows are %+v", one, err, rows)
	}
	var missing *engine.NotFound
	if none, err := corpus.WaysOne(s.ctx, s.g, corpus.WaysParams{From: "ada", To: "nobody"}); !errors.As(err, &missing) || missing.Name != "ways" || none.Hops != nil {
		s.t.Errorf("without a row, found %+v, %v", none, err)
	}
}
