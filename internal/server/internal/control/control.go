// Package control lets omnigraph cluster apply use the graphs of a running server. The server has the graphs of its
// storage folder open, and no other process can open them. It writes its address and a secret to a file in that folder,
// so whoever may read the folder may also control the server, and nobody else. In shared storage, the servers have one secret,
// and their signs of life have their addresses.
package control

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// File is the name of the file in the storage folder. Only its owner may read it.
const File = "cluster.server"

const (
	schemaPath = "/cluster/schema" // answers with a liveSchema
	mayPath    = "/cluster/may-apply"
	reloadPath = "/cluster/reload"
	header     = "Omnigraph-Storage-Secret"

	// A copy of the shared storage has the secret too. So the sender names its sign in its storage, and the server looks for it in its own.
	tokenHeader = "Omnigraph-Storage-Node"

	// The answer proves that it is of the server of the file, and not of a program that has taken its port.
	nonceHeader, proofHeader = "Omnigraph-Storage-Nonce", "Omnigraph-Storage-Proof"

	maxBody     = 32 << 20 // bytes of a request or an answer
	dialTimeout = 5 * time.Second

	// patience is how long a server may take to begin the answer to a question. A schema change and a reload take what they take.
	patience = 30 * time.Second
)

// Server is a running server.
type Server struct {
	Folder string `json:"folder"` // absolute path of the storage folder: a copy of the folder has no server
	URL    string `json:"url"`    // of its listener, without a path
	Secret string `json:"secret"` // the value of the header of each request

	Patience time.Duration `json:"-"` // see patience, which 0 stands for

	// In shared storage, Token names the process that asks, and the server answers only if Knows is true for it. Token is "" and Knows
	// is nil for a folder.
	Token string                                                `json:"-"`
	Knows func(ctx context.Context, token string) (bool, error) `json:"-"`
}

// Announce writes the file for a server that listens at an address. The function that it returns removes the file,
// unless another server has replaced it.
func Announce(dir string, at net.Addr) (*Server, func(), error) {
	address := at.String()
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		address = fmt.Sprintf("127.0.0.1:%d", tcp.Port)
	}
	folder, err := place(dir)
	if err != nil {
		return nil, nil, err
	}
	s := &Server{Folder: folder, URL: "http://" + address, Secret: rand.Text()}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, nil, err
	}
	name := filepath.Join(dir, File)
	temp := name + ".tmp"
	_ = os.Remove(temp) // of a server that was killed; its permissions may be others
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return nil, nil, err
	}
	if err := os.Rename(temp, name); err != nil {
		return nil, nil, err
	}
	return s, func() {
		if now, err := Find(dir); err == nil && now != nil && now.Secret == s.Secret {
			_ = os.Remove(name)
		}
	}, nil
}

// place returns the absolute path of a folder without symbolic links.
func place(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// Find reads the file in a storage folder. It returns nil if there is none, or if it was copied with another folder. A server
// that was killed leaves its file.
func Find(dir string) (*Server, error) {
	text, err := os.ReadFile(filepath.Join(dir, File))
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	s := &Server{}
	if err := json.Unmarshal(text, s); err != nil || s.URL == "" || s.Secret == "" {
		return nil, fmt.Errorf("%s is not the file of a running server; remove it", filepath.Join(dir, File))
	}
	if folder, err := place(dir); err != nil || folder != s.Folder {
		return nil, err
	}
	return s, nil
}

// secretName is the name of the object in shared storage with the secret of all servers.
const secretName = "cluster.secret"

// SharedSecret returns the secret of the servers that share a storage. If there is none, it makes one, or returns "" for a command.
func SharedSecret(ctx context.Context, b object.Bucket, command bool) (string, error) {
	text, err := b.Read(ctx, secretName, 0, object.Whole)
	if errors.Is(err, object.ErrNotFound) {
		if command {
			return "", nil
		}
		text = []byte(rand.Text())
		if err = object.Establish(ctx, b, secretName, text); errors.Is(err, object.ErrExists) {
			text, err = b.Read(ctx, secretName, 0, object.Whole) // another server was faster
		}
	}
	return string(text), err
}

// Unreachable is the error if no server answers at the address of the file: it has stopped, or was killed.
type Unreachable struct{ Err error }

func (e *Unreachable) Error() string { return "no server answers: " + e.Err.Error() }

// Unwrap returns the error of the connection.
func (e *Unreachable) Unwrap() error { return e.Err }

// schemaRequest asks for the schema of main. With a source, it applies this schema.
type schemaRequest struct {
	Graph         string `json:"graph"`
	Source        string `json:"source,omitempty"`
	DryRun        bool   `json:"dry_run,omitempty"`
	IfSchema      string `json:"if_schema,omitempty"` // digest of the schema that main must have; "" for any
	Actor         string `json:"actor,omitempty"`
	Message       string `json:"message,omitempty"`
	AllowDataLoss bool   `json:"allow_data_loss,omitempty"`
}

// liveSchema is the answer to a schemaRequest.
type liveSchema struct {
	Source  string   `json:"source"`            // text of the schema before the change
	Digest  string   `json:"digest"`            // digest of that schema
	Head    string   `json:"head"`              // head of main after the call
	Reasons []string `json:"reasons,omitempty"` // Reason of each step from that schema to the applied one
}

// refusal is the answer with a status other than 200.
type refusal struct {
	Kind  string `json:"kind"` // one of the kinds below
	Error string `json:"error"`
}

const (
	kindConflict    = "conflict"    // an *engine.Conflict
	kindUnavailable = "unavailable" // an *engine.Unavailable
	kindNotFound    = "not_found"   // the server has not opened the graph
	kindOther       = "other"
)

// post sends a request. The error is an *Unreachable, or that of the refusal. If wait is not 0, a server whose answer takes longer is
// unreachable.
func (s *Server) post(ctx context.Context, path string, request, answer any, wait time.Duration) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(header, s.Secret)
	r.Header.Set(tokenHeader, s.Token)
	nonce := rand.Text()
	r.Header.Set(nonceHeader, nonce)
	transport := &http.Transport{DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, ResponseHeaderTimeout: wait} // no proxy: the secret must be sent to the server only
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &Unreachable{err}
	}
	defer res.Body.Close()
	if !hmac.Equal([]byte(res.Header.Get(proofHeader)), []byte(s.proof(nonce))) {
		return &Unreachable{fmt.Errorf("%s answers with status %d: another program listens there, or a server of another storage", s.URL, res.StatusCode)}
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return fmt.Errorf("reading the answer of the running server: %w", err)
	}
	if res.StatusCode == http.StatusOK {
		return json.Unmarshal(text, answer)
	}
	var f refusal
	if err := json.Unmarshal(text, &f); err != nil {
		return fmt.Errorf("reading the answer of the running server: %w", err)
	}
	switch f.Kind {
	case kindConflict:
		return &engine.Conflict{Reason: f.Error}
	case kindUnavailable:
		return &engine.Unavailable{Reason: f.Error}
	case kindNotFound:
		return &engine.NotFound{What: "graph", Name: f.Error}
	}
	return errors.New(f.Error)
}

