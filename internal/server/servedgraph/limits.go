package servedgraph

import (
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
)

// Limits bound the size of results for models, and the duration of calls.
type Limits struct {
	MaxRows  int  // default 5,000
	MaxBytes int  // length of a result's JSON up to its last row; default 60,000
	Refuse   bool // fail with a *wireerror.Oversize instead of truncating

	// AnswerBytes is the maximum size of an answer if the memory of the answer is counted; see
	// [Config.Memory]. The default is 1 GiB.
	AnswerBytes int64

	// LoadBytes is the maximum size of the data of a load that a client streams; 0 means no limit.
	LoadBytes int64

	// Timeout is the maximum duration of a call; the default is 30 seconds. It does not
	// apply to a load, which may take as long as the client needs to send it.
	Timeout time.Duration
}

// withDefaults replaces zero limits by the defaults.
func (l Limits) withDefaults() Limits {
	if l.MaxRows == 0 {
		l.MaxRows = 5000
	}
	if l.MaxBytes == 0 {
		l.MaxBytes = 60_000 // about 15,000 tokens, for which the model of a client has room
	}
	if l.AnswerBytes == 0 {
		l.AnswerBytes = 1 << 30
	}
	if l.Timeout == 0 {
		l.Timeout = 30 * time.Second
	}
	return l
}

// ForModel returns the encoding for answers to models: safe integers, commits as ids, rows
// as arrays unless the configuration wants objects, and the limits of the graph.
func (g *Graph) ForModel() encoding.Options {
	return encoding.Options{SafeIntegers: true, CommitIDs: true, Arrays: !g.objects, MaxRows: g.limits.MaxRows, MaxBytes: g.limits.MaxBytes, Refuse: g.limits.Refuse}
}

// LoadBytes returns the maximum size of the data of a load that a client streams; 0 means no limit.
func (g *Graph) LoadBytes() int64 { return g.limits.LoadBytes }
