package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// minAnnounced is the shortest wait for the server that the command announces to the user.
const minAnnounced = time.Second

// newRemote returns a source for a graph of a server. It writes a note to `notes` about each wait
// of at least minAnnounced.
func newRemote(e *endpoint, token client.TokenSource, notes io.Writer) (*source, error) {
	c, err := client.New(e.server, client.WithTokenSource(token), client.WithGrace(grace), client.WithUserAgent("omnigraph/"+version()), client.WithNumbers(),
		client.WithNotify(func(err error, wait time.Duration) {
			if wait >= minAnnounced {
				fmt.Fprintf(notes, "omnigraph: %s; trying again in %v\n", terminal.PrintableLines(err.Error()), wait.Round(time.Second/10))
			}
		}))
	if err != nil {
		return nil, err
	}
	return &source{client: c, graph: c.Graph(e.graph)}, nil
}

// check checks a statement before the request. The choice of the query is checked only for a server, whose message
// would name tools; for a store, the faults of the text come first, see [statement.runError].
func (src *source) check(s *statement, write bool) error {
	if err := s.encodable(); err != nil || src.store != nil {
		return err
	}
	return s.check(write)
}

// advise rewrites the hint of some answers of servers in the terms of this command.
func advise(err error) {
	var refused *client.Error
	if errors.As(err, &refused) {
		switch {
		case refused.Status >= 300 && refused.Status < 400:
			refused.Hint = "if the redirect leads to the right server, name that server with --server"
		case refused.Status == http.StatusUnauthorized && refused.Hint != "":
			refused.Hint = "set " + tokenVar + ", log in with omnigraph login, or write the server's token to " + configName
		}
	}
}

// writeOptions returns the options of a write.
func writeOptions(opts engine.WriteOptions) (options []client.WriteOption) {
	if opts.IdempotencyKey != "" {
		options = append(options, client.IdempotencyKey(opts.IdempotencyKey))
	}
	if opts.Message != "" {
		options = append(options, client.Message(opts.Message))
	}
	if opts.IfCommit != "" {
		options = append(options, client.IfCommit(opts.IfCommit))
	}
	return options
}

// readOptions returns the options that select the state to read.
func readOptions(at engine.Target) []client.ReadOption {
	return []client.ReadOption{client.OnBranch(at.Branch), client.AtSnapshot(at.Commit)}
}

// maxServerFaults is the maximum number of faults in a server's answer. An answer with this many
// may leave out further faults.
const maxServerFaults = 20

// withFileName adds the name of the file to the faults that a server found in its text, so that
// they look like the faults that a local graph reports.
func withFileName(err error, file, text string) error {
	var refused *client.Error
	if !errors.As(err, &refused) || len(refused.Diagnostics) == 0 {
		return err
	}
	found := diag.List(refused.Diagnostics)
	for i := range found {
		found[i].Span.File = file
	}
	r := &wireerror.Rejected{Diagnostics: found, Sources: map[string]string{file: text}}
	if len(found) < maxServerFaults {
		r.Valid = compile.RightQueries(compile.Source{Name: file, Text: text}, found)
	}
	return r
}

// collectPages returns all items of a list that is read page by page.
func collectPages[T any](all iter.Seq2[T, error]) ([]T, error) {
	list := []T{}
	for item, err := range all {
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}
