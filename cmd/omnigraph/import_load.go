package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
)

// checkCommitEvery checks what an import in several commits cannot do.
func (f *importFlags) checkCommitEvery(cmd *cobra.Command, mode engine.LoadMode) error {
	if !cmd.Flags().Changed("commit-every") {
		return nil
	}
	switch {
	case f.commitEvery < 1:
		return usage.Errorf("--commit-every is %d; it must be 1 or more", f.commitEvery)
	case !mode.Finds():
		return usage.Errorf("--commit-every needs --mode merge or patch, which can run again if the import ends early")
	case f.dryRun, f.key != "", f.ifCommit != "":
		return usage.Errorf("--commit-every makes several commits; leave out --dry-run, --idempotency-key and --if-commit, which are about one")
	}
	return nil
}

// load loads the stream of an import, in one commit or in several. If it finds faults in lines, the error has the places of their
// records.
func (f *importFlags) load(ctx context.Context, s *source, in *dataimport.Import, opts engine.LoadOptions) (*client.LoadAnswer, error) {
	stream := in.Stream(ctx)
	part := &linesOf{r: bufio.NewReaderSize(stream, 64<<10), most: f.commitEvery}
	from, failed := f.from, "nothing was imported"
	var all *client.LoadAnswer
	commits := 0
	for {
		before := part.lines
		part.left = part.most
		res, err := s.Load(ctx, &loadData{r: part, from: from}, opts)
		if err != nil {
			if fault := stream.Err(); fault != nil {
				err = fmt.Errorf("%s:\n%w", failed, fault)
			} else {
				err = f.explain(ctx, in, err, before, failed)
			}
			return nil, errors.Join(err, stream.Close())
		}
		all = addAnswer(all, res)
		if res.Commit != nil {
			commits++
		}
		from = "" // the branch exists now
		failed = fmt.Sprintf("imported so far: %s in %s; run the import again when this is mended",
			plural(part.lines, "entity"), plural(int64(commits), "commit"))
		if part.more() {
			continue
		}
		if fault := stream.Err(); fault != nil {
			return nil, errors.Join(fmt.Errorf("%s:\n%w", failed, fault), stream.Close())
		}
		return all, stream.Close()
	}
}

// explain returns the error of a load with the places of the records of its lines, which follow `before` other lines.
func (f *importFlags) explain(ctx context.Context, in *dataimport.Import, err error, before int64, failed string) error {
	lines, more := loadFaults(err)
	if len(lines) == 0 {
		if before > 0 {
			return fmt.Errorf("%s: %w", failed, err)
		}
		return err
	}
	for i := range lines {
		lines[i].Line += before
	}
	faults, fault := in.Explain(ctx, lines, more)
	if fault != nil {
		return errors.Join(err, fault)
	}
	return fmt.Errorf("%s:\n%w", failed, faults)
}

// linesOf reads a number of lines, and then ends until `left` is set again.
type linesOf struct {
	r     *bufio.Reader
	most  int64 // lines at a time; 0 for all
	left  int64 // lines that may still be read
	lines int64 // lines that were read
}

// Read implements [io.Reader].
func (l *linesOf) Read(p []byte) (int, error) {
	if l.most == 0 {
		return l.r.Read(p)
	}
	if l.left == 0 {
		return 0, io.EOF
	}
	if _, err := l.r.Peek(1); err != nil {
		return 0, err
	}
	b, _ := l.r.Peek(min(l.r.Buffered(), len(p)))
	n := 0
	for n < len(b) && l.left > 0 {
		if b[n] == '\n' {
			l.left--
			l.lines++
		}
		n++
	}
	copy(p, b[:n])
	return l.r.Discard(n)
}

// more reports whether lines follow.
func (l *linesOf) more() bool {
	_, err := l.r.Peek(1)
	return err == nil
}

// addAnswer adds the answer to a load to that of the loads before, which may be nil.
func addAnswer(all, res *client.LoadAnswer) *client.LoadAnswer {
	if all == nil {
		return res
	}
	all.Nodes, all.Edges = addTypes(all.Nodes, res.Nodes), addTypes(all.Edges, res.Edges)
	all.TotalEntities += res.TotalEntities
	all.Commit = cmp.Or(res.Commit, all.Commit)
	for _, n := range res.Notes {
		if !slices.Contains(all.Notes, n) {
			all.Notes = append(all.Notes, n)
		}
	}
	for _, c := range []struct{ to, of **client.ChangeCounts }{{&all.NodeChanges, &res.NodeChanges}, {&all.EdgeChanges, &res.EdgeChanges}} {
		if *c.to == nil || *c.of == nil {
			*c.to = cmp.Or(*c.to, *c.of)
			continue
		}
		(*c.to).Inserted += (*c.of).Inserted
		(*c.to).Updated += (*c.of).Updated
		(*c.to).Deleted += (*c.of).Deleted
	}
	return all
}

// addTypes adds the counts of types.
func addTypes(all, more []client.LoadedType) []client.LoadedType {
	for _, t := range more {
		if i := slices.IndexFunc(all, func(o client.LoadedType) bool { return o.Name == t.Name }); i >= 0 {
			all[i].EntitiesLoaded += t.EntitiesLoaded
		} else {
			all = append(all, t)
		}
	}
	return all
}
