package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/outfile"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/postgres"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/remote"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/parquet"
)

func init() { graphVerbs = append(graphVerbs, newImport) }

// importFlags are the flags of omnigraph import.
type importFlags struct {
	graphFlags
	writeFlags
	loadFlags
	mapFile, branch, from string
	commitEvery           int64  // entities in a commit; 0 for one commit
	rejects               string // file for the records that do not fit; "" to collect none
	maxRejects            int
}

// newImport makes the command omnigraph import.
func newImport() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import (--store DIR | --server URL --graph ID) (--map import.yaml [FILE…] [postgres://…] | FOLDER)",
		Short: "Import CSV, JSON, Parquet and other files into a graph",
		Long: `Import files into a graph as one commit, as the map import.yaml says: which nodes and
edges the records of each file become, and how their values are written.
docs/import.md explains the map.

A source may also be a table or a query of a PostgreSQL database, which the map or an argument
names, such as postgres://user@host/database. All tables are read as they were at one time.

Without FILE the command reads the files that the map names, relative to its folder. A FILE
replaces the source with the same name or pattern, or the only source; - is standard input.
A file may be a URL: https://, s3://, gs:// or azblob://; the command copies it to a temporary file.
Files may be compressed with gzip or zstd. A FOLDER that omnigraph export --format parquet wrote
needs no map.

If a value does not fit, the command imports nothing, and lists up to a hundred values with
file, line, column and reason. With --rejects it writes the records that do not fit to a file, as
JSON lines, and imports the others.

Modes: merge replaces entities that exist, patch sets only what the map sets, append refuses them,
overwrite first removes every entity of the types that occur in the files, and sync also lets go
what the --source brought before and lacks now.`,
		Example: "  omnigraph import --store data/people --map import.yaml\n" +
			"  omnigraph import --store data/people --map import.yaml --rejects rejects.ndjson --max-rejects 50\n" +
			"  omnigraph import --server http://127.0.0.1:8080 --graph people --map import.yaml june.csv --branch june --from main\n" +
			"  omnigraph import --store data/copy exported",
		RunE: f.run,
	}
	f.graphFlags.flags(cmd)
	cmd.Flags().StringVar(&f.mapFile, "map", "", "the map: a file such as import.yaml")
	f.loadFlags.flags(cmd)
	cmd.Flags().StringVar(&f.branch, "branch", "", "the branch to import into (default: main)")
	cmd.Flags().StringVar(&f.from, "from", "", "the branch from which to create --branch, if --branch does not exist")
	cmd.Flags().StringVar(&f.rejects, "rejects", "", "write the records that do not fit to this `FILE`, and import the others")
	cmd.Flags().IntVar(&f.maxRejects, "max-rejects", 100, "with --rejects, import nothing if more records do not fit")
	cmd.Flags().Int64Var(&f.commitEvery, "commit-every", 0, "for very long imports: commit after each `N` nodes or edges, in place of one commit")
	f.writeFlags.flags(cmd)
	cmd.AddCommand(newImportInfer(), newImportFollow())
	return cmd
}

// run runs the command.
func (f *importFlags) run(cmd *cobra.Command, args []string) (err error) {
	if err := f.endpoint.check(); err != nil {
		return err
	}
	opts, err := f.loadFlags.options(f.writeFlags.options(f.branch))
	if err != nil {
		return err
	}
	switch {
	case f.from != "" && f.branch == "":
		return usage.Errorf("--from needs --branch; name the branch to create with --branch")
	case f.maxRejects < 1:
		return usage.Errorf("--max-rejects is %d; it must be 1 or more", f.maxRejects)
	case cmd.Flags().Changed("max-rejects") && f.rejects == "":
		return usage.Errorf("--max-rejects needs --rejects; name the file for the records that do not fit")
	}
	if err := f.checkCommitEvery(cmd, opts.Mode); err != nil {
		return err
	}
	text, dir, err := f.mapText(cmd, &args)
	if err != nil {
		return err
	}
	m, faults := dataimport.Parse(f.mapFile, text)
	if showFaults(cmd, faults); faults.HasErrors() {
		return fmt.Errorf("%s has errors; nothing was imported", f.mapFile)
	}
	db, files, err := f.open(cmd.Context(), m, dir, args)
	if err != nil {
		return err
	}
	if db != nil {
		defer func() { err = errors.Join(err, db.Close()) }()
	}
	bar := &importProgress{Progress: terminal.NewProgress(cmd.ErrOrStderr()), stage: "copying"}
	local := &remote.Copies{Count: bar.add}
	defer func() { err = errors.Join(err, local.Remove()) }()
	err = local.Copy(cmd.Context(), cmd.InOrStdin(), files)
	bar.Done()
	if err != nil {
		return err
	}
	return f.graphFlags.run(cmd, func(ctx context.Context, s *source) (*report, error) {
		return f.importFiles(ctx, cmd, s, m, files, opts)
	})
}

