package client

import "context"

// MediaArrow is the media type of an Arrow IPC stream. The client sends it in the header Accept, and
// the server then answers a read or an export with record batches.
const MediaArrow = "application/vnd.apache.arrow.stream"

// The names of the metadata in an Arrow stream. The names up to ArrowType belong to the metadata of
// the schema, in which empty values are left out. The other names belong to the metadata of the
// last record batch.
const (
	ArrowCommit   = "omnigraph.graph_commit_id" // the commit that was read
	ArrowQuery    = "omnigraph.query_name"      // name of the query that ran
	ArrowBranch   = "omnigraph.branch"          // the branch in the request
	ArrowSnapshot = "omnigraph.snapshot"        // the commit in the request
	ArrowType     = "omnigraph.type_name"       // in an export: the type of the entities

	ArrowRowCount    = "omnigraph.row_count"       // number of rows in all batches
	ArrowTruncated   = "omnigraph.truncated"       // true if rows were left out, otherwise false
	ArrowTruncatedBy = "omnigraph.truncated_by"    // the same as [ReadMore.TruncatedBy]
	ArrowNextPage    = "omnigraph.next_page_token" // the same as [ReadMore.NextPageToken]
	ArrowNotes       = "omnigraph.notes"           // the same as [ReadMore.Notes], one note per line
)

// QueryArrow runs a read whose GQ text is in the body, and returns its rows as an Arrow IPC stream.
// The server sends the rows while it reads them, so body.MaxRows limits the number of rows, but is
// not needed to save memory.
func (g *Graph) QueryArrow(ctx context.Context, body QueryBody) (*Stream, error) {
	return g.arrow(ctx, "/query", body, "the answer")
}

// InvokeArrow runs a stored read and returns its rows as an Arrow IPC stream. The server refuses to
// run a mutation.
func (g *Graph) InvokeArrow(ctx context.Context, name string, body InvokeBody) (*Stream, error) {
	body.ExpectMutation = new(false)
	return g.arrow(ctx, "/queries/"+segment(name), body, "the answer")
}

// ExportArrow exports the entities of one type at one commit as an Arrow IPC stream.
// body.TypeNames must name exactly that type.
func (g *Graph) ExportArrow(ctx context.Context, body ExportBody) (*Stream, error) {
	return g.arrow(ctx, "/export", body, "the export")
}

// arrow sends a request for an Arrow stream. The argument `what` describes the stream in errors.
func (g *Graph) arrow(ctx context.Context, path string, body any, what string) (*Stream, error) {
	q, err := posting(g.path+path, body)
	if err != nil {
		return nil, err
	}
	q.repeats = true
	q.header.Set("Accept", MediaArrow)
	return g.stream(ctx, q, what)
}
