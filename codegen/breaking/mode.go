package breaking

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/codegen"
)

// CompareMode returns the change, if there is one, from a tool for each exposed query to
// the pair of tools that finds and runs them, or back. was and is are the numbers of
// exposed queries from which on the pair serves them, and file is the one that sets them.
func CompareMode(before, after *codegen.Contract, was, is int, file string) []Change {
	old, now := exposed(before), exposed(after)
	if old == 0 || now == 0 || (old >= was) == (now >= is) {
		return nil // nobody calls a tool of none, and a tool that is gone is a change of its own
	}
	kind, message := ToolsPaired, "the number of exposed queries is %d, and from %d on stored_query_run runs them: they are tools no more"
	if now < is {
		kind, message = ToolsUnpaired, "the number of exposed queries is %d, and below %d each is a tool: stored_query_run does not run them any more"
	}
	return []Change{{Kind: kind, Breaking: kind.Breaking(), File: file, Message: fmt.Sprintf(message, now, is)}}
}

func exposed(c *codegen.Contract) int {
	n := 0
	for i := range c.Queries {
		if c.Queries[i].Exposed {
			n++
		}
	}
	return n
}