// patience returns how long this server may take to begin the answer to a question.
func (s *Server) patience() time.Duration { return cmp.Or(s.Patience, patience) }

// proof returns what only the server of the secret can answer to a nonce.
func (s *Server) proof(nonce string) string {
	h := hmac.New(sha256.New, []byte(s.Secret))
	h.Write([]byte(nonce))
	return hex.EncodeToString(h.Sum(nil))
}

// applyRequest asks whether an actor may apply.
type applyRequest struct {
	Actor string `json:"actor"`
}

// MayApply asks the server whether its policy allows an actor to apply. The error says why not.
func (s *Server) MayApply(ctx context.Context, actor string) error {
	return s.post(ctx, mayPath, applyRequest{actor}, &struct{}{}, s.patience())
}

// Reload makes the server serve the recorded revision. The error says why it still serves the one before.
func (s *Server) Reload(ctx context.Context) error {
	return s.post(ctx, reloadPath, struct{}{}, &struct{}{}, 0)
}

// Graph is a graph that a running server has open.
type Graph struct {
	server *Server
	id     string
}

// Graph returns a graph of the server.
func (s *Server) Graph(id string) *Graph { return &Graph{server: s, id: id} }

// Schema returns the schema of main; see [engine.Graph].
func (g *Graph) Schema(ctx context.Context, _ engine.Target) (*engine.Schema, error) {
	var a liveSchema
	if err := g.server.post(ctx, schemaPath, schemaRequest{Graph: g.id}, &a, g.server.patience()); err != nil {
		return nil, err
	}
	c, err := compileStored(a.Source)
	return &engine.Schema{Source: a.Source, Digest: a.Digest, Catalog: c}, err
}

// Snapshot returns the head of main, without counts.
func (g *Graph) Snapshot(ctx context.Context, _ engine.Target) (*engine.Snapshot, error) {
	var a liveSchema
	if err := g.server.post(ctx, schemaPath, schemaRequest{Graph: g.id}, &a, g.server.patience()); err != nil {
		return nil, err
	}
	return &engine.Snapshot{Commit: engine.Commit{ID: a.Head}}, nil
}

// ApplySchema puts a schema in force on main; see [engine.Graph]. Of the options it uses Actor, Message, DryRun, IfSchema and
// AllowDataLoss.
func (g *Graph) ApplySchema(ctx context.Context, source string, schema *catalog.Schema, o engine.SchemaOptions) (*engine.SchemaChange, error) {
	var a liveSchema
	err := g.server.post(ctx, schemaPath, schemaRequest{
		Graph: g.id, Source: source, DryRun: o.DryRun, IfSchema: o.IfSchema, Actor: o.Actor, Message: o.Message, AllowDataLoss: o.AllowDataLoss,
	}, &a, 0)
	if err != nil {
		return nil, err
	}
	was, err := compileStored(a.Source)
	if err != nil {
		return nil, err
	}
	m := catalog.Diff(was, schema)
	if len(m.Steps) != len(a.Reasons) {
		return nil, errors.New("the running server is another version of omnigraph, which takes other steps to this schema; stop it, apply, and start it")
	}
	for i := range m.Steps {
		m.Steps[i].Reason = a.Reasons[i]
	}
	return &engine.SchemaChange{
		Steps: m.Steps, Supported: m.Supported(), Destructive: m.Destructive(), From: a.Digest, To: catalog.Digest(schema), Head: engine.Commit{ID: a.Head},
	}, nil
}

