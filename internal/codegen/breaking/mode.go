package breaking

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/internal/contract"
)

// CompareMode returns the change, if any, between serving one tool per exposed query and serving
// the two meta tools, which find and run queries. `was` and `is` are the earlier and the later
// threshold: if at least this many queries are exposed, the meta tools replace the others. `file`
// is the name of the file that sets the threshold.
func CompareMode(before, after *contract.Contract, was, is int, file string) []Change {
	old, now := exposed(before), exposed(after)
	if old == 0 || now == 0 || (old >= was) == (now >= is) {
		return nil // no queries, no callers; a removed tool is reported as its own change
	}
	kind, message := ToolsPaired, "the number of exposed queries is %d; from %d on, stored_query_run runs them, and they are no longer tools"
	if now < is {
		kind, message = ToolsUnpaired, "the number of exposed queries is %d; below %d, each query is a tool, and stored_query_run no longer runs them"
	}
	return []Change{{Kind: kind, Breaking: kind.Breaking(), File: file, Message: fmt.Sprintf(message, now, is)}}
}

// exposed returns the number of exposed queries.
func exposed(c *contract.Contract) int {
	n := 0
	for i := range c.Queries {
		if c.Queries[i].Exposed {
			n++
		}
	}
	return n
}
