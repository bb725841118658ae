package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
)

// newLoad makes the command omnigraph load.
func newLoad() *cobra.Command {
	var f graphFlags
	var w writeFlags
	var data, branch, from string
	var l loadFlags
	cmd := &cobra.Command{
		Use:   "load (--store DIR | --server URL --graph ID) --data FILE",
		Short: "Load NDJSON into a graph as one commit",
		Long: `Load NDJSON into a graph as one commit.

Each line is one entity: {"type":"Person","data":{…}} or
{"edge":"Knows","from":"<id>","to":"<id>","data":{…}}. At an end for which the schema
names an interface, the id is an object: {"type":"Person","id":"<id>"}. If a line has
an error, the command loads nothing and lists the lines with errors.

Modes: merge replaces entities that exist, patch changes only the properties in a line
(null clears one), append refuses entities that exist, overwrite first removes every
entity of the types that occur in the file.

merge and patch can run again with the same file. A node is found by its key or its id,
an edge by its id or by the first @unique of its type that has src and dst. They refuse
what a second run would double: load it with append or, if it is an edge, --new-edges.
A new edge gets an id that its type, its ends and the other members of the @unique give.

sync follows a source that has a name: it patches, and lets go of what the source claimed
before and lacks now. See "Loading again" in docs/commands.md.

With --from the command creates the branch if it does not exist, and removes it again if
the load fails. To a server the command sends data of more than 8 MiB in pieces. If the
connection breaks, it continues where the server stopped to receive.`,
		Example: "  omnigraph load --store data/people --data seed.jsonl --mode overwrite\n" +
			"  omnigraph load --store data/people --data seed.jsonl --branch june --from main\n" +
			"  omnigraph index go ./... | omnigraph load --store data/code --data -\n" +
			"  omnigraph load --server http://127.0.0.1:8080 --graph people --data seed.jsonl",
		Args: usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := f.endpoint.check(); err != nil {
				return err
			}
			if err := usage.Required(cmd, "data"); err != nil {
				return err
			}
			opts, err := l.options(w.options(branch))
			if err != nil {
				return err
			}
			if from != "" && branch == "" {
				return usage.Errorf("--from needs --branch; name the branch to create with --branch")
			}
			in, name := &loadData{r: cmd.InOrStdin()}, "standard input"
			if data != "-" {
				if in, err = openData(data); err != nil {
					return err
				}
				defer in.close()
				name = data
			}
			in.from = from
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				bar := terminal.NewProgress(cmd.ErrOrStderr())
				in.progress = func(lines int64) { bar.Show("loading lines", int(lines), 0) }
				res, err := s.Load(ctx, in, opts)
				bar.Done()
				if err != nil {
					return nil, fmt.Errorf("%s: nothing was loaded: %w", name, err)
				}
				return loadReport(res), nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&data, "data", "", "the NDJSON file, or - for standard input")
	l.flags(cmd)
	cmd.Flags().StringSliceVar(&l.sync.Types, "types", nil, "with sync: the types in which the load lets go of what the file lacks")
	cmd.Flags().StringVar(&branch, "branch", "", "the branch to load into (default: main)")
	cmd.Flags().StringVar(&from, "from", "", "the branch from which to create --branch, if --branch does not exist")
	w.flags(cmd)
	return cmd
}

// loadFlags are the flags that say what a load does with entities that exist.
type loadFlags struct {
	mode               string
	newEdges, lastWins bool
	sync               engine.SyncOptions
}

// flags adds the flags to a command.
func (l *loadFlags) flags(cmd *cobra.Command) {
	modes := engine.LoadModes()
	cmd.Flags().StringVar(&l.mode, "mode", engine.Merge.String(), "what to do with entities that exist: merge, patch, append, overwrite or sync")
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(modes, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().BoolVar(&l.newEdges, "new-edges", false, "with merge and patch: edges that nothing identifies are new edges")
	cmd.Flags().BoolVar(&l.lastWins, "last-wins", false, "with merge and patch: of several lines with one entity the last stands")
	cmd.Flags().StringVar(&l.sync.Source, "source", "", "with sync: the name of the source")
	cmd.Flags().StringSliceVar(&l.sync.Yield, "yield", nil, "with sync: leave these properties (Type.property) to other sources that own them")
	cmd.Flags().BoolVar(&l.sync.Cascade, "cascade", false, "with sync: delete nodes together with edges that the source does not own")
	cmd.Flags().Int64Var(&l.sync.ApproveDeletes, "approve-deletes", 0, "with sync: delete exactly this number of entities, more than a fifth of a type's")
}

// options returns the options of a load with the given options of a write.
func (l *loadFlags) options(w engine.WriteOptions) (engine.LoadOptions, error) {
	mode, ok := engine.ParseLoadMode(l.mode)
	if !ok {
		return engine.LoadOptions{}, usage.Errorf("--mode is %q; it must be merge, patch, append, overwrite or sync", l.mode)
	}
	return engine.LoadOptions{WriteOptions: w, Mode: mode, NewEdges: l.newEdges, LastWins: l.lastWins, Sync: l.sync}, nil
}

// loadData holds the data to load, and the branch to create for it.
type loadData struct {
	r        io.Reader
	file     io.Seeker         // the same data; nil if it can be read only once
	close    func() error      // closes the source of the data
	progress func(lines int64) // called with the number of lines read so far
	lines    int64             // number of lines read so far
	// A load may first create its branch. The field `from` is then the parent of that branch;
	// otherwise it is "".
	from string
}

// openData opens a file, which may be a pipe.
func openData(path string) (*loadData, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	d := &loadData{r: file, close: file.Close}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		d.file = file
	}
	return d, nil
}

