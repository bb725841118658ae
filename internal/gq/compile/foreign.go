//go:build !noforeign

package compile

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/instead"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// offerIntro introduces the query in the help of an error, and severalIntro several of them.
const (
	offerIntro   = "nearest query: "
	severalIntro = "nearest queries: "
)

// withOffer adds a query to the help of the first error of a text with habits of another language.
// The query says what the text says, and it makes the faults of the syntax after that error superfluous.
// If there is no such query that compiles, withOffer adds what to use instead of the parts of the text
// that have no counterpart, or the fault of the type system that keeps the query from compiling.
func (o Options) withOffer(m *work.Meter, s *catalog.Schema, src Source, faults diag.List) diag.List {
	first := slices.IndexFunc(faults, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
	if first < 0 {
		return faults
	}
	var advice []string
	if help := faults[first].Help; help != "" {
		advice = append(advice, help)
	}
	offer, ok := foreign.Rewrite(s, src.Text)
	var lacks diag.List // the faults of the query
	if ok = ok && offer.Query != src.Text; ok {
		lacks = o.faultsOf(m, s, Source{Name: src.Name, Text: offer.Query}, 1)
	}
	intro := offerIntro
	if !ok || len(lacks) > 0 {
		if several, found := foreign.RewriteParts(s, src.Text); found && len(o.faultsOf(m, s, Source{Name: src.Name, Text: several.Query}, several.Count)) == 0 {
			offer, ok, lacks, intro = several, true, nil, severalIntro
		}
	}
	if ok && len(lacks) == 0 {
		advice = append(append(advice, offer.Notes...), intro+offer.Query)
		rest := slices.DeleteFunc(slices.Clone(faults[first+1:]), func(d diag.Diagnostic) bool { return d.Code[0] == 'P' })
		faults = append(faults[:first+1], rest...)
	} else {
		if instead.Elsewhere(src.Text) {
			advice = slices.DeleteFunc(advice, func(a string) bool { return strings.HasPrefix(a, syntax.FormIntro) })
		} else {
			advice = o.withFrame(m, s, src, faults[first], advice)
		}
		notes := instead.Notes(s, src.Text)
		if len(notes) == 0 && len(lacks) > 0 && faults[first].Code[0] == 'P' && slices.Contains(ownFaults, lacks[0].Code) {
			notes = append(notes, lacks[0].Message)
			if lacks[0].Help != "" {
				notes = append(notes, lacks[0].Help)
			}
		}
		for _, note := range notes {
			advice = slices.DeleteFunc(advice, func(a string) bool { return strings.HasPrefix(note, a) })
			advice = append(advice, note)
		}
	}
	faults[first].Help = strings.Join(advice, "; ")
	return faults
}

// withFrame adds a query over the types that the text names, and constructs for its words, to the help of the first of
// some faults. This query replaces the example in the help of a text that does not begin as a query. A text that begins as one
// gets it if that fault is one of the syntax.
func (o Options) withFrame(m *work.Meter, s *catalog.Schema, src Source, fault diag.Diagnostic, advice []string) []string {
	intro := "a query over these types: "
	more := "" // the help after its example
	switch {
	case len(advice) > 0 && strings.HasPrefix(advice[0], syntax.FormIntro):
		intro = syntax.FormIntro
		_, more, _ = strings.Cut(advice[0], "; ")
	case !strings.HasPrefix(strings.TrimSpace(src.Text), "query") || fault.Code[0] != 'P':
		return advice
	}
	frame := instead.Frame(s, src.Text)
	if frame == "" || len(o.faultsOf(m, s, Source{Name: src.Name, Text: frame}, 1)) > 0 {
		return advice
	}
	if intro == syntax.FormIntro {
		advice, intro = nil, "write it as a query; this example over its types is no translation: "
	}
	advice = append(advice, intro+frame)
	if more != "" {
		advice = append(advice, more)
	}
	return append(advice, instead.Constructs(src.Text)...)
}

// ownFaults are the faults of an offer that are faults of the text: they name its types and properties.
var ownFaults = []diag.Code{check.UnknownNode, check.UnknownInline, check.BadValue, check.UnknownEdge, check.WrongEndpoint, check.Unbound,
	check.UnknownTarget, check.UnknownAssigned, check.Missing}

// faultsOf returns the errors of a source, which has to be a number of queries.
func (o Options) faultsOf(m *work.Meter, s *catalog.Schema, src Source, number int) diag.List {
	queries, faults := o.compileQueries(m, s, []Source{src})
	faults = slices.DeleteFunc(faults, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	if len(faults) == 0 && len(queries) != number {
		return diag.List{{}}
	}
	return faults
}
