// Package lsp is a language server for schemas and queries. An editor starts it and speaks the Language
// Server Protocol with it over standard input and output.
//
// The connection calls the handlers one after the other. A handler only reads results that were
// already computed, so it answers within milliseconds. Two goroutines compile: checkLoop checks a
// document after each change of it, and surveyLoop checks whole graphs after a pause. The field
// server.mu guards all state. Neither the handlers nor the two goroutines hold it while they
// compile.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/jsonrpc2"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
)

// Options connect the server to the parts of the command gq that it shares with other verbs.
type Options struct {
	// Tools builds the package of a graph, and the sizes of its tools in the answer to tools/list, as gq
	// lint does. If no package can be generated, it returns the errors.
	Tools func(in model.Input, threshold int, outputSchemas bool) (*model.Package, *lint.ToolList, diag.List)

	// Earlier returns the contracts of the graphs of a project at a git ref, and the thresholds of the
	// meta tools by graph.
	Earlier func(root, ref string) ([]*codegen.Contract, map[string]int, error)

	// Pause is the time without a change after which the server checks whole graphs. 0 means DefaultPause.
	Pause time.Duration
}

// DefaultPause is the pause before the server checks whole graphs.
const DefaultPause = 250 * time.Millisecond

// defaultRef is the git ref that lenses compare with.
const defaultRef = "main"

// server is the state of one connection.
type server struct {
	opts Options
	conn jsonrpc2.Conn

	mu        sync.Mutex           // guards the fields below and everything that they refer to
	docs      map[string]*document // the open documents by path
	projects  map[string]*project  // by folder
	disk      disk                 // the files that are not open
	published map[string][]finding // by path: the last published findings, if there were any
	ref       string               // the git ref that lenses compare with
	begun     bool                 // the client sent initialize
	shutdown  bool                 // the client sent shutdown
	editor    chan int             // receives the id of the editor's process, if initialize names it
	client    clientSupport

	changed map[string]bool // the paths of the documents that checkLoop has to check
	stale   bool            // surveyLoop has to read the configurations again
	changes atomic.Uint64   // the number of changes of documents; may be read without the lock
	check   chan struct{}   // wakes checkLoop
	survey  chan struct{}   // wakes surveyLoop
}

// clientSupport says which optional parts of the protocol the client has.
type clientSupport struct {
	watchFiles, refreshLenses, refreshHints bool
}

// document is a document that is open in the editor.
type document struct {
	uri     string
	path    string
	version int32
	text    *text

	// The field `own` has the findings of the last check of this document. The field `carried` has
	// the findings that only a check of the whole graph makes; they move with the text until the
	// next such check.
	own, carried []finding

	// The part of the text that changed since the last check of this document. It is empty if
	// `from` is greater than `to`.
	from, to int
}

// touch notes that a splice changed the text. REQUIRES: s.mu.
func (d *document) touch(sp splice) {
	end := sp.from + sp.length
	shift := sp.length - (sp.to - sp.from)
	switch {
	case d.from > d.to:
		d.from, d.to = sp.from, end
		return
	case sp.to <= d.from:
		d.from, d.to = d.from+shift, d.to+shift
	case sp.from < d.to:
		d.to = max(d.to, sp.to) + shift
	}
	d.from, d.to = min(d.from, sp.from), max(d.to, end)
}

// untouched notes that the document has no changes since its last check. REQUIRES: s.mu.
func (d *document) untouched() { d.from, d.to = 1, 0 }

// handler handles one method. The result is nil for a notification.
type handler func(s *server, params json.RawMessage) (any, error)

// methods maps the methods of the protocol to their handlers.
var methods = map[string]handler{
	"initialize":                       request((*server).initialize),
	"initialized":                      request((*server).initialized),
	"shutdown":                         request((*server).stop),
	"textDocument/didOpen":             request((*server).didOpen),
	"textDocument/didChange":           request((*server).didChange),
	"textDocument/didSave":             request((*server).didSave),
	"textDocument/didClose":            request((*server).didClose),
	"workspace/didChangeWatchedFiles":  request((*server).didChangeWatchedFiles),
	"textDocument/formatting":          request((*server).formatting),
	"textDocument/codeAction":          request((*server).codeActions),
	"textDocument/hover":               request((*server).hover),
	"textDocument/definition":          request((*server).definition),
	"textDocument/references":          request((*server).references),
	"textDocument/prepareRename":       request((*server).prepareRename),
	"textDocument/rename":              request((*server).rename),
	"textDocument/documentSymbol":      request((*server).documentSymbols),
	"workspace/symbol":                 request((*server).workspaceSymbols),
	"textDocument/completion":          request((*server).completion),
	"textDocument/semanticTokens/full": request((*server).semanticTokens),
	"textDocument/inlayHint":           request((*server).inlayHints),
	"textDocument/codeLens":            request((*server).codeLenses),
}

// request makes a handler of a method of the server.
func request[P any, R any](f func(*server, *P) (R, error)) handler {
	return func(s *server, params json.RawMessage) (any, error) {
		p := new(P)
		if len(params) > 0 {
			if err := json.Unmarshal(params, p); err != nil {
				return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "the parameters do not fit the method: %v", err)
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return f(s, p)
	}
}

// Serve serves one editor until it sends exit or closes the stream. It returns an error if the editor
// did not send shutdown first.
func Serve(ctx context.Context, stream io.ReadWriteCloser, opts Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if opts.Pause == 0 {
		opts.Pause = DefaultPause
	}
	s := &server{
		opts: opts, conn: jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(stream)), ref: defaultRef,
		docs: map[string]*document{}, projects: map[string]*project{}, disk: disk{map[string]*diskFile{}},
		published: map[string][]finding{}, changed: map[string]bool{},
		check: make(chan struct{}, 1), survey: make(chan struct{}, 1), editor: make(chan int, 1),
	}
	var loops sync.WaitGroup
	loops.Go(func() { s.checkLoop(ctx) })
	loops.Go(func() { s.surveyLoop(ctx) })
	orphaned := make(chan struct{})
	loops.Go(func() { s.watchEditor(ctx, orphaned) })
	exit := make(chan struct{})
	var once sync.Once
	s.conn.Go(ctx, func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		if req.Method() == "exit" {
			once.Do(func() { close(exit) })
			return nil, nil
		}
		return s.handle(ctx, req)
	})
	alone := false
	select {
	case <-exit:
	case <-orphaned:
		alone = true
	case <-s.conn.Done():
	case <-ctx.Done():
	}
	cancel()
	stream.Close() // ends a read that waits for the editor
	loops.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case alone:
		return errors.New("the process of the editor has ended")
	case !s.shutdown:
		return errors.New("the editor ended the connection without the request shutdown")
	}
	return nil
}

// The answers to requests at the wrong time. The protocol of editors defines the first code.
var (
	errNotBegun = jsonrpc2.NewError(-32002, "the server is not initialized; send initialize first")
	errBegun    = jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the server is initialized already; send initialize once")
	errShutdown = jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the server is shutting down; start another one")
)

// handle answers one message. An error of a notification goes to the editor's log, because a
// notification has no answer.
func (s *server) handle(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = jsonrpc2.Errorf(jsonrpc2.InternalError, "%s failed: %v; this is a fault of gq", req.Method(), r)
		}
		if err != nil && !req.IsCall() {
			s.log(ctx, fmt.Sprintf("%s: %v", req.Method(), err))
			result, err = nil, nil
		}
	}()
	s.mu.Lock()
	begun, down := s.begun, s.shutdown
	s.mu.Unlock()
	h, ok := methods[req.Method()]
	switch early := !begun && req.Method() != "initialize"; {
	case early && req.IsCall():
		return nil, errNotBegun
	case early:
		return nil, nil // the protocol drops notifications before initialize
	case !ok && req.IsCall():
		return nil, fmt.Errorf("%q: %w", req.Method(), jsonrpc2.ErrMethodNotFound)
	case !ok:
		return nil, nil // the protocol lets a server ignore a notification that it does not know
	case down && req.IsCall():
		return nil, errShutdown
	}
	return h(s, json.RawMessage(req.Params()))
}

