package exec

import "github.com/omnigraph-go/omnigraph/gq/value"

// Embeds reports whether a run of the program may need an embedding provider.
func (p *Program) Embeds() bool {
	for _, d := range p.Distances {
		if d.Operand.Type.Kind == value.String {
			return true
		}
	}
	return false
}
