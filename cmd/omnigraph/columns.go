package main

import (
	"context"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/inprocess"
	"github.com/omnigraph-go/omnigraph/internal/parquet"
)

// writeColumns writes the rows of a read to standard output, as an Arrow IPC stream or as a Parquet
// file. The function `read` writes the Arrow stream.
func (f *formatFlags) writeColumns(ctx context.Context, cmd *cobra.Command, read func(w io.Writer) error) error {
	out := cmd.OutOrStdout()
	if terminal.Is(out) {
		return usage.Errorf("--format %s is binary; redirect the output to a file", f.name)
	}
	if f.name == formatArrow {
		return read(out)
	}
	stream, to := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := read(to)
		to.CloseWithError(err)
		done <- err
	}()
	err := parquet.WriteStream(ctx, stream, out)
	stream.CloseWithError(err)
	if failed := <-done; failed != nil && (err == nil || failed != err) {
		return failed // the cause, without the text that the reader of the stream adds
	}
	return err
}

// QueryArrow runs a read and writes its rows as an Arrow IPC stream.
func (src *source) QueryArrow(ctx context.Context, s *statement, w io.Writer) error {
	if err := src.check(s, false); err != nil {
		return err
	}
	stream, err := src.graph.QueryArrow(inprocess.WithFile(ctx, s.file), client.QueryBody{
		Query: s.text, Name: s.name, Params: s.parameters(), Branch: s.at.Branch, Snapshot: s.at.Commit, MaxRows: int32(min(s.rows, math.MaxInt32)),
	})
	if err != nil {
		return s.runError(false, err)
	}
	return copied(w, stream)
}

// InvokeArrow runs a stored read and writes its rows as an Arrow IPC stream.
func (src *source) InvokeArrow(ctx context.Context, s *statement, w io.Writer) error {
	stream, err := src.graph.InvokeArrow(ctx, s.name, client.InvokeBody{
		Params: s.parameters(), Branch: s.at.Branch, Snapshot: s.at.Commit, MaxRows: int32(min(s.rows, math.MaxInt32)),
	})
	if err != nil {
		return err
	}
	return copied(w, stream)
}

// copied copies a stream to `w` and closes the stream.
func copied(w io.Writer, stream *client.Stream) error {
	defer stream.Close()
	_, err := io.Copy(w, stream)
	return err
}
