package servedgraph_test

import (
	"io"
	"log/slog"
)

func textLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }
