package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
)

// imports compares omnigraph import with the imports of other databases, on the same rows as CSV and as Parquet. Each
// import runs in a process of its own with two threads, and ends when all is durable and indexed: each node by its key,
// each edge by the keys of its ends, in both directions.
type imports struct {
	graph   *social.Graph
	data    string // folder for the files of rows, of this graph only; kept
	dir     string // folder for the databases
	command string // the built omnigraph
	root    string // folder of this repository
	python  string // the Python that has LadybugDB; "" for none
	rounds  int
}

const (
	asCSV     = "csv"
	asParquet = "parquet"
	threads   = "2"
)

// importSchema is the schema of the graph. Its edges have keys, so that an import can run twice.
const importSchema = `node Person {
  slug: String @key
  name: String
  age: I32
  city: String
  bio: String
}
node Company {
  slug: String @key
  name: String
}
node Post {
  slug: String @key
  text: String
}
edge Knows: Person -> Person {
  since: Date
  @unique(src, dst)
}
edge WorksAt: Person -> Company {
  @unique(src, dst)
}
edge Authored: Person -> Post {
  @unique(src, dst)
}
`

// importMap is the map of the import; EXT stands for the format.
const importMap = `sources:
  Person.EXT: { node: Person, set: { slug: slug, name: name, age: age, city: city, bio: bio } }
  Company.EXT: { node: Company, set: { slug: slug, name: name } }
  Post.EXT: { node: Post, set: { slug: slug, text: text } }
  Knows.EXT: { edge: Knows, from: { Person: { slug: src } }, to: { Person: { slug: dst } }, set: { since: since } }
  WorksAt.EXT: { edge: WorksAt, from: { Person: { slug: src } }, to: { Company: { slug: dst } } }
  Authored.EXT: { edge: Authored, from: { Person: { slug: src } }, to: { Post: { slug: dst } } }
`

// importTable is a table of SQL, which has the name of its file.
type importTable struct{ name, columns, sqlite, duckdb string }

const (
	sqliteEnds = ", PRIMARY KEY (src, dst)) STRICT, WITHOUT ROWID;\n"
	duckEnds   = "CREATE UNIQUE INDEX NAME_key ON NAME (src, dst);\nCREATE INDEX NAME_src ON NAME (src);\nCREATE INDEX NAME_dst ON NAME (dst);\n"
	duckKey    = "CREATE UNIQUE INDEX NAME_key ON NAME (slug);\n"
)

// importTables are the tables in the order of the import. The column sqlite is the end of the statement that makes the
// table, and duckdb has the indexes, which are made after the rows.
var importTables = []importTable{
	{"Person", "slug TEXT NOT NULL, name TEXT NOT NULL, age INTEGER NOT NULL, city TEXT NOT NULL, bio TEXT NOT NULL", ", PRIMARY KEY (slug)) STRICT;\n", duckKey},
	{"Company", "slug TEXT NOT NULL, name TEXT NOT NULL", ", PRIMARY KEY (slug)) STRICT;\n", duckKey},
	{"Post", "slug TEXT NOT NULL, text TEXT NOT NULL", ", PRIMARY KEY (slug)) STRICT;\n", duckKey},
	{"Knows", "src TEXT NOT NULL, dst TEXT NOT NULL, since DATE NOT NULL", sqliteEnds, duckEnds},
	{"WorksAt", "src TEXT NOT NULL, dst TEXT NOT NULL", sqliteEnds, duckEnds},
	{"Authored", "src TEXT NOT NULL, dst TEXT NOT NULL", sqliteEnds, duckEnds},
}

// writeData writes the rows as CSV files, unless they exist.
func (m *imports) writeData() error {
	done := filepath.Join(m.data, "done")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	g := m.graph
	for name, fill := range map[string]func(add func(...any)){
		"Person": func(add func(...any)) {
			add("slug", "name", "age", "city", "bio")
			for p := range g.AllPersons() {
				add(g.PersonSlug(p.Number), p.Name, p.Age, p.City, p.Bio)
			}
		},
		"Company": func(add func(...any)) {
			add("slug", "name")
			for c := range g.AllCompanies() {
				add(g.CompanySlug(c.Number), c.Name)
			}
		},
		"Post": func(add func(...any)) {
			add("slug", "text")
			for p := range g.AllPosts() {
				add(g.PostSlug(p.Number), p.Text)
			}
		},
		"Knows": func(add func(...any)) {
			add("src", "dst", "since")
			for k := range g.Acquaintances() {
				add(g.PersonSlug(k.From), g.PersonSlug(k.To), dayTime(k.Since).Format(time.DateOnly))
			}
		},
		"WorksAt": func(add func(...any)) {
			add("src", "dst")
			for e := range g.AllWorksAt() {
				add(g.PersonSlug(e.From), g.CompanySlug(e.To))
			}
		},
		"Authored": func(add func(...any)) {
			add("src", "dst")
			for e := range g.AllAuthored() {
				add(g.PersonSlug(e.From), g.PostSlug(e.To))
			}
		},
	} {
		if err := writeCSV(filepath.Join(m.data, name+".csv"), fill); err != nil {
			return err
		}
	}
	for _, format := range []string{asCSV, asParquet} {
		if err := os.WriteFile(filepath.Join(m.data, format+".yaml"), []byte(strings.ReplaceAll(importMap, "EXT", format)), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(m.data, "schema.pg"), []byte(importSchema), 0o644); err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o644)
}