// Seek implements io.Seeker, which tells the client the length of the data. The count of lines starts over.
func (d *loadData) Seek(offset int64, whence int) (int64, error) {
	if d.file == nil {
		return 0, errors.ErrUnsupported
	}
	d.lines = 0
	return d.file.Seek(offset, whence)
}

// Read implements io.Reader and reports the progress.
func (d *loadData) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	d.lines += int64(bytes.Count(p[:n], []byte("\n")))
	if d.progress != nil {
		d.progress(d.lines)
	}
	return n, err
}

// loadReport returns the report of a load.
func loadReport(res *client.LoadAnswer) *report {
	type typeRow struct {
		EntityKind string `json:"entity_kind"`
		client.LoadedType
	}
	r := &report{doc: res, columns: columns("entity_kind", "name", "entities_loaded"), rows: []any{}}
	for _, t := range res.Nodes {
		r.rows = append(r.rows, typeRow{"node", t})
	}
	for _, t := range res.Edges {
		r.rows = append(r.rows, typeRow{"edge", t})
	}
	switch {
	case len(r.rows) == 0:
		r.note = "the input has no entities; nothing was committed"
	case res.Commit == nil:
		r.note = "nothing was committed"
	default:
		r.note = "commit " + res.Commit.GraphCommitID
	}
	r.note = withEffects(r.note, &res.WriteEffects)
	if s := res.Sync; s != nil {
		r.note += fmt.Sprintf("; sync: %d overwritten, %d released, %d deleted, %d cascaded, %d kept", s.Overwritten, s.Released, s.Deleted, s.Cascaded, s.Kept)
		for _, n := range s.KeptNodes {
			r.note += fmt.Sprintf("\n%s %q stays: it has an edge that the source does not own; delete both with --cascade", n.Type, n.ID)
		}
	}
	return r
}

// Load loads NDJSON.
func (src *source) Load(ctx context.Context, data *loadData, opts engine.LoadOptions) (*client.LoadAnswer, error) {
	load := client.LoadQuery{Branch: opts.Branch, From: data.from, Mode: opts.Mode.String(), NewEdges: opts.NewEdges, LastWins: opts.LastWins, DryRun: opts.DryRun,
		Source: opts.Sync.Source, Types: opts.Sync.Types, Yield: opts.Sync.Yield, Cascade: opts.Sync.Cascade, ApproveDeletes: opts.Sync.ApproveDeletes}
	if c := opts.Changes; c != nil {
		load.Followed, load.After, load.Position = c.Source, c.After, c.Position
	}
	a, err := src.graph.Load(ctx, data, load, writeOptions(opts.WriteOptions)...)
	var here *engine.Conflict // in a store
	var refused *client.Error // by a server
	switch {
	case errors.As(err, &here):
		here.Reason = approveMember.ReplaceAllString(here.Reason, approveFlag)
	case !errors.As(err, &refused):
	case errors.Is(err, client.ErrConflict):
		refused.Message = approveMember.ReplaceAllString(refused.Message, approveFlag)
	case errors.Is(err, client.ErrTooLarge) && refused.ResourceLimit == nil:
		err = fmt.Errorf("%w\n%s", err, tooLargeToLoad)
	}
	return a, err
}

// approveMember matches how the refusal of a sync names the member of a request, and approveFlag is the flag of the commands
// for it.
var approveMember = regexp.MustCompile(`\bapprove_deletes (\d+)`)

const approveFlag = "--approve-deletes $1"

// tooLargeToLoad is the advice if a load is too large for the server.
const tooLargeToLoad = "The limit is limits.load_bytes in cluster.yaml. Load the file on the machine that has the store, with --store DIR; or split it at the ends of lines and load the parts, nodes before edges,\n" +
	"into a separate branch (--branch NAME --from main); omnigraph merge NAME --into main --delete-branch then adds all of the data to main at once."
