package membership

import (
	"sync"
	"unique"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
)

// known has the sets of texts that were parsed before. A graph has few different ones: they differ by source and by the
// properties that the lines of one source have.
var known struct {
	sync.RWMutex
	sets map[string]*Set
}

// maxKnown is the number of sets at which `known` starts anew.
const maxKnown = 1 << 12

// Stored returns the set of a text that a row has. It throws a fault if the text is not valid; see package corruption.
func Stored(text string) *Set {
	known.RLock()
	s := known.sets[text]
	known.RUnlock()
	if s != nil {
		return s
	}
	text = Shared(text) // the set refers to it, and the row may be in a file that is unmapped later
	s, err := Parse(text)
	if err != nil {
		corruption.Corrupt("a row", "the sources of an entity: %v", err)
	}
	known.Lock()
	defer known.Unlock()
	if len(known.sets) >= maxKnown || known.sets == nil {
		known.sets = map[string]*Set{}
	}
	known.sets[text] = s
	return s
}

// Shared returns a copy of a text that all rows with the text share.
func Shared(text string) string { return unique.Make(text).Value() }
