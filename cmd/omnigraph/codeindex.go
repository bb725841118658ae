package main

import (
	"bytes"
	"context"

	"github.com/omnigraph-go/omnigraph/internal/source/gocode"
)

// readGo is the [builtin.SourceReader] of the local MCP server.
func readGo(ctx context.Context, dir string, deps bool) ([]byte, error) {
	g, err := gocode.Read(ctx, gocode.Options{Dir: dir, Deps: deps, Revision: true})
	if err != nil {
		return nil, err
	}
	var ndjson bytes.Buffer
	_, err = g.WriteNDJSON(&ndjson)
	return ndjson.Bytes(), err
}
