package main

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// lost is the status of a call if the connection broke before the answer arrived.
const lost = 0

// explained lists the statuses that each operation may return while the server runs. Any other
// status is a failure, except 429, which is allowed for all: the clients may send more requests
// than the server accepts at a time.
var explained = map[string][]int{
	"read, stored":         {200},
	"read, ad hoc":         {200},
	"read over MCP":        {200},
	"list":                 {200},
	"list over MCP":        {200},
	"insert":               {200},
	"update":               {200},
	"update over MCP":      {200},
	"delete":               {200},
	"update, shared":       {200},
	"update, if unchanged": {200, 412}, // another client was faster
	"load":                 {200},
	"load over MCP":        {200},
	"load, append twice":   {409}, // the notes exist already
	"bad query":            {400},
	"unknown query":        {404},
	"denied":               {403},
	"denied over MCP":      {400, 404}, // a denied tool is unknown to the actor; the status depends on the protocol version
	"branch load":          {200},
	"branch update":        {200},
	"branch read":          {200},

	"branch create":                 {200},
	"branch create over MCP":        {200},
	"branch merge":                  {200},
	"branch merge over MCP":         {200},
	"branch merge, shared":          {200, 409}, // the text on main has changed
	"branch merge, shared over MCP": {200, 409},
	"branch delete":                 {200},
	"branch delete over MCP":        {200},
}

// draining lists the additional statuses that any call may return after the server got SIGTERM.
var draining = []int{lost, http.StatusServiceUnavailable}

// book counts the answers of each operation. It is safe for concurrent use.
type book struct {
	stopping atomic.Bool // the server was told to stop, so lost connections are expected

	mu       sync.Mutex
	pages    map[string]*page // by the name of the operation
	failures []string         // the first failures, in full
	failed   int              // number of all failures
}

// page holds the statuses and times of one operation.
type page struct {
	statuses map[int]int     // number of answers by status
	took     []time.Duration // time of each call
}

const maxFailures = 20 // number of failures kept in full

// newBook returns an empty book.
func newBook() *book { return &book{pages: map[string]*page{}} }

// stop records that the server is about to get SIGTERM.
func (b *book) stop() { b.stopping.Store(true) }

// outcome is the result of one call.
type outcome struct {
	operation, request string        // the kind of call, and the call itself
	status             int           // HTTP status; for a tool, the one that REST would use
	body               []byte        // body of the answer
	err                error         // error of the call
	took               time.Duration // time of the call
}

// ok reports whether the call succeeded.
func (o *outcome) ok() bool { return o.status == http.StatusOK }

// unsure reports whether the call may have taken effect although it did not succeed: its answer was
// lost, or it has a 5xx status.
func (o *outcome) unsure() bool { return o.status == lost || o.status >= 500 }

// enter counts an outcome. It records a failure if the status is not one of the explained ones.
func (b *book) enter(o outcome) {
	stopping := b.stopping.Load()
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pages[o.operation]
	if p == nil {
		p = &page{statuses: map[int]int{}}
		b.pages[o.operation] = p
	}
	p.statuses[o.status]++
	p.took = append(p.took, o.took)
	statuses, known := explained[o.operation]
	if known && (slices.Contains(statuses, o.status) || o.status == http.StatusTooManyRequests || stopping && slices.Contains(draining, o.status)) {
		return
	}
	b.failed++
	if len(b.failures) < maxFailures {
		b.failures = append(b.failures, fmt.Sprintf("%s: answered %d, wanted %v: %.600s\n  %.600s %v", o.operation, o.status, statuses, o.request, o.body, errText(o.err)))
	}
}

// complain records a failure that the HTTP status of the answer does not show.
func (b *book) complain(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed++
	if len(b.failures) < maxFailures {
		b.failures = append(b.failures, fmt.Sprintf(format, args...))
	}
}

// errText returns the text of an error, or "" for nil.
func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
