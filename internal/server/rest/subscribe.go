package rest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	// heartbeat is how long a subscription sends nothing. Then it asks the policy again and sends a
	// comment, so that the client and proxies see that the connection is open.
	heartbeat = 15 * time.Second

	// maxEventBytes limits the values in an event. A subscriber that reads slowly keeps one event in
	// the memory of the server. An event always has at least one change.
	maxEventBytes = 256 << 10

	// maxEventID is the longest id of an event in bytes. An event within a commit has no id if its id
	// would be longer, because many proxies refuse long headers.
	maxEventID = 4 << 10
)

// The beginnings of the ids of events.
const (
	idOfCommit = "commit:" // a cursor follows
	idOfPage   = "page:"   // a page token follows
	idOfEvent  = "event:"  // a cursor of the feed of proposals follows
)

// IsSubscription reports whether a request wants the change feed, the feed of proposals or a watch as a stream of
// events. The stream goes on until the client or the server ends it, so a client that wants JSON as much
// gets a page.
func IsSubscription(r *http.Request) bool {
	graph, route, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/graphs/"), "/")
	if r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, "/graphs/") || graph == "" {
		return false
	}
	if watch, isWatch := strings.CutPrefix(route, "watches/"); route != "changes" && route != "proposals/events" && !(isWatch && strings.HasSuffix(watch, "/events")) {
		return false
	}
	events, other := qualities(r, mediaEvents)
	return events > other
}

// subscription is a stream of a feed as server-sent events.
type subscription struct {
	*exchange
	pages pager
	out   *stream
	sent  string // the cursor in the last event
}

// pager reads the pages of a feed for a subscription.
type pager interface {
	// event returns the name of the events with pages.
	event() string
	// read reads the next page and moves behind it.
	read() (feedPage, error)
	// await waits until there may be more after the last page.
	await(ctx context.Context) error
	// cursor returns the cursor from which a subscriber that has the last page can continue; it may be
	// empty.
	cursor() string
	// eventID returns the id of the event with the last page.
	eventID() string
}

// feedPage is a page of a feed.
type feedPage struct {
	answer   *encoding.Answer
	news     bool // the page is not empty
	caughtUp bool // nothing follows the page
}

// commitPages is the pager of the change feed.
type commitPages struct {
	*exchange
	at     operations.FeedRange // selects the next page
	branch tool.Branch          // the branch of the feed; known after the first page
	last   string               // the cursor after the last whole commit that was sent, or of the request; may be empty
}

// subscribe sends the change feed as a stream of events. Each page is a call of its own, so the policy
// decides about each page.
func (x *exchange) subscribe(r operations.FeedRange) error {
	if err := resumeAfter(&r, x.r.Header.Get(headerLastEvent)); err != nil {
		return err
	}
	if r.PageToken != "" {
		r.Cursor = "" // it may be much older than the token, so the end of the stream must not name it
	}
	if err := x.reachCursor(&r); err != nil {
		return err
	}
	r.Select.MaxBytes = maxEventBytes
	return x.sendPages(&commitPages{exchange: x, at: r, last: r.Cursor})
}

// sendPages sends the pages of a feed as a stream of events.
func (x *exchange) sendPages(pages pager) error {
	s := &subscription{exchange: x, pages: pages, out: x.stream(mediaEvents)}
	// The limit on the time for reading a request must not end the stream.
	if err := s.out.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	err := s.run()
	if err == nil || !s.out.started {
		return err
	}
	if s.ctx().Err() == nil {
		s.fault(err)
	} else if errors.Is(s.ctx().Err(), context.DeadlineExceeded) {
		s.end(client.FeedTimeout)
	}
	return nil
}

// resumeAfter makes the range continue after the event with the given id. If the id is empty, it does
// nothing.
func resumeAfter(r *operations.FeedRange, id string) error {
	if id == "" {
		return nil
	}
	commit, isCommit := strings.CutPrefix(id, idOfCommit)
	token, isPage := strings.CutPrefix(id, idOfPage)
	switch {
	case isCommit && commit != "":
		r.Cursor, r.PageToken = commit, ""
	case isPage && token != "":
		r.PageToken = token
	default:
		return errLastEvent
	}
	r.Latest = false
	return nil
}

// run sends pages until the stream ends. The error is the reason of a failure; it is nil if the stream
// ended in another way.
func (s *subscription) run() error {
	beat := false // nothing was sent for the time of a heartbeat
	for {
		if reason := s.over(); reason != "" && s.out.started {
			s.end(reason)
			return nil
		}
		page, err := s.pages.read()
		if err != nil {
			return err
		}
		cursor, first := s.pages.cursor(), !s.out.started
		switch {
		case page.news || !page.caughtUp || first || beat && cursor != s.sent:
			err = s.event(s.pages.event(), s.eventID(), append(page.answer.Head, page.answer.JSON)...)
			s.sent = cursor
		case beat:
			err = s.write([]byte(":\n\n"))
		}
		page.answer.Release()
		if err != nil {
			return nil // the client has gone away, or reads too slowly
		}
		if beat = false; page.caughtUp {
			if beat, err = s.wait(); err != nil {
				return err
			}
		}
	}
}

