package rest

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// blob answers with the bytes of a Blob, or with a range of them.
func (x *exchange) blob() error {
	p := operations.BlobPlace{
		Entity: plan.Node, Type: x.query.Get("type"), ID: x.query.Get("id"), Property: x.query.Get("property"),
	}
	if x.query.Get("entity") == plan.Edge.String() {
		p.Entity = plan.Edge
	}
	var content []byte
	answer, err := x.do(&operations.Look{Branch: x.branch(), Commit: x.snapshotted(), Entities: []string{p.ID}, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (_ any, err error) {
		content, err = p.Read(ctx, env.Graph, engine.Target{Commit: c.ID})
		return nil, err
	}}, encoding.Options{})
	if err != nil {
		return err
	}
	h := x.w.Header()
	h.Set("ETag", entityTag(answer.Commit, answer.Rights))
	h.Set("Cache-Control", cacheable)
	// Browsers must never display the bytes: otherwise a user who stores a blob could run scripts
	// in the browser of another user who opens it.
	h.Set("Content-Type", mediaBytes)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": p.Property}))
	// http.ServeContent reads one line of the header only.
	if lines := x.r.Header.Values(headerIfMatch); len(lines) > 1 {
		x.r.Header.Set(headerIfMatch, strings.Join(lines, ", "))
	}
	w := &ranged{ResponseWriter: x.w}
	http.ServeContent(w, x.r, "", time.Time{}, bytes.NewReader(content))
	if w.refused != 0 {
		if w.refused == http.StatusRequestedRangeNotSatisfiable {
			// Set the header for malformed ranges, too.
			h.Set("Content-Range", "bytes */"+strconv.Itoa(len(content)))
		}
		h.Del("Content-Disposition")
		h.Del("Content-Security-Policy")
		h.Del("ETag")
		h.Del("Content-Length")
		outcome, code, message := wireerror.OutsideRange, client.CodeBadRequest, "header Range: no requested byte is within the "+h.Get("Content-Range")
		if w.refused == http.StatusPreconditionFailed {
			outcome, code, message = wireerror.Precondition, "", "header If-Match: the blob is at commit "+answer.Commit+", which the header does not name; read the blob again, or leave the header out"
		}
		fault := envelope.New(outcome, code, message)
		if outcome == wireerror.Precondition {
			fault.Body.Precondition = &client.Precondition{Expected: short(strings.Trim(x.r.Header.Get(headerIfMatch), `"`)), Actual: &answer.Commit}
		}
		return &httpError{fault}
	}
	return nil
}

// ranged catches the errors of http.ServeContent, so that blob can answer them with the error
// envelope.
type ranged struct {
	http.ResponseWriter
	refused int // the status of the error; 0 for none
}

// WriteHeader implements http.ResponseWriter.
func (w *ranged) WriteHeader(status int) {
	if status >= 400 {
		w.refused = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write passes the bytes on, but drops them if the answer was refused.
func (w *ranged) Write(p []byte) (int, error) {
	if w.refused != 0 {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}
