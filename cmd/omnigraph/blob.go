package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/outfile"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
)

// init adds the verbs of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newBlob) }

// newBlob makes the command omnigraph blob.
func newBlob() *cobra.Command {
	var e endpoint
	var p operations.BlobPlace
	var at engine.Target
	var entity, out string
	cmd := &cobra.Command{
		Use:   "blob (--store DIR | --server URL --graph ID) --type TYPE --id ID --property NAME",
		Short: "Write the bytes of a Blob to a file, or to standard output",
		Long: `Write the bytes of a Blob, a property of one node or edge, to a file or to standard
output. If the command fails, it leaves no partial file.`,
		Example: "  omnigraph blob --store data/files --type File --id report --property content --out report.pdf\n" +
			"  omnigraph blob --server http://127.0.0.1:8080 --graph files --type File --id report --property content > report.pdf",
		Args: usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := usage.Required(cmd, "type", "id", "property"); err != nil {
				return err
			}
			switch entity {
			case plan.Node.String():
				p.Entity = plan.Node
			case plan.Edge.String():
				p.Entity = plan.Edge
			default:
				return usage.Errorf("--entity is %q; it must be node or edge", entity)
			}
			ctx, done := e.within(cmd)
			defer func() { err = done(err) }()
			s, err := e.open(cmd)
			if err != nil {
				return err
			}
			b, err := s.Blob(ctx, p, at)
			if err = errors.Join(err, s.Close()); err != nil {
				return err
			}
			return outfile.Write(cmd, out, func(w io.Writer) error {
				_, err := w.Write(b)
				return err
			})
		},
	}
	e.flags(cmd)
	e.timeoutFlag(cmd)
	cmd.Flags().StringVar(&entity, "entity", plan.Node.String(), "the kind of entity that has the property: node or edge")
	_ = cmd.RegisterFlagCompletionFunc("entity", cobra.FixedCompletions([]string{"node", "edge"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVar(&p.Type, "type", "", "the type of the node or edge")
	cmd.Flags().StringVar(&p.ID, "id", "", "the id of the node or edge")
	cmd.Flags().StringVar(&p.Property, "property", "", "the name of the Blob property")
	cmd.Flags().StringVarP(&out, "out", "o", "-", "the file to write, or - for standard output")
	atFlags(cmd, &at.Branch, &at.Commit)
	return cmd
}

// Blob returns the bytes of a Blob.
func (src *source) Blob(ctx context.Context, p operations.BlobPlace, at engine.Target) ([]byte, error) {
	stream, err := src.graph.Blob(ctx, client.BlobPlace{Entity: p.Entity.String(), Type: p.Type, ID: p.ID, Property: p.Property}, readOptions(at)...)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	b, err := io.ReadAll(io.LimitReader(stream, maxBlob+1))
	if err == nil && len(b) > maxBlob {
		err = &engine.TooLarge{Resource: "bytes of the server's answer", Limit: maxBlob, Actual: int64(len(b))}
	}
	return b, err
}

// maxBlob is the maximum number of bytes that the command reads of a server's answer: 1 GiB, far
// more than a server stores in one Blob.
const maxBlob = 1 << 30
