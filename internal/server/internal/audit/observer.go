package audit

import (
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Observer is notified of each call that ended. Implementations must be safe for concurrent
// use and must not block.
type Observer interface {
	Called(c Called)
}

// Called describes a call that ended. Its strings come from bounded sets, apart from the actor; clients choose
// none of them.
type Called struct {
	Graph   string            // id of the graph
	Actor   string            // who made the call, without its agents
	Tool    string            // tool of the catalog or REST operation; empty for an unknown tool
	Outcome wireerror.Outcome // how the call ended
	Denied  tool.Action       // the action that the policy denied; empty if it denied none
	Rows    int               // number of rows in the answer
	Bytes   int               // size of the answer
	Took    time.Duration     // time of the call
}
