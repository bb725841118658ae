package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/inprocess"
)

// ExportBody is the body of an export.
type ExportBody struct {
	Branch    string   `json:"branch,omitempty" jsonschema_description:"The branch to export; the default is main."`
	Snapshot  string   `json:"snapshot,omitempty" jsonschema_description:"The commit to export, instead of a branch; or an instant, as in a query."`
	TypeNames []string `json:"type_names,omitempty" jsonschema_description:"The node and edge types to export; the default is all."`
}

// Stream is the body of an answer that the client reads while the server sends it. The caller must
// close it. A read fails if the server did not send the whole body.
type Stream struct {
	Commit string // the commit that the server reads
	// Size is the number of bytes of the body; -1 if the server does not say.
	Size int64
	body io.ReadCloser // the body of the response
	what string        // describes the stream in errors, such as "the export"
}

// Read implements [io.Reader].
func (s *Stream) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	var failed *inprocess.Error
	switch {
	case errors.As(err, &failed):
		err = failed.Err
	case err != nil && err != io.EOF:
		err = fmt.Errorf("%s ended early and is incomplete: %w", s.what, err)
	}
	return n, err
}

// Close implements [io.Closer].
func (s *Stream) Close() error { return s.body.Close() }

// Export exports the entities of one commit as NDJSON that [Graph.Load] takes: nodes, then edges.
func (g *Graph) Export(ctx context.Context, body ExportBody) (*Stream, error) {
	q, err := posting(g.path+"/export", body)
	if err != nil {
		return nil, err
	}
	q.repeats = true
	return g.stream(ctx, q, "the export")
}

// stream sends a request and returns its answer as a stream. The argument `what` describes the
// stream in errors.
func (g *Graph) stream(ctx context.Context, q *request, what string) (*Stream, error) {
	resp, err := g.c.open(ctx, q)
	if err != nil {
		return nil, err
	}
	s := &Stream{Commit: tagOf(resp.Header), Size: resp.ContentLength, body: resp.Body, what: what}
	switch {
	case s.Commit == "":
		err = errors.New("the answer does not name the commit that it shows; check that the URL is that of an omnigraph-server")
	case resp.ProtoMajor < 2 && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0:
		// Without an end marker, the client would take the end of the connection for the end of the
		// body. So if the connection broke, a part of the body would look like the whole.
		err = fmt.Errorf("a proxy between the client and the server, such as one with HTTP/1.0, removes the end marker of %s, so the client cannot detect a missing part; connect without the proxy", what)
	}
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	return s, nil
}

// tagOf returns the commit that was read, from the entity tag of an answer. After a ~ the tag says what the caller may see of it.
func tagOf(h http.Header) string {
	commit, _, _ := strings.Cut(strings.Trim(strings.TrimPrefix(h.Get("ETag"), "W/"), `"`), "~")
	return commit
}
