package rest

import (
	"context"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/parquet"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
)

// wantsArrow reports whether the client accepts an Arrow stream, and does not prefer JSON or NDJSON
// to it.
func (x *exchange) wantsArrow() bool {
	columns, other := qualities(x.r, client.MediaArrow)
	return columns > 0 && columns >= other
}

// qualities returns how much the client wants a media type, and how much it wants JSON or NDJSON: the
// highest q of each in the Accept headers. 0 means that the headers do not list the media type.
func qualities(r *http.Request, wanted string) (accepted, other float64) {
	for _, line := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(line, ",") {
			media, params, err := mime.ParseMediaType(item)
			if err != nil {
				continue
			}
			q := 1.0
			if text, ok := params["q"]; ok {
				if q, err = strconv.ParseFloat(text, 64); err != nil {
					continue
				}
			}
			switch media {
			case wanted:
				accepted = max(accepted, q)
			case mediaJSON, mediaNDJSON:
				other = max(other, q)
			}
		}
	}
	return accepted, other
}

// answerRows runs a call and sends its answer. If the client wants an Arrow stream, and the call is a
// read, answerRows sends the rows while the call reads them.
func (x *exchange) answerRows(enc encoding.Options, run func(encoding.Options) (*encoding.Answer, error)) error {
	var out *stream
	if x.wantsArrow() {
		out = x.stream(client.MediaArrow)
		enc.Arrow = func(commit, rights string) io.Writer {
			out.commit, out.rights = commit, rights
			return out
		}
	}
	a, err := run(enc)
	switch {
	case err != nil && out != nil && out.started:
		return x.broken(err)
	case err != nil:
		return err
	case out != nil && out.started:
		return nil
	}
	x.send(a)
	return nil
}

// exportArrow sends the entities of one type at the commit of the stream. It converts an NDJSON
// export of the graph, so that it sends the same entities in the same order as an NDJSON export.
func exportArrow(ctx context.Context, g engine.Graph, out *stream, types []string) error {
	at := engine.Target{Commit: out.commit}
	schema, err := g.Schema(ctx, at)
	if err != nil {
		return err
	}
	table, err := parquet.NewTable(schema.Catalog, types)
	if err != nil {
		return err
	}
	s := encoding.NewArrowStream(func() io.Writer { return out }, table.Schema(),
		client.ArrowCommit, out.commit, client.ArrowType, table.Name())
	defer s.Close()
	if err := table.Export(ctx, g, at, s.Write); err != nil {
		return err
	}
	return s.End(client.ArrowTruncated, "false")
}
