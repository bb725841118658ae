package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// TypeID returns the id of a type of the schema. It derives the id from the schema in which the
// type first occurred, and from the position of the type there, so that the id needs no storage:
// the carries from the ancestors lead through every rename and reordering. Two branches that reach
// the same schema from the same ancestors give a type the same id.
func (s *Schema) TypeID(t *Type) string {
	digest, index, ancestor := s.Digest, t.Index, -1
	for i, a := range s.Ancestors {
		from := a.Carry.Of(t).From
		if from < 0 {
			break // earlier ancestors lack the type too, or have a dropped type of its name
		}
		digest, index, ancestor = a.Digest, from, i
	}
	// A schema that was put back in force has the same digest as the first time, although the type
	// may have been dropped in between. The number of earlier times that the digest occurs tells
	// the two types apart.
	times := 0
	for _, a := range s.Ancestors[ancestor+1:] {
		if a.Digest == digest {
			times++
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s %d", digest, times, t.Entity, index))
	return hex.EncodeToString(sum[:8])
}

// Of returns the part of the carry that concerns one type of the descendant.
func (c *Carry) Of(t *Type) TypeCarry {
	if t.Entity == plan.Edge {
		return c.Edges[t.Index]
	}
	return c.Nodes[t.Index]
}
