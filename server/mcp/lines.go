package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/omnigraph-go/omnigraph/server/servedgraph"
)

// ServeLines serves the graph to one client, as the actor of the context. It reads one JSON-RPC
// message per line from in and writes one answer per line to out. When in ends, it finishes the
// answers in flight and returns. When the context ends, it cancels them and returns. ServeLines
// answers a line that is not a message with an error and goes on.
func ServeLines(ctx context.Context, g *servedgraph.Graph, opts Options, in io.Reader, out io.Writer) error {
	s := newSurface(g, opts)
	return serveLines(ctx, in, out, opts.MaxBody, func(ctx context.Context, version string, m *message) []byte {
		if !m.isCall() {
			return nil // the server ignores these notifications
		}
		reply, _ := s.answerCall(ctx, version, m, nil)
		return reply
	})
}

// exchange answers a message; it returns nil if the message needs no answer. The version is the
// session's, or that of the message itself if it carries a valid one.
type exchange func(ctx context.Context, version string, m *message) []byte

// maxUnderWay is the limit of in-flight calls of one client. At the limit the session stops
// reading further lines.
const maxUnderWay = 64

// lineSession is the session of one client that sends lines.
type lineSession struct {
	exchange exchange
	version  string // agreed by initialize; used by the reading loop only

	mu       sync.Mutex
	out      io.Writer
	failed   error                         // the first error of a write; guarded by mu
	underWay map[string]context.CancelFunc // cancels of the in-flight calls by id; guarded by mu

	slots chan struct{}
	calls sync.WaitGroup
}

func serveLines(ctx context.Context, in io.Reader, out io.Writer, maxLine int64, e exchange) error {
	if maxLine == 0 {
		maxLine = defaultMaxBody
	}
	s := &lineSession{
		exchange: e, version: assumedVersion, out: out,
		underWay: map[string]context.CancelFunc{}, slots: make(chan struct{}, maxUnderWay),
	}
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
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
			s.calls.Wait()
			if err := s.writeError(); err != nil || errors.Is(l.err, io.EOF) {
				return err
			}
			return l.err
		case <-outer.Done():
			// The reading goroutine may wait for its client for ever. Closing in ends the read, if
			// in can be closed.
			if c, ok := in.(io.Closer); ok {
				_ = c.Close()
			}
			s.calls.Wait()
			return outer.Err()
		}
	}
}

// line is one line that was read, or the end of the input.
type line struct {
	text    []byte
	tooLong bool
	err     error // why reading ended; io.EOF if without an error
}

// readLines sends the lines of in to read until in or the context ends.
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

// take processes one line. It answers calls in goroutines of their own, except initialize,
// which is complete when take returns, because the next lines depend on its version.
func (s *lineSession) take(ctx context.Context, l line, maxLine int64) {
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
		s.write(appendError(nil, nil, badRequest("found a batch, which protocol version "+s.version+" does not have; send the messages one by one").fault))
		return
	}
	for i := range msgs {
		if msgs[i].method == "notifications/cancelled" {
			s.stop(msgs[i].params)
		}
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
	s.slots <- struct{}{}
	s.calls.Go(func() {
		defer func() { <-s.slots }()
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
	ctx     context.Context
	version string
	refusal *jsonrpc.Error // the answer, if set
	taken   bool           // whether begin has put the id into underWay
}

// begin registers a message as in flight, if it is a call that may run.
func (s *lineSession) begin(ctx context.Context, m *message) call {
	c := call{message: m, ctx: ctx, version: s.version}
	if !m.isCall() || m.response {
		return c
	}
	if meta := metaOf(m); meta.version >= statelessVersion {
		c.version = meta.version
		if !supported(c.version, m.method) {
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
	if _, found := s.underWay[id]; found {
		c.refusal = &jsonrpc.Error{Code: codeInvalidRequest, Message: "a call with the id " + id + " is under way; choose another"}
		return c
	}
	c.ctx, s.underWay[id] = context.WithCancel(ctx)
	c.taken = true
	return c
}

// answer answers a message. It returns nil if the message needs no answer or the client has
// cancelled the call.
func (s *lineSession) answer(c call) []byte {
	switch {
	case c.response:
		return nil
	case c.refusal != nil:
		return appendError(nil, c.id, c.refusal)
	}
	reply := s.exchange(c.ctx, c.version, c.message)
	if !c.taken {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel, wanted := s.underWay[string(c.id)]
	if !wanted {
		return nil
	}
	delete(s.underWay, string(c.id))
	cancel()
	return reply
}

// stop cancels the call that a notification names, if that call is in flight.
func (s *lineSession) stop(params []byte) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel, ok := s.underWay[string(p.RequestID)]; ok {
		delete(s.underWay, string(p.RequestID))
		cancel()
	}
}

// agree takes the protocol version from the answer to initialize.
func (s *lineSession) agree(reply []byte) {
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
func (s *lineSession) write(reply []byte) {
	if reply == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		_, s.failed = s.out.Write(append(reply, '\n'))
	}
}

func (s *lineSession) writeError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}
