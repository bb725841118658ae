package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
	"github.com/omnigraph-go/omnigraph/engine/parquet"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/server/service"
)

func (r *remote) Load(ctx context.Context, data *loadData, opts engine.LoadOptions) (*service.LoadAnswer, error) {
	query := url.Values{"mode": {opts.Mode.String()}}
	setIf(query, "branch", opts.Branch)
	setIf(query, "from", data.from)
	if opts.DryRun {
		query.Set("dry_run", strconv.FormatBool(true))
	}
	sent := false
	q := &request{method: http.MethodPost, path: "/load/ndjson", query: query, media: "application/x-ndjson", size: data.size}
	q.body = func() (io.Reader, error) {
		if sent {
			if err := data.rewind(); err != nil {
				return nil, err
			}
		}
		sent = true
		// Wrap the reader. The transport must not close it, and must not treat it specially because
		// of its type.
		return io.MultiReader(data), nil
	}
	q.under(opts.WriteOptions)
	q.repeats = q.repeats && data.rewind != nil
	a := &service.LoadAnswer{}
	err := r.into(ctx, q, a)
	var refused *serverError
	if errors.As(err, &refused) && refused.Status == http.StatusRequestEntityTooLarge && refused.Body.ResourceLimit == nil {
		err = fmt.Errorf("%w\n%s", err, tooLargeToLoad)
	}
	return a, err
}

// tooLargeToLoad is the advice if a load is too large for the server.
const tooLargeToLoad = "Load it where the store is, with --store DIR; or split it at the ends of lines and load the parts, nodes before the edges\n" +
	"between them, into a branch of their own (--branch NAME --from main): merge --into main --delete-branch then shows all of it at once."

type exportBody struct {
	Branch    string   `json:"branch,omitempty"`
	Snapshot  string   `json:"snapshot,omitempty"`
	TypeNames []string `json:"type_names,omitempty"`
}

func (r *remote) Export(ctx context.Context, e *export) (commit string, err error) {
	if e.format == "parquet" {
		return r.exportParquet(ctx, e)
	}
	commit, body, err := r.stream(ctx, e.at, e.types)
	if err != nil {
		return "", err
	}
	defer body.Close()
	_, err = io.Copy(e.w, body)
	return commit, err
}

// stream starts an export. Reading the body fails if the server did not send the whole export.
func (r *remote) stream(ctx context.Context, at engine.Target, types []string) (commit string, body io.ReadCloser, err error) {
	q, err := posting("/export", exportBody{Branch: at.Branch, Snapshot: at.Commit, TypeNames: types})
	if err != nil {
		return "", nil, err
	}
	q.repeats = true
	resp, err := r.open(ctx, q)
	if err != nil {
		return "", nil, err
	}
	switch commit = strings.Trim(strings.TrimPrefix(resp.Header.Get("ETag"), "W/"), `"`); {
	case commit == "":
		err = errors.New("the server does not say which commit it exports; is there an omnigraph-server at this URL?")
	case resp.ProtoMajor < 2 && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0:
		// Without this mark, the body would end with the connection, and a broken connection would
		// look like a complete export.
		err = errors.New("something on the way to the server, such as a proxy that speaks HTTP/1.0, takes the mark of its end from the export: a part could not be told from the whole")
	}
	if err != nil {
		resp.Body.Close()
		return "", nil, err
	}
	return commit, &wholeStream{resp.Body}, nil
}

// wholeStream is the body of a running export.
type wholeStream struct{ io.ReadCloser }

func (s *wholeStream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("the export broke off, and is not whole: %w", err)
	}
	return n, err
}

// exportParquet writes an export of the server as Parquet. The server sends NDJSON, and only a
// graph knows the types of its values and their order. So exportParquet loads the NDJSON into a
// temporary graph in the destination folder and removes it when the files are written. It selects
// types only in that graph, so that the graph satisfies the rules of its schema.
func (r *remote) exportParquet(ctx context.Context, e *export) (commit string, err error) {
	commit, body, err := r.stream(ctx, e.at, nil)
	if err != nil {
		return "", err
	}
	defer body.Close()
	schema, err := r.Schema(ctx, engine.Target{Commit: commit})
	if err != nil {
		return "", err
	}
	compiled, found := gq.CompileStoredSchema(gq.Source{Name: "the server's schema", Text: schema.SchemaSource})
	if err := found.Err(); err != nil {
		return "", fmt.Errorf("this program does not understand the server's schema; is it older than the server? %w", err)
	}
	if err := knownTypes(compiled, e.types); err != nil {
		return "", err
	}
	dir := filepath.Join(e.dir, ".graph")
	g, err := embedded.Create(ctx, fs.OS(), dir, schema.SchemaSource, compiled, embedded.Options{})
	if err != nil {
		return "", err
	}
	_, err = g.Load(ctx, body, engine.LoadOptions{Mode: engine.Append})
	if err == nil {
		_, err = parquet.Export(ctx, g, engine.Target{}, parquet.Options{Types: e.types}, e.create)
	}
	return commit, errors.Join(err, g.Close(), os.RemoveAll(dir))
}

// knownTypes reports a type that the schema does not have, before any data is loaded.
func knownTypes(s *catalog.Schema, types []string) error {
	for _, name := range types {
		if s.Node(name) == nil && s.Edge(name) == nil {
			return &engine.BadArgument{Param: "types", Detail: fmt.Sprintf("the schema has no type %q", name)}
		}
	}
	return nil
}

func (r *remote) Blob(ctx context.Context, p service.BlobPlace, at engine.Target) ([]byte, error) {
	query := place(at)
	for name, v := range map[string]string{"entity": p.Entity.String(), "type": p.Type, "id": p.ID, "property": p.Property} {
		query.Set(name, v)
	}
	return r.ask(ctx, reading("/blob", query))
}