// processUse is what a process used.
type processUse struct {
	wall, cpu time.Duration // the processor time is that of the user and of the system
	memory    memory
}

// use runs a process and returns its time and its memory.
func use(cmd *exec.Cmd) (processUse, error) {
	var u processUse
	var told strings.Builder
	cmd.Stdout, cmd.Stderr = &told, &told
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+threads)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return u, err
	}
	status := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)
	stop := watchMemory(func() (memory, error) { return readMemory(status, "VmHWM", "RssAnon") })
	err := cmd.Wait()
	u.wall, u.memory = time.Since(start), stop()
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		return u, fmt.Errorf("%v: %w: %s", cmd.Args, err, told.String())
	}
	return u, nil
}

// importer is a database with an import. The function import runs the import into an empty folder.
type importer struct {
	name    string
	formats []string
	command func(ctx context.Context, dir, format string) *exec.Cmd
	before  func(ctx context.Context, dir string) error // prepares the folder; may be nil
	again   bool                                        // the command can run again on its result, which is measured too
}

// importers returns the databases that can be measured here, this engine first.
func (m *imports) importers(ctx context.Context) ([]importer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	list := []importer{{
		name: "omnigraph", formats: []string{asCSV, asParquet}, again: true,
		before: func(ctx context.Context, dir string) error {
			_, err := use(exec.CommandContext(ctx, m.command, "init", "--schema", filepath.Join(m.data, "schema.pg"), "--store", filepath.Join(dir, "store")))
			return err
		},
		command: func(ctx context.Context, dir, format string) *exec.Cmd {
			return exec.CommandContext(ctx, m.command, "import", "--store", filepath.Join(dir, "store"), "--map", filepath.Join(m.data, format+".yaml"))
		},
	}}
	if shell, err := exec.LookPath("sqlite3"); err == nil {
		list = append(list, importer{name: "SQLite", formats: []string{asCSV}, command: func(ctx context.Context, dir, _ string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, shell, "-bail", filepath.Join(dir, "graph.sqlite"))
			cmd.Stdin = strings.NewReader(m.sqliteScript())
			return cmd
		}})
	} else {
		fmt.Println("SQLite is left out, because the command sqlite3 is missing")
	}
	if _, err := newDuckDB(); err == nil {
		list = append(list, importer{name: "DuckDB", formats: []string{asCSV, asParquet}, command: func(ctx context.Context, dir, format string) *exec.Cmd {
			return exec.CommandContext(ctx, self, childArg, "-task", "import", "-peer", "DuckDB", "-dir", dir, "-file", m.data, "-format", format)
		}})
	} else {
		fmt.Println("DuckDB is left out, and without it there are no Parquet files:", err)
	}
	if m.python != "" {
		list = append(list, importer{name: "LadybugDB", formats: []string{asCSV, asParquet}, command: func(ctx context.Context, dir, format string) *exec.Cmd {
			return exec.CommandContext(ctx, m.python, "-W", "ignore::DeprecationWarning", filepath.Join(m.root, "bench", "peers", "ladybug", "imports.py"), filepath.Join(dir, "database"), m.data, format, threads)
		}})
	}
	return list, nil
}

// sqliteScript returns the input of SQLite's shell, which imports all tables in one transaction.
func (m *imports) sqliteScript() string {
	script := "PRAGMA page_size = 8192;\n" + sqliteSettings + "PRAGMA threads = " + threads + ";\nBEGIN;\n"
	var indexes string
	for _, t := range importTables {
		script += "CREATE TABLE " + t.name + " (" + strings.ReplaceAll(t.columns, "DATE", "TEXT") + t.sqlite
		script += ".import --csv --skip 1 " + strconv.Quote(filepath.Join(m.data, t.name+".csv")) + " " + t.name + "\n"
		if t.sqlite == sqliteEnds {
			indexes += "CREATE INDEX " + t.name + "_dst ON " + t.name + " (dst, src);\n"
		}
	}
	return script + indexes + "COMMIT;\n"
}