// log writes a message to the editor's log.
func (s *server) log(ctx context.Context, message string) {
	const warning = 2
	// This error is dropped: if the connection fails, the server ends anyway.
	_ = s.conn.Notify(ctx, "window/logMessage", logMessageParams{Type: warning, Message: message})
}

// none is the type of the parameters of a method without parameters.
type none struct{}

// initialize answers with the features of the server.
func (s *server) initialize(p *initializeParams) (*initializeResult, error) {
	if s.begun {
		return nil, errBegun
	}
	s.begun = true
	if p.ProcessID != nil {
		s.editor <- *p.ProcessID
	}
	var options initializationOptions
	if len(p.InitializationOptions) > 0 && json.Unmarshal(p.InitializationOptions, &options) == nil && options.Against != "" {
		s.ref = options.Against
	}
	s.client = clientSupport{
		watchFiles:    p.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration,
		refreshLenses: p.Capabilities.Workspace.CodeLens.RefreshSupport,
		refreshHints:  p.Capabilities.Workspace.InlayHint.RefreshSupport,
	}
	folders := p.WorkspaceFolders
	if p.RootURI != nil {
		folders = append(folders, textDocument{*p.RootURI})
	}
	for _, folder := range folders {
		if dir, ok := pathOf(folder.URI); ok {
			if found, ok := findProject(filepath.Join(dir, clusterFile)); ok && found == dir {
				s.projectOf(filepath.Join(dir, clusterFile)) // so that the symbols of the workspace have it
			}
		}
	}
	const incremental = 2
	return &initializeResult{
		ServerInfo: serverInfo{"gq"},
		Capabilities: map[string]any{
			"positionEncoding":           "utf-16",
			"textDocumentSync":           map[string]any{"openClose": true, "change": incremental, "save": true},
			"documentFormattingProvider": true,
			"codeActionProvider":         map[string]any{"codeActionKinds": []string{quickFix, fixAll}},
			"hoverProvider":              true,
			"definitionProvider":         true,
			"referencesProvider":         true,
			"renameProvider":             map[string]any{"prepareProvider": true},
			"documentSymbolProvider":     true,
			"workspaceSymbolProvider":    true,
			"completionProvider":         map[string]any{"triggerCharacters": []string{"$", ".", "@", ":", " ", "{", "("}},
			"semanticTokensProvider": map[string]any{
				"legend": map[string]any{"tokenTypes": tokenTypes, "tokenModifiers": tokenModifiers}, "full": true,
			},
			"inlayHintProvider": true,
			"codeLensProvider":  map[string]any{},
		},
	}, nil
}

// initialized asks the editor to report changes of the files that the server reads.
func (s *server) initialized(*none) (any, error) {
	if !s.client.watchFiles {
		return nil, nil
	}
	type watcher struct {
		GlobPattern string `json:"globPattern"`
	}
	watchers := []watcher{{"**/*.{gq,pg,cedar,yaml,yml}"}}
	// The goroutine that runs this handler also receives the answers to calls, so another goroutine
	// must wait for the answer.
	go func() {
		_, err := s.conn.Call(context.Background(), "client/registerCapability", registrationParams{[]registration{{
			ID: "files", Method: "workspace/didChangeWatchedFiles", RegisterOptions: map[string]any{"watchers": watchers},
		}}}, nil)
		if err != nil {
			s.log(context.Background(), fmt.Sprintf("the editor does not report changes of files: %v", err))
		}
	}()
	return nil, nil
}

// stop handles the request `shutdown`.
func (s *server) stop(*none) (any, error) {
	s.shutdown = true
	return nil, nil
}