// over returns the reason to end the stream, or "" to go on.
func (s *subscription) over() string {
	switch {
	case s.opts.Stopping.Err() != nil:
		return client.FeedStopping
	case s.expired():
		return client.FeedTokenExpired
	}
	return ""
}

// expired reports whether the token of the subscriber has expired.
func (s *subscription) expired() bool {
	a := s.actor()
	return a != nil && !a.Expires.IsZero() && !s.opts.Now().Before(a.Expires)
}

// event implements pager.
func (p *commitPages) event() string { return client.FeedChanges }

// read implements pager.
func (p *commitPages) read() (feedPage, error) {
	call := operations.ReadFeed(p.at)
	read := call.Read
	var page *client.ChangeFeed
	call.Read = func(ctx context.Context, env *tool.Env, head engine.Commit) (any, error) {
		v, err := read(ctx, env, head)
		page, _ = v.(*client.ChangeFeed)
		p.branch = env.Branch(call.Branch)
		name := tool.BranchName(p.branch.Name())
		p.at.Pins = p.at.Pins || name != p.at.Branch && p.at.Branch != ""
		p.at.Branch = name // an alias means the same branch until the end of the stream
		return v, err
	}
	answer, err := p.do(call, encoding.Options{})
	if err != nil {
		return feedPage{}, err
	}
	p.at.PageToken = ""
	if page.NextPageToken != nil {
		p.at.PageToken = *page.NextPageToken
	}
	if page.Cursor != nil {
		p.last, p.at.Cursor, p.at.Latest = *page.Cursor, *page.Cursor, false
	}
	return feedPage{answer, len(page.Blocks) > 0, page.CaughtUp}, nil
}

// await implements pager.
func (p *commitPages) await(ctx context.Context) error {
	_, seen := encoding.SplitFeedCursor(p.last)
	err := p.g.AwaitCommit(ctx, p.branch, seen)
	return ended(err)
}

// ended returns nil for the error of a branch that is gone. The next read reports that if the policy still allows it.
func ended(err error) error {
	if errors.As(err, new(*engine.NotFound)) || errors.As(err, new(*engine.DraftClosed)) {
		return nil
	}
	return err
}

// cursor implements pager.
func (p *commitPages) cursor() string { return p.last }

// eventID implements pager.
func (p *commitPages) eventID() string {
	if p.at.PageToken != "" {
		return idOfPage + p.at.PageToken
	}
	return idOfCommit + p.last
}

// eventID returns the id of the event with the last page, or "" if it would be too long.
func (s *subscription) eventID() string {
	id := s.pages.eventID()
	if len(id) > maxEventID {
		return ""
	}
	return id
}

// wait waits until the feed has more, the stream must end, or it is time for a heartbeat.
func (s *subscription) wait() (beat bool, err error) {
	limit := heartbeat
	if a := s.actor(); a != nil && !a.Expires.IsZero() {
		limit = min(limit, max(a.Expires.Sub(s.opts.Now()), 0))
	}
	ctx, cancel := context.WithTimeout(s.ctx(), limit)
	defer cancel()
	defer context.AfterFunc(s.opts.Stopping, cancel)()
	err = s.pages.await(ctx)
	if err != nil && ctx.Err() != nil && s.ctx().Err() == nil {
		return true, nil
	}
	return false, err
}

// fault sends the error that ends the stream.
func (s *subscription) fault(err error) {
	if body, err := encoding.JSON(s.report(err).Body); err == nil {
		_ = s.event(client.FeedFault, "", body) // the stream ends in any case
	}
}

// end sends the reason why the stream ends, and the cursor from which a subscriber can continue.
func (s *subscription) end(reason string) {
	e := client.FeedEnd{Reason: reason}
	if cursor := s.pages.cursor(); cursor != "" {
		e.Cursor = &cursor
	}
	if body, err := encoding.JSON(e); err == nil {
		_ = s.event(client.FeedEnded, "", body) // the stream ends in any case
	}
}

// event sends an event. Its data is one line, because JSON has no line breaks.
func (s *subscription) event(name, id string, data ...[]byte) error {
	head := "event: " + name + "\n"
	if id != "" {
		head += "id: " + id + "\n"
	}
	if !s.out.started {
		s.w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
		head = "retry: 1000\n" + head
	}
	parts := append([][]byte{[]byte(head + "data: ")}, data...)
	return s.write(append(parts, []byte("\n\n"))...)
}

// write sends bytes at once.
func (s *subscription) write(parts ...[]byte) error {
	for _, p := range parts {
		if _, err := s.out.Write(p); err != nil {
			return err
		}
	}
	return s.out.control.Flush()
}
