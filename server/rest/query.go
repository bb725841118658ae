package rest

import (
	"context"
	"net/http"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// query runs an ad-hoc read.
func (s *server) query(ctx context.Context, g *service.Graph, w http.ResponseWriter, r *http.Request) error {
	o, err := s.object(w, r)
	if err != nil {
		return err
	}
	call := &service.AdHoc{
		Source: o.String("query"), Name: orEmpty(o.OptString("name")), Params: o.Raw("params"), Branch: orEmpty(o.OptString("branch")),
		Knobs: tool.ReadKnobs(o),
	}
	enc, err := s.maxRows(o)
	if err != nil {
		return err
	}
	return read(w, func() (*service.Answer, error) {
		return g.Do(ctx, service.ActorFrom(ctx), "query", call, enc)
	})
}

// mutate runs an ad-hoc mutation.
func (s *server) mutate(ctx context.Context, g *service.Graph, w http.ResponseWriter, r *http.Request) error {
	o, err := s.object(w, r)
	if err != nil {
		return err
	}
	call := &service.AdHoc{
		Source: either(o, "query", "query_source"), Name: optEither(o, "name", "query_name"),
		Params: o.Raw("params"), Branch: orEmpty(o.OptString("branch")), Write: true,
	}
	if err := o.Done(); err != nil {
		return err
	}
	answer, err := g.Do(ctx, service.ActorFrom(ctx), "mutate", call, service.Encoding{})
	if err != nil {
		return err
	}
	send(w, http.StatusOK, answer.JSON)
	return nil
}

// invoke runs a stored query by its name.
func (s *server) invoke(ctx context.Context, g *service.Graph, w http.ResponseWriter, r *http.Request) error {
	o, err := s.object(w, r)
	if err != nil {
		return err
	}
	in := service.Invocation{Params: o.Raw("params"), Branch: orEmpty(o.OptString("branch")), ExpectMutation: o.OptBool("expect_mutation")}
	in.Knobs = tool.Knobs{Snapshot: orEmpty(o.OptString("snapshot")), PageToken: orEmpty(o.OptString("page_token"))}
	// Whether the caller may know of the query comes before what is wrong with the
	// body: a fault that only known queries have would tell of them.
	if err := g.Invocable(service.ActorFrom(ctx), r.PathValue("name")); err != nil {
		return err
	}
	if err := o.Done(); err != nil {
		return err
	}
	return read(w, func() (*service.Answer, error) {
		return g.InvokeQuery(ctx, service.ActorFrom(ctx), r.PathValue("name"), in, s.encoding())
	})
}

// load loads NDJSON.
func (s *server) load(ctx context.Context, g *service.Graph, w http.ResponseWriter, r *http.Request) error {
	if err := wantContent(r, "application/x-ndjson"); err != nil {
		return err
	}
	query := r.URL.Query()
	mode, ok := engine.ParseLoadMode(query.Get("mode"))
	if !ok {
		return &tool.ArgumentError{Path: "mode", Detail: "found \"" + query.Get("mode") + "\", wanted one of merge, append, overwrite"}
	}
	if r.ContentLength > s.opts.MaxLoad {
		return tooLarge(s.opts.MaxLoad)
	}
	body := &limited{r: http.MaxBytesReader(w, r.Body, s.opts.MaxLoad)}
	call := &service.Load{Data: body, Mode: mode, Branch: query.Get("branch")}
	answer, err := g.Do(ctx, service.ActorFrom(ctx), "load", call, service.Encoding{})
	switch {
	case err != nil && body.err != nil:
		return unreadable(body.err)
	case err != nil:
		return err
	}
	send(w, http.StatusOK, answer.JSON)
	return nil
}

// read sends an answer; that of a read has the commit that was read as its entity tag.
func read(w http.ResponseWriter, do func() (*service.Answer, error)) error {
	answer, err := do()
	if err != nil {
		return err
	}
	if answer.Read {
		w.Header().Set("ETag", `"`+answer.Commit+`"`)
	}
	send(w, http.StatusOK, answer.JSON)
	return nil
}

// encoding is how a read is answered that sets no limit of its own.
func (s *server) encoding() service.Encoding {
	return service.Encoding{MaxBytes: s.opts.MaxAnswer, RefuseBytes: true}
}

// maxRows reads the one limit that a caller may ask for, and closes the object.
func (s *server) maxRows(o *tool.Object) (service.Encoding, error) {
	enc := s.encoding()
	if n := o.OptI32("max_rows"); n != nil {
		if *n < 1 {
			o.Fail("max_rows", "found less than 1", "leave it out for all rows")
		}
		enc.MaxRows = int(*n)
	}
	return enc, o.Done()
}

// either returns a required member by its name or by the other name it has.
func either(o *tool.Object, name, other string) string {
	notBoth(o, name, other)
	if !o.Has(name) && o.Has(other) {
		o.Raw(name)
		return o.String(other)
	}
	o.Raw(other)
	return o.String(name)
}

// optEither returns an optional member by its name or by the other name it has.
func optEither(o *tool.Object, name, other string) string {
	notBoth(o, name, other)
	a, b := o.OptString(name), o.OptString(other)
	if a == nil {
		a = b
	}
	return orEmpty(a)
}

// notBoth notes a fault when a member is there under both of its names: one of the
// values would be dropped.
func notBoth(o *tool.Object, name, other string) {
	if o.Has(name) && o.Has(other) {
		o.Fail(other, "found beside "+name+", wanted one of the two", "they are two names of one member")
	}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
