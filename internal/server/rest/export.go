package rest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// exportGraph sends a graph while it reads it: the whole graph as NDJSON, or one type as an Arrow
// stream.
func (x *exchange) exportGraph() error {
	var b client.ExportBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	oneTarget(o, b.Snapshot)
	if err := o.Done(); err != nil {
		return err
	}
	media := mediaNDJSON
	send := func(ctx context.Context, g engine.Graph, out *stream) error {
		_, err := g.Export(ctx, out, engine.Target{Commit: out.commit}, engine.ExportOptions{Types: b.TypeNames, StringIntegers: x.stringIntegers()})
		return err
	}
	if x.wantsArrow() {
		media = client.MediaArrow
		send = func(ctx context.Context, g engine.Graph, out *stream) error {
			return exportArrow(ctx, g, out, b.TypeNames)
		}
	}
	return x.export(exportRequest{branch: tool.BranchName(b.Branch), commit: b.Snapshot, media: media, send: send})
}

// exportRequest describes the answer to a request for all data of a commit.
type exportRequest struct {
	branch tool.BranchName // what is read: a branch, or a commit
	commit string
	media  string // media type of the answer

	// send writes the data at the commit of the stream.
	send func(ctx context.Context, g engine.Graph, out *stream) error
}

// export runs the call that needs the right to export, and sends the answer while the call reads the
// graph.
func (x *exchange) export(r exportRequest) error {
	out := x.stream(r.media)
	_, err := x.do(&exportCall{operations.Look{
		Branch: r.branch, Commit: r.commit, Action: tool.Export,
		Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
			out.commit, out.rights = c.ID, restricted.Digest(env.Graph)
			if branch := env.Branch(r.branch).Name(); r.branch != "" && branch != string(r.branch) {
				out.pin = branch
			}
			err := r.send(ctx, env.Graph, out)
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
	return x.broken(err)
}

// broken ends an answer that fails after its status was sent. The server can then report the
// failure only by breaking the connection, so broken panics unless the client is in this process.
func (x *exchange) broken(err error) error {
	if x.here() != nil {
		return err
	}
	f := x.report(err)
	x.g.Logger().WarnContext(x.ctx(), "an answer failed after a part of it was sent", "operation", x.route.Operation, "reason", f.Body.Message)
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
	media   string                   // media type of the answer
	commit  string                   // id of the commit that is read; empty if there are several
	rights  string                   // digest of the rights to a part of the graph with which it is read; empty for all of it
	pin     string                   // the branch that is read, if the request named it by an alias
	started bool                     // the header was sent
}

// stream returns the body of an answer of the given media type.
func (x *exchange) stream(media string) *stream {
	return &stream{w: x.w, control: http.NewResponseController(x.w), media: media}
}

// start sends the header of the answer.
func (s *stream) start() {
	if s.started {
		return
	}
	s.started = true
	h := s.w.Header()
	h.Set("Content-Type", s.media)
	if s.commit != "" {
		h.Set("ETag", entityTag(s.commit, s.rights))
	}
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
