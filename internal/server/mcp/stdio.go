package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"golang.org/x/sync/semaphore"

	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

// ServeStdio serves the graph to one client, as the actor of the context. It reads one JSON-RPC
// message per line from the reader `in` and writes one answer per line to the writer `out`. When
// the input ends, it finishes the calls in flight and returns. When the context ends, it cancels
// the calls in flight and returns. If a line is not a message, ServeStdio answers it with an error
// and goes on.
func ServeStdio(ctx context.Context, g *servedgraph.Graph, opts Options, in io.Reader, out io.Writer) error {
	s := newSurface(g, opts)
	return serveStdio(ctx, in, out, opts.MaxBody, func(ctx context.Context, version string, m *message, up *upward) []byte {
		switch {
		case !m.isCall():
			return nil // the server ignores these notifications
		case m.method == listenMethod && version >= statelessVersion:
			if fault := s.listen(ctx, up.ending, m, lineStream(up.send)); fault != nil {
				return appendError(nil, m.id, fault)
			}
			return nil
		}
		reply, _, _ := s.answerCall(ctx, version, m, nil)
		return reply
	})
}

// responder answers a message. It returns nil if the message needs no answer, or if it has sent the
// answer with `up`. The argument `version` is the protocol version of the session. If the message
// contains a valid version itself, it is that version instead.
type responder func(ctx context.Context, version string, m *message, up *upward) []byte

// upward is what a stream of notifications needs of the session.
type upward struct {
	send   func(message []byte) // writes a line to the client
	ending context.Context      // ends when the input has ended, so that the streams end too
}

// The limits of one client. The session reads on while calls run and wait, because the next line
// may cancel one of them. It stops reading at maxUnanswered.
const (
	maxRunning    = 64       // lines that are answered at the same time; others wait
	maxListening  = 8        // streams that are open at the same time; further ones are refused
	maxUnanswered = 64 << 20 // bytes of the lines that run or wait, with lineOverhead for each
	lineOverhead  = 16 << 10 // bytes: the goroutine and the registration of a line
)

// stdioSession is the session of one client over stdio.
type stdioSession struct {
	respond responder // answers one message
	version string    // agreed by initialize; used by the reading loop only
	apps    bool      // initialize declared apps; used by the reading loop only

	mu       sync.Mutex               // held while a line is written to out
	out      io.Writer                // receives the answers
	failed   error                    // the first error of a write; guarded by mu
	inFlight map[string]*registration // the calls in flight by id; guarded by mu

	up         *upward
	listening  chan struct{}       // holds an element for each open stream
	unanswered *semaphore.Weighted // bytes, at most maxUnanswered
	running    chan struct{}       // holds an element for each line that is being answered
	lines      sync.WaitGroup      // the lines that run or wait
}

// registration registers a call in flight, so that the client can cancel it. After a cancellation
// the client may use the id again, while the cancelled call is still stopping. So the end of a call
// must compare the registration and not the id.
type registration struct{ cancel context.CancelFunc }

// serveStdio reads lines from the reader `in` and writes the answers to the writer `out`, until the
// input ends.
func serveStdio(ctx context.Context, in io.Reader, out io.Writer, maxLine int64, respond responder) error {
	if maxLine == 0 {
		maxLine = defaultMaxBody
	}
	s := &stdioSession{
		respond: respond, version: assumedVersion, out: out, inFlight: map[string]*registration{},
		unanswered: semaphore.NewWeighted(maxUnanswered), running: make(chan struct{}, maxRunning),
		listening: make(chan struct{}, maxListening),
	}
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ending, end := context.WithCancel(ctx)
	defer end()
	s.up = &upward{send: s.write, ending: ending}
	read := make(chan line)
	go readLines(ctx, in, maxLine, read)
	for {
		select {
		case l := <-read:
			if l.text != nil || l.tooLong {
				s.take(ctx, l, maxLine)
			}
			if l.err == nil && s.writeError() == nil {
				continue
			}
			if l.err == nil {
				cancel()
			}
			end()
			s.lines.Wait()
			if err := s.writeError(); err != nil || errors.Is(l.err, io.EOF) {
				return err
			}
			return l.err
		case <-outer.Done():
			// The reading goroutine may wait for its client for ever. Closing the reader `in` ends
			// the read, if that reader can be closed.
			if c, ok := in.(io.Closer); ok {
				_ = c.Close()
			}
			s.lines.Wait()
			return outer.Err()
		}
	}
}

// line is one line that was read, or the end of the input.
type line struct {
	text    []byte // without the line break
	tooLong bool   // the line exceeds the limit, and text is incomplete
	err     error  // why reading ended; io.EOF if there was no error
}

// readLines sends the lines of the reader `in` to the channel `read`, until the input or the
// context ends.
func readLines(ctx context.Context, in io.Reader, maxLine int64, read chan<- line) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		var l line
		for {
			part, err := r.ReadSlice('\n')
			if int64(len(l.text)+len(part)) > maxLine+1 {
				l.tooLong, l.text = true, nil
			}
			if !l.tooLong {
				l.text = append(l.text, part...)
			}
			if err == bufio.ErrBufferFull {
				continue
			}
			l.err = err
			break
		}
		if l.text = bytes.TrimSpace(l.text); len(l.text) == 0 {
			l.text = nil
		}
		select {
		case read <- l:
		case <-ctx.Done():
			return
		}
		if l.err != nil {
			return
		}
	}
}

