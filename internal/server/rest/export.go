package rest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// export streams a graph as NDJSON while it reads the graph.
func (x *exchange) export() error {
	var b client.ExportBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	oneTarget(o)
	if err := o.Done(); err != nil {
		return err
	}
	out := &stream{w: x.w, control: http.NewResponseController(x.w)}
	_, err = x.do(&exportCall{operations.Look{
		At: engine.Target{Branch: b.Branch, Commit: b.Snapshot}, Action: tool.Export,
		Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
			out.commit = c.ID
			_, err := env.Graph.Export(ctx, out, engine.Target{Commit: c.ID}, engine.ExportOptions{Types: b.TypeNames})
			var bad *engine.BadArgument
			if errors.As(err, &bad) {
				return nil, &tool.ArgumentError{Path: "type_names", Detail: bad.Detail}
			}
			return nil, err
		},
	}}, encoding.Options{})
	switch {
	case err == nil:
		out.start() // for a graph without entities, nothing was written yet
		return nil
	case !out.started:
		return err
	}
	// The status is sent already, so only a broken connection can report the fault to the client.
	f := x.report(err)
	x.g.Logger().WarnContext(x.ctx(), "an export failed before its end", "reason", f.Body.Message)
	panic(http.ErrAbortHandler)
}

// exportCall is a call that may take as long as its client takes to read the answer.
type exportCall struct{ operations.Look }

// NoTimeLimit exempts the call from the time limit of requests.
func (*exportCall) NoTimeLimit() {}

// maxStall is how long a client may take to read one piece of a stream.
const maxStall = 2 * time.Minute

// stream is the body of an answer that is written while it is produced.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController // sets the write deadline
	commit  string                   // id of the commit that is exported
	started bool                     // the header was sent
}

// start sends the header of the answer.
func (s *stream) start() {
	if s.started {
		return
	}
	s.started = true
	h := s.w.Header()
	h.Set("Content-Type", mediaNDJSON)
	h.Set("ETag", entityTag(s.commit))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", cacheable)
	s.w.WriteHeader(http.StatusOK)
}

// Write sets a new write deadline for each piece, so that the number of pieces has no limit.
func (s *stream) Write(p []byte) (int, error) {
	s.start()
	if err := s.control.SetWriteDeadline(time.Now().Add(maxStall)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return s.w.Write(p)
}
