package corpus_test

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
)

// runWalks runs the queries with alternatives and bound walks. Ada knows nova, nova knows bob and owns a sample, and bob
// knows ada and ann.
func runWalks(s *session) {
	at := engine.Target{}
	found[corpus.KnownSamplesRow](s, "known_samples", `{"wide":"18446744073709551614"}`)(
		corpus.KnownSamples(s.ctx, s.g, corpus.KnownSamplesParams{Slug: "bob"}, at))
	found[corpus.WaysRow](s, "ways", `{"hops":3,"nodes":["ada","nova","bob","ann"],"types":["Person","Person","Person","Person"]}`)(
		corpus.Ways(s.ctx, s.g, corpus.WaysParams{From: "ada", To: "ann"}, at))
	found[corpus.WaysRow](s, "ways", `{"hops":null,"nodes":null,"types":null}`)(
		corpus.Ways(s.ctx, s.g, corpus.WaysParams{From: "ann", To: "ada"}, at))
	found[corpus.SampleWaysRow](s, "sample_ways", strings.Join([]string{
		`{"slug":"nova","w.hops":1,"w.types":["Person","Sample"]}`, `{"slug":"ada","w.hops":2,"w.types":["Person","Person","Sample"]}`,
	}, "\n"))(corpus.SampleWays(s.ctx, s.g, corpus.SampleWaysParams{Most: 2}, at))
}