// Close does nothing: the graph stays open.
func (g *Graph) Close() error { return nil }

// compileStored compiles the text of a schema that a graph has.
func compileStored(source string) (*catalog.Schema, error) {
	c, faults := compile.StoredSchema(compile.Source{Name: "schema.pg", Text: source})
	return c, faults.Err()
}

// Handler answers the requests that have the secret and come from a process of the same storage, and passes all others on to `next`. The function `graph` returns a
// graph that this server writes; `reload` makes the server serve the recorded revision, and `may` reports why an actor may not apply.
func (s *Server) Handler(graph func(ctx context.Context, id string) (engine.Graph, error), reload func(context.Context) error, may func(actor string) error, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != schemaPath && r.URL.Path != reloadPath && r.URL.Path != mayPath || subtle.ConstantTimeCompare([]byte(r.Header.Get(header)), []byte(s.Secret)) != 1 {
			next.ServeHTTP(w, r)
			return
		}
		if s.Knows != nil {
			known, err := s.Knows(r.Context(), r.Header.Get(tokenHeader))
			if err == nil && !known {
				next.ServeHTTP(w, r)
				return
			}
			if err != nil {
				w.Header().Set(proofHeader, s.proof(r.Header.Get(nonceHeader)))
				respond(w, nil, &engine.Unavailable{Reason: "the server cannot read the shared storage: " + err.Error()})
				return
			}
		}
		w.Header().Set(proofHeader, s.proof(r.Header.Get(nonceHeader)))
		if r.URL.Path == reloadPath {
			respond(w, struct{}{}, reload(r.Context()))
			return
		}
		if r.URL.Path == mayPath {
			var request applyRequest
			err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&request)
			if err == nil {
				err = may(request.Actor)
			}
			respond(w, struct{}{}, err)
			return
		}
		var request schemaRequest
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&request); err != nil {
			respond(w, nil, err)
			return
		}
		g, err := graph(r.Context(), request.Graph)
		if err != nil {
			respond(w, nil, err)
			return
		}
		a, err := answer(r.Context(), g, &request)
		respond(w, a, err)
	})
}

// answer does what a request asks for.
func answer(ctx context.Context, g engine.Graph, r *schemaRequest) (*liveSchema, error) {
	was, err := g.Schema(ctx, engine.Target{})
	if err != nil {
		return nil, err
	}
	snap, err := g.Snapshot(ctx, engine.Target{})
	if err != nil {
		return nil, err
	}
	a := &liveSchema{Source: was.Source, Digest: was.Digest, Head: snap.Commit.ID}
	if r.Source == "" {
		return a, nil
	}
	if r.IfSchema != "" && r.IfSchema != was.Digest {
		return nil, &engine.Conflict{Reason: "the graph has another schema; apply again"}
	}
	schema, faults := compile.Schema(compile.Source{Name: "schema.pg", Text: r.Source})
	if err := faults.Err(); err != nil {
		return nil, err
	}
	change, err := g.ApplySchema(ctx, r.Source, schema, engine.SchemaOptions{
		WriteOptions:  engine.WriteOptions{Actor: r.Actor, Message: r.Message, DryRun: r.DryRun},
		IfSchema:      was.Digest,
		AllowDataLoss: r.AllowDataLoss,
	})
	if err != nil {
		return nil, err
	}
	for _, step := range change.Steps {
		a.Reasons = append(a.Reasons, step.Reason)
	}
	if !r.DryRun {
		a.Head = change.Head.ID
	}
	return a, nil
}

// respond sends an answer, or a refusal if err is set.
func respond(w http.ResponseWriter, answer any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		f := refusal{kindOther, err.Error()}
		var conflict *engine.Conflict
		var unavailable *engine.Unavailable
		var missing *engine.NotFound
		switch {
		case errors.As(err, &conflict):
			f = refusal{kindConflict, conflict.Reason}
		case errors.As(err, &unavailable):
			f = refusal{kindUnavailable, unavailable.Reason}
		case errors.As(err, &missing):
			f = refusal{kindNotFound, missing.Name}
		}
		w.WriteHeader(http.StatusConflict)
		answer = f
	}
	var text strings.Builder
	if err := json.NewEncoder(&text).Encode(answer); err != nil {
		panic(fmt.Sprintf("control: encode an answer: %v", err)) // structs of texts
	}
	_, _ = io.WriteString(w, text.String())
}