// take processes one line. It answers the line in a separate goroutine. Only initialize is complete
// when take returns, because the next lines depend on the agreed protocol version.
func (s *stdioSession) take(ctx context.Context, l line, maxLine int64) {
	if l.tooLong {
		s.write(appendError(nil, nil, tooLarge(maxLine).fault))
		return
	}
	msgs, batch, err := readMessages(l.text)
	if err != nil {
		var bad *badMessage
		errors.As(err, &bad)
		s.write(appendError(nil, bad.id, &jsonrpc.Error{Code: bad.code, Message: bad.detail}))
		return
	}
	if batch && s.version >= unbatchedVersion {
		s.write(appendError(nil, nil, badRequest("found a batch, which protocol version "+s.version+" does not allow; send the messages one by one").fault))
		return
	}
	for i := range msgs {
		if msgs[i].method == "notifications/cancelled" {
			s.stop(msgs[i].params)
		}
	}
	if !batch && msgs[0].method == "initialize" {
		s.apps = declaresApps(&msgs[0])
	}
	if s.apps {
		ctx = withApps(ctx)
	}
	// Register the calls before the next line is read, because that line may cancel them.
	pending := make([]call, len(msgs))
	for i := range msgs {
		pending[i] = s.begin(ctx, &msgs[i])
	}
	if !batch && msgs[0].method == "initialize" {
		reply := s.answer(pending[0])
		s.agree(reply)
		s.write(reply)
		return
	}
	weight := min(int64(len(l.text))+lineOverhead, maxUnanswered)
	if s.unanswered.Acquire(ctx, weight) != nil {
		return // the session ends
	}
	s.lines.Go(func() {
		defer s.unanswered.Release(weight)
		given := ctx // the end of this context ends the wait
		if !batch {
			given = pending[0].ctx
		}
		select {
		case s.running <- struct{}{}:
			defer func() { <-s.running }()
		case <-given.Done():
			return // the client has cancelled the call, or the session ends
		}
		if given.Err() != nil {
			return // both cases were ready, and the select took the slot
		}
		var replies [][]byte
		for _, c := range pending {
			if reply := s.answer(c); reply != nil {
				replies = append(replies, reply)
			}
		}
		switch {
		case len(replies) == 0:
		case batch:
			s.write(append(append([]byte{'['}, bytes.Join(replies, []byte{','})...), ']'))
		default:
			s.write(replies[0])
		}
	})
}

// call is a message to answer.
type call struct {
	*message
	ctx           context.Context // ends if the client cancels the call
	version       string          // protocol version of the session
	refusal       *jsonrpc.Error  // if set, the call is refused with this error
	*registration                 // nil for a message that is not a call, and for a refused one
}

// begin registers a message as in flight, if it is a call that may run.
func (s *stdioSession) begin(ctx context.Context, m *message) call {
	c := call{message: m, ctx: ctx, version: s.version}
	if !m.isCall() || m.response {
		return c
	}
	if meta := metaOf(m); meta.version >= statelessVersion {
		c.version = meta.version
		if !supported(c.version) {
			c.refusal = unsupportedVersion(c.version)
		} else {
			c.refusal = checkMeta(m, c.version)
		}
	}
	if c.refusal != nil {
		return c
	}
	id := string(m.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.inFlight[id]; found {
		c.refusal = &jsonrpc.Error{Code: codeInvalidRequest, Message: "a call with the id " + id + " is in flight; choose another id"}
		return c
	}
	c.registration = new(registration)
	c.ctx, c.cancel = context.WithCancel(ctx)
	s.inFlight[id] = c.registration
	return c
}

// answer answers a message. It returns nil if the message needs no answer or the client has
// cancelled the call.
func (s *stdioSession) answer(c call) []byte {
	switch {
	case c.response:
		return nil
	case c.refusal != nil:
		return appendError(nil, c.id, c.refusal)
	}
	if c.method == listenMethod {
		select {
		case s.listening <- struct{}{}:
			defer func() { <-s.listening }()
		default:
			return s.done(c, appendError(nil, c.id, &jsonrpc.Error{Code: codeInvalidRequest,
				Message: fmt.Sprintf("%d streams are open, which is the limit; cancel one of them first", maxListening)}))
		}
	}
	return s.done(c, s.respond(c.ctx, c.version, c.message, s.up))
}

// done takes a message out of the calls in flight and returns its reply, or nil if the client has
// cancelled the call.
func (s *stdioSession) done(c call, reply []byte) []byte {
	if c.registration == nil {
		return nil
	}
	c.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	id := string(c.id)
	if s.inFlight[id] != c.registration {
		return nil
	}
	delete(s.inFlight, id)
	return reply
}

// stop cancels the call that a notification refers to, if that call is in flight.
func (s *stdioSession) stop(params []byte) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.inFlight[string(p.RequestID)]; r != nil {
		delete(s.inFlight, string(p.RequestID))
		r.cancel()
	}
}

// agree takes the protocol version from the answer to initialize.
func (s *stdioSession) agree(reply []byte) {
	var answer struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(reply, &answer) == nil && answer.Result.ProtocolVersion != "" {
		s.version = answer.Result.ProtocolVersion
	}
}

// write writes one answer, whole and on its own line.
func (s *stdioSession) write(reply []byte) {
	if reply == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		_, s.failed = s.out.Write(append(reply, '\n'))
	}
}

// writeError returns the first error of a write to the client, or nil.
func (s *stdioSession) writeError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}
