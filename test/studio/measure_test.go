package studio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/network"
	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// meter counts what the pages of a tab receive over the network.
type meter struct {
	b *tab

	mu       sync.Mutex
	received map[network.RequestID]*response // since the last call of reset; guarded by mu
	open     int                             // requests without an answer; guarded by mu
}

// response is an answer that a page received.
type response struct {
	path  string        // of the URL, with the query string
	bytes int64         // with the headers, as sent over the network
	sent  time.Time     // when the browser sent the request
	took  time.Duration // from the request to the last byte
	ended bool          // the answer is complete
}

// cost is what a page needed.
type cost struct {
	settled  time.Duration // from the start of the navigation to the last change of the page
	files    int64         // bytes of the files of the studio
	bytes    int64         // bytes of the answers about the graph
	requests int           // number of answers about the graph
	rows     int           // number of rows in those answers
	slowest  string        // path of the slowest answer
	longest  time.Duration // time of the slowest answer
	server   time.Duration // processor time of the server
	page     time.Duration // processor time of the page's main thread
}

// watchChanges keeps in window.changed the time of the last change of the page, in milliseconds since the
// start of the navigation.
const watchChanges = `window.changed = 0;
new MutationObserver(() => { window.changed = performance.now(); }).observe(document, {subtree: true, childList: true, characterData: true, attributes: true});`

// newMeter starts to count what a tab receives.
func newMeter(b *tab) *meter {
	b.t.Helper()
	m := &meter{b: b, received: map[network.RequestID]*response{}}
	chromedp.ListenTarget(b.ctx, func(event any) {
		m.mu.Lock()
		defer m.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			_, path, _ := strings.Cut(strings.TrimPrefix(e.Request.URL, "http://"), "/")
			m.received[e.RequestID] = &response{path: "/" + path, sent: e.Timestamp.Time()}
			m.open++
		case *network.EventLoadingFinished:
			m.ended(e.RequestID, e.Timestamp.Time(), int64(e.EncodedDataLength))
		case *network.EventLoadingFailed:
			m.ended(e.RequestID, e.Timestamp.Time(), 0)
		}
	})
	b.run(performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks), network.Enable().WithMaxTotalBufferSize(64<<20).WithMaxResourceBufferSize(16<<20), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdp.AddScriptToEvaluateOnNewDocument(watchChanges).Do(ctx)
		return err
	}))
	return m
}

// ended records the end of an answer. REQUIRES: m.mu is held.
func (m *meter) ended(id network.RequestID, at time.Time, bytes int64) {
	if r := m.received[id]; r != nil && !r.ended {
		r.ended, r.bytes, r.took = true, bytes, at.Sub(r.sent)
		m.open--
	}
}

// visit opens a page, waits until nothing loads and nothing changes any more, and returns its cost.
func (m *meter) visit(s *site, path string) cost {
	m.b.t.Helper()
	m.mu.Lock()
	m.received, m.open = map[network.RequestID]*response{}, 0
	m.mu.Unlock()
	serverBefore := s.processorTime()
	m.b.open(s, path)
	for quiet := 0; quiet < 20; time.Sleep(20 * time.Millisecond) { // some 400 ms without a request
		m.mu.Lock()
		if quiet++; m.open > 0 {
			quiet = 0
		}
		m.mu.Unlock()
	}
	m.b.settle()
	c := cost{server: s.processorTime() - serverBefore, page: m.processorTime(), settled: time.Duration(eval[float64](m.b, "window.changed") * float64(time.Millisecond))}
	m.mu.Lock()
	received := m.received
	m.mu.Unlock()
	for id, r := range received {
		if !strings.HasPrefix(r.path, "/graphs") {
			c.files += r.bytes
			continue
		}
		c.requests, c.bytes = c.requests+1, c.bytes+r.bytes
		c.rows += m.rows(id)
		if r.took > c.longest {
			c.longest, c.slowest = r.took, r.path
		}
	}
	return c
}

// processorTime returns the processor time that the page has used since the start of the navigation.
func (m *meter) processorTime() (d time.Duration) {
	m.b.t.Helper()
	m.b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		metrics, err := performance.GetMetrics().Do(ctx)
		for _, metric := range metrics {
			if metric.Name == "TaskDuration" {
				d = time.Duration(metric.Value * float64(time.Second))
			}
		}
		return err
	}))
	return d
}

// processorTime returns the processor time that the server has used. It is 0 where there is no /proc.
func (s *site) processorTime() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// The second field is the name of the program in brackets; fields 14 and 15 are in hundredths of a second.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// rows returns the number of rows in an answer. The types of the schema and the names of the branches do not
// count: the number of types does not depend on the size of the graph.
func (m *meter) rows(id network.RequestID) int {
	m.b.t.Helper()
	var body []byte
	m.b.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		body, err = network.GetResponseBody(id).Do(ctx)
		return err
	}))
	var answer struct {
		Graphs, Rows, Commits, Changes, Versions, Proposals, Queries, Decisions, Tools, Conflicts, Events []json.RawMessage
		Checks                                                                                            []struct{ Rows []json.RawMessage }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		m.b.t.Fatalf("%v: %.200s", err, body)
	}
	n := len(answer.Checks)
	for _, list := range [][]json.RawMessage{answer.Graphs, answer.Rows, answer.Commits, answer.Changes, answer.Versions, answer.Proposals, answer.Queries, answer.Decisions, answer.Tools, answer.Conflicts, answer.Events} {
		n += len(list)
	}
	for _, check := range answer.Checks {
		n += len(check.Rows)
	}
	return n
}

// shownRows is a JavaScript expression for the number of rows on a page: the rows of tables, the items of
// lists, and the one row of a node's properties.
const shownRows = `document.querySelectorAll("main tbody tr, main .versions > li, main .cards > li, main .checks > li, main .events > li, main .conflict, main > .properties").length`
