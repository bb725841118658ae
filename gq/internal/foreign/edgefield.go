package foreign

import (
	"strings"
)

// keyedType returns the node type of a field such as work_by_pk, findFirstWork or incidentByNumber, or "".
func (r *rewriter) keyedType(name string) string {
	name = plain(name)
	for _, suffix := range []string{"bypk", "byid", "collection", "list"} {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			if typ := r.pluralType(base); typ != "" {
				return typ
			}
		}
	}
	return r.typeByKey(name)
}
