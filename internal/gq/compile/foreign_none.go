//go:build noforeign

package compile

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// withOffer returns the faults as they are: the build leaves out the translation of other languages.
func (Options) withOffer(_ *work.Meter, _ *catalog.Schema, _ Source, faults diag.List) diag.List {
	return faults
}