// open connects to the database of the map, if it has sources there, and returns the files of all sources. An argument that is
// the URL of a database replaces the one in the map.
func (f *importFlags) open(ctx context.Context, m *dataimport.Map, dir string, args []string) (*postgres.Database, [][]record.File, error) {
	var given []string
	named := false
	for _, a := range args {
		if !postgres.Is(a) {
			given = append(given, a)
			continue
		}
		if named || !m.InDatabase() {
			return nil, nil, usage.Errorf("the arguments name a database, but %s", map[bool]string{true: "only one is possible", false: "no source of the map has a table or a query"}[named])
		}
		m.Database, named = a, true
	}
	files, err := m.Files(dir, given)
	if err != nil || !m.InDatabase() || len(given) > 0 && !named {
		return nil, files, err
	}
	if m.Database == "" {
		return nil, nil, usage.Errorf("%s has tables and names no database; add database: postgres://user@host/database to it, or name the URL after it", f.mapFile)
	}
	if !named {
		if err := m.CheckDatabase(); err != nil {
			return nil, nil, err
		}
	}
	db, err := postgres.Open(ctx, m.Database)
	if err != nil {
		return nil, nil, err
	}
	if err := db.Attach(m, files); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, files, nil
}

// mapText returns the text of the map, and the folder to which its sources are relative. If there is no map and the one
// argument is the folder of a Parquet export, it makes the map and removes the argument.
func (f *importFlags) mapText(cmd *cobra.Command, args *[]string) (text []byte, dir string, err error) {
	if f.mapFile == "" && len(*args) == 1 {
		dir = (*args)[0]
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			f.mapFile, *args = filepath.Join(dir, parquet.ManifestName), nil
			made, err := dataimport.MapOfExport(dir)
			return []byte(made), dir, err
		}
	}
	if err := usage.Required(cmd, "map"); err != nil {
		return nil, "", err
	}
	text, err = os.ReadFile(f.mapFile)
	return text, filepath.Dir(f.mapFile), err
}

// importFiles imports the files of a map.
func (f *importFlags) importFiles(ctx context.Context, cmd *cobra.Command, s *source, m *dataimport.Map, files [][]record.File, opts engine.LoadOptions) (*report, error) {
	schema, at, err := f.schema(ctx, s)
	if err != nil {
		return nil, err
	}
	plan, faults := dataimport.NewPlan(m, schema, dataimport.Options{NewNodes: !opts.Mode.Finds(), Partial: opts.Mode.Patches()})
	if showFaults(cmd, faults); faults.HasErrors() {
		return nil, fmt.Errorf("%s does not fit the schema of the graph; nothing was imported", f.mapFile)
	}
	if opts.Mode == engine.Sync {
		opts.Sync.Types = m.Types()
	}
	bar := &importProgress{Progress: terminal.NewProgress(cmd.ErrOrStderr())}
	in := dataimport.New(plan, files, bar.add)
	bar.total = in.Size()
	defer bar.Done()
	if in.Lookups() {
		bar.begin("finding the ends of edges")
		if err := in.Prepare(ctx, &nodeFinder{s, at, schema}, opts.Mode == engine.Overwrite); err != nil {
			return nil, err
		}
	}
	if f.rejects == "" {
		bar.begin("importing")
		res, err := f.load(ctx, s, in, opts)
		if err != nil {
			return nil, err
		}
		return loadReport(res), nil
	}
	var res *client.LoadAnswer
	err = outfile.Write(cmd, f.rejects, func(w io.Writer) error {
		in.Reject(w, f.maxRejects)
		bar.begin("checking")
		if err := in.Check(ctx); err != nil {
			return fmt.Errorf("nothing was imported: %w", err)
		}
		for {
			bar.begin("importing")
			before := in.Rejected()
			if before > 0 {
				opts.Sync.Types = nil // what was rejected is not lost
			}
			if res, err = f.load(ctx, s, in, opts); err == nil {
				return nil
			}
			if over := in.Over(); over != nil {
				return fmt.Errorf("nothing was imported: %w", over)
			}
			if in.Rejected() == before {
				return err
			}
		}
	})
	if err != nil {
		return nil, err
	}
	r := loadReport(res)
	if n := in.Rejected(); n > 0 {
		r.note += fmt.Sprintf("; %s did not fit: %s", plural(int64(n), "record"), f.rejects)
		if opts.Mode == engine.Sync {
			r.note += "; so nothing that the files lack was let go"
		}
	}
	return r, nil
}

// schema returns the schema of the branch to import into, and the state from which the import starts.
func (f *importFlags) schema(ctx context.Context, s *source) (*catalog.Schema, engine.Target, error) {
	at := engine.Target{Branch: f.branch}
	a, err := s.graph.Schema(ctx, readOptions(at)...)
	var missing *engine.NotFound
	if f.from != "" && (errors.As(err, &missing) || errors.Is(err, client.ErrNotFound)) {
		at.Branch = f.from
		a, err = s.graph.Schema(ctx, readOptions(at)...)
	}
	if err != nil {
		return nil, at, err
	}
	compiled, found := compile.StoredSchema(compile.Source{Name: "the graph's schema", Text: a.SchemaSource})
	if err := found.Err(); err != nil {
		return nil, at, fmt.Errorf("this omnigraph cannot read the graph's schema; if it is older than the server, install a newer version: %w", err)
	}
	return compiled, at, nil
}

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

// importProgress shows how much of the files was read.
type importProgress struct {
	*terminal.Progress
	stage       string
	read, total int64 // bytes; the total is 0 if it is unknown
}

// begin starts a stage.
func (p *importProgress) begin(stage string) { p.stage, p.read = stage, 0 }

// add counts bytes that were read.
func (p *importProgress) add(n int) {
	p.read += int64(n)
	p.ShowBytes(p.stage, p.read, p.total)
}