// run measures the imports in turns and prints the medians.
func (m *imports) run(ctx context.Context) error {
	if err := os.MkdirAll(m.data, 0o755); err != nil {
		return err
	}
	if err := m.writeData(); err != nil {
		return err
	}
	list, err := m.importers(ctx)
	if err != nil {
		return err
	}
	if err := m.writeParquet(ctx); err != nil {
		return err
	}
	fmt.Printf("\n%d rows, seed %d, %s keys; load averages at the start %s.\n\n", m.graph.Rows(), m.graph.Seed, &m.graph.Keys, measure.LoadAverages())
	formats := []string{asCSV}
	if _, err := os.Stat(filepath.Join(m.data, "Person."+asParquet)); err == nil {
		formats = append(formats, asParquet)
	}
	uses := map[string][]processUse{}
	for range m.rounds {
		for _, format := range formats {
			for _, i := range list {
				if !slices.Contains(i.formats, format) {
					continue
				}
				if err := m.measure(ctx, i, format, uses); err != nil {
					return fmt.Errorf("%s: %w", i.name, err)
				}
			}
		}
	}
	m.print(list, formats, uses)
	fmt.Printf("Load averages at the end: %s.\n", measure.LoadAverages())
	return nil
}

// measure runs one import, and once more if it can run again.
func (m *imports) measure(ctx context.Context, i importer, format string, uses map[string][]processUse) (err error) {
	dir, err := os.MkdirTemp(m.dir, "import-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if i.before != nil {
		if err := i.before(ctx, dir); err != nil {
			return err
		}
	}
	names := []string{i.name}
	if i.again {
		names = append(names, i.name+", merge again")
	}
	for _, name := range names {
		u, err := use(i.command(ctx, dir, format))
		if err != nil {
			return err
		}
		key := name + " " + format
		uses[key] = append(uses[key], u)
		line, err := json.Marshal(map[string]any{"import": key, "wall": u.wall.Seconds(), "cpu": u.cpu.Seconds(), "rss": u.memory.RSS, "anon": u.memory.Anon, "load": measure.LoadAverages()})
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, string(line))
	}
	return nil
}

// print prints the medians of the rounds, and the ratios to the best of the others.
func (m *imports) print(list []importer, formats []string, uses map[string][]processUse) {
	median := func(key string, of func(processUse) int64) int64 {
		var all []int64
		for _, u := range uses[key] {
			all = append(all, of(u))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	wall := func(u processUse) int64 { return int64(u.wall) }
	cpu := func(u processUse) int64 { return int64(u.cpu) }
	for _, format := range formats {
		t := &table{head: []string{"import of " + format, "wall", "rows/s", "processor", "peak anonymous", "peak resident"}}
		var walls, cpus []float64
		for _, i := range list {
			for _, name := range []string{i.name, i.name + ", merge again"} {
				key := name + " " + format
				if uses[key] == nil {
					continue
				}
				w, c := time.Duration(median(key, wall)), time.Duration(median(key, cpu))
				t.add(name, fmt.Sprintf("%.2f s", w.Seconds()), fmt.Sprintf("%.0f", float64(m.graph.Rows())/w.Seconds()), fmt.Sprintf("%.2f s", c.Seconds()),
					mega(median(key, func(u processUse) int64 { return u.memory.Anon })), mega(median(key, func(u processUse) int64 { return u.memory.RSS })))
				if name == i.name {
					walls, cpus = append(walls, w.Seconds()), append(cpus, c.Seconds())
				}
			}
		}
		t.print()
		if len(walls) > 1 {
			fmt.Printf("Time in relation to the best of the others, where 1.25 is 0.8 of its rows a second: wall %s, processor %s.\n", ratio(walls, 1.25), ratio(cpus, 1.25))
		}
		again := "omnigraph, merge again " + format
		if uses[again] != nil {
			first := "omnigraph " + format
			fmt.Printf("A second merge in relation to the first import: wall %s, processor %s.\n\n", ratio([]float64{float64(median(again, wall)), float64(median(first, wall))}, 1.5),
				ratio([]float64{float64(median(again, cpu)), float64(median(first, cpu))}, 1.5))
		}
	}
}
