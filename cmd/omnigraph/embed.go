package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

const (
	// embedBatch is the number of rows of one commit, and so the maximum number of texts of one request to the provider.
	embedBatch = 100
	// embedPatience is how long the verb tries one commit while the provider or the graph is unavailable.
	embedPatience = 15 * time.Minute
	// embedShown is the number of refused rows that a table shows.
	embedShown = 10
)

// init adds the verb of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newEmbed) }

// newEmbed makes the command omnigraph embed.
func newEmbed() *cobra.Command {
	var f graphFlags
	var missing, dryRun bool
	var types []string
	var branch, message string
	cmd := &cobra.Command{
		Use:   "embed (--store DIR | --server URL --graph ID) (--missing | --type T)",
		Short: "Compute the vectors that stored rows lack",
		Long: `Compute the vectors of the properties with @embed that stored rows lack, with the embedding
provider of the graph: after a schema change to another length or model, or for rows that
were written without a provider. With --type only those of some types.

Each commit has at most 100 rows. A row that was changed or deleted meanwhile is not
overwritten. Rows whose text is part of the key wait for the next round if the branch got
another commit meanwhile. You can stop the command at any time and run it again: it goes
on with the rows that still have no vector. If the provider is unavailable or asks to
wait, the command waits, for a quarter of an hour at most; if its settings are at fault,
such as the key, the command ends. A text that the provider refuses, or that is too large
for an answer, is reported with the id of its row, the others go on, and the exit code is 1.

To compute vectors anew, first set them to null with a mutation. The command sends
queries and mutations as texts, so the policy must allow them.`,
		Example: "  omnigraph embed --store data/people --missing --dry-run\n" +
			"  omnigraph embed --server http://127.0.0.1:8080 --graph people --missing -m 'Embed with the new model'",
		Args: usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if missing == (len(types) > 0) {
				return usage.Errorf("give either --missing, for all types, or --type with the names of some; see %s --help", cmd.CommandPath())
			}
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				e := &embedder{graph: s.graph, branch: branch, message: message, dryRun: dryRun, notes: cmd.ErrOrStderr(), patience: embedPatience}
				return e.run(ctx, types)
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&missing, "missing", false, "the rows of all types that lack a vector")
	cmd.Flags().StringSliceVar(&types, "type", nil, "the rows of these types that lack a vector")
	cmd.Flags().StringVar(&branch, "branch", "", "the branch to write to (default: main)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only count the rows that lack a vector")
	messageVar(cmd, &message)
	return cmd
}

// embedder computes missing vectors. It reads the rows that lack one, and writes to each the text that it has: a write of the
// source text makes the graph compute a vector that is null.
type embedder struct {
	graph           *client.Graph
	branch, message string
	dryRun          bool
	notes           io.Writer // for people who wait
	patience        time.Duration

	bar     *terminal.Progress
	refused []embedRefusal
}

// embedProperty reports what happened to the rows of one property.
type embedProperty struct {
	Type     string `json:"type_name"`
	Property string `json:"property"`
	Embedded int64  `json:"embedded"`     // rows that got a vector
	Present  int64  `json:"present"`      // rows that had a vector before
	Missing  int64  `json:"missing"`      // rows with a text that have no vector afterwards
	Textless int64  `json:"without_text"` // rows without a text
	Refused  int64  `json:"refused"`      // rows whose text the provider refused, or that is too large

	edge   bool
	source string            // name of the property with the text
	known  map[string]string // texts that were refused, by id
	write  string            // mutation that embeds the rows of its parameter
	key    []string          // properties of the key, if the source is one of them
	commit string            // last commit of the branch that the command knows of
}

// embedRefusal is a row whose text the provider refused, or that is too large.
type embedRefusal struct {
	Type     string `json:"type_name"`
	Property string `json:"property"`
	ID       string `json:"id"`
	Message  string `json:"message"`
}

// embedRow is a row that lacks a vector.
type embedRow struct {
	ID   string            `json:"id"`
	Text string            `json:"text"`
	Key  []json.RawMessage `json:"-"` // if the text is a part of it
}

// run embeds the rows of the types, or of all types if `types` is empty. The report is not nil if some rows may have been
// embedded.
func (e *embedder) run(ctx context.Context, types []string) (*report, error) {
	stored, err := e.graph.Schema(ctx, client.OnBranch(e.branch))
	if err != nil {
		return nil, err
	}
	schema, faults := compile.StoredSchema(compile.Source{Name: "schema", Text: stored.SchemaSource})
	if faults.HasErrors() {
		return nil, &wireerror.Rejected{Diagnostics: faults, Sources: map[string]string{"schema": stored.SchemaSource}}
	}
	properties, err := embeddedProperties(schema, types)
	if err != nil {
		return nil, err
	}
	e.bar = terminal.NewProgress(e.notes)
	defer e.bar.Done()
	for _, p := range properties {
		if err = e.count(ctx, p); err == nil && !e.dryRun {
			err = e.fill(ctx, p)
		}
		if err != nil {
			break
		}
	}
	e.bar.Done()
	var done, refused, missing int64
	for _, p := range properties {
		done += p.Embedded
		refused += p.Refused
		missing += p.Missing
	}
	switch {
	case err != nil && done > 0:
		err = fmt.Errorf("%w; %s embedded and committed, run the command again to go on", err, plural(done, "row"))
	case err != nil || e.dryRun:
	case refused > 0:
		err = fmt.Errorf("refused %s, whose rows have no vector", plural(refused, "text"))
	case missing > 0:
		err = fmt.Errorf("%s changed while their vectors were computed; run the command again", plural(missing, "row"))
	}
	return e.report(properties), err
}

// report describes what happened.
func (e *embedder) report(properties []*embedProperty) *report {
	r := &report{
		doc:     map[string]any{"properties": append([]*embedProperty{}, properties...), "refused": append([]embedRefusal{}, e.refused...), "dry_run": e.dryRun},
		columns: columns("type_name", "property", "embedded", "present", "missing", "without_text", "refused"),
		rows:    rowsOf(properties),
	}
	var lines []string
	if len(properties) == 0 {
		lines = append(lines, "no property has @embed")
	}
	for _, x := range e.refused[:min(len(e.refused), embedShown)] {
		lines = append(lines, fmt.Sprintf("%s %q, %s: %s", x.Type, x.ID, x.Property, x.Message))
	}
	if more := len(e.refused) - embedShown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d others; --format json lists them", more))
	}
	r.note = strings.Join(lines, "\n")
	return r
}

// embeddedProperties lists the properties with @embed of the types, or of all types.
func embeddedProperties(s *catalog.Schema, types []string) (list []*embedProperty, err error) {
	var names []string
	found := map[string]bool{}
	add := func(typ string, edge bool, props []*catalog.Property) {
		names = append(names, typ)
		if len(types) > 0 && !slices.Contains(types, typ) {
			return
		}
		for _, p := range props {
			if p.Embed != nil {
				found[typ] = true
				e := &embedProperty{Type: typ, Property: p.Name, edge: edge, source: p.Embed.Source, known: map[string]string{}}
				e.write = fmt.Sprintf("query q($rows: [{ id: String, text: String }]) { for $r in $rows { update %s set { %s: $r.text } where id = $r.id and %s = $r.text } }", typ, e.source, e.source)
				list = append(list, e)
			}
		}
	}
	for _, n := range s.Nodes {
		before := len(list)
		add(n.Name, false, n.Properties)
		for _, p := range list[before:] {
			if n.IsKey(p.source) {
				if err := p.upsert(n); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, x := range s.Edges {
		add(x.Name, true, x.Properties)
	}
	for _, t := range types {
		switch {
		case !slices.Contains(names, t):
			return nil, usage.Errorf("--type is %q, which the schema does not have; %s", t, cmp.Or(diag.DidYouMean(t, names), "it has "+strings.Join(names, ", ")))
		case !found[t]:
			return nil, usage.Errorf("--type is %q, which has no property with @embed", t)
		}
	}
	return list, nil
}

// upsert lets the mutation assign the key, which no update can. Each other property that it must assign, and each other vector
// of the same text, gets the value that it has.
func (p *embedProperty) upsert(n *catalog.Node) error {
	p.key = n.Key
	var fields, set []string
	for i, k := range n.Key {
		fields = append(fields, fmt.Sprintf("k%d: %s", i, n.Property(k).Type))
		set = append(set, fmt.Sprintf("%s: $r.k%d", k, i))
	}
	for _, x := range n.Properties {
		also := x.Embed != nil && x.Embed.Source == p.source && x.Name != p.Property
		if n.IsKey(x.Name) || x.Type.Nullable && !also {
			continue
		}
		if x.Type.Kind == value.Blob {
			return fmt.Errorf("%s.%s is computed from the key, which only an upsert can write, and no upsert can keep the required Blob %s; "+
				"load a line with the key of each such %s, without %s, in the mode patch: omnigraph load --mode patch", p.Type, p.Property, x.Name, p.Type, p.Property)
		}
		set = append(set, x.Name+": "+x.Name)
	}
	p.write = fmt.Sprintf("query q($rows: [{ %s }]) { for $r in $rows { upsert %s { %s } } }", strings.Join(fields, ", "), p.Type, strings.Join(set, ", "))
	return nil
}

// pattern returns the clause of a match that binds $x to each entity of the type.
func (p *embedProperty) pattern() string {
	if p.edge {
		return "$_ $x:" + strings.ToLower(p.Type[:1]) + p.Type[1:] + " $_"
	}
	return "$x: " + p.Type
}

// count sets the numbers of rows before the work.
func (e *embedder) count(ctx context.Context, p *embedProperty) error {
	for _, c := range []struct {
		to   *int64
		cond string
	}{
		{&p.Present, "$x." + p.Property + " is not null"},
		{&p.Missing, "$x." + p.Property + " is null  $x." + p.source + " is not null"},
		{&p.Textless, "$x." + p.Property + " is null  $x." + p.source + " is null"},
	} {
		var err error
		if *c.to, err = e.number(ctx, "query q() { match { "+p.pattern()+"  "+c.cond+" } return { count($x.id) as n } }", ""); err != nil {
			return err
		}
	}
	return nil
}

// number returns the column n of a query for one row; the query may have the parameter id.
func (e *embedder) number(ctx context.Context, text, id string) (int64, error) {
	body := client.QueryBody{Query: text, Branch: e.branch}
	if id != "" {
		body.Params = map[string]string{"id": id}
	}
	return patient(ctx, e, func() (int64, error) {
		a, err := e.graph.Query(ctx, body)
		if err != nil {
			return 0, err
		}
		var row struct{ N int64 }
		err = a.Rows[0].Decode(&row)
		return row.N, err
	})
}

// fill embeds the rows of a property that lack a vector. Rows that changed meanwhile wait for the next round; there is one as
// long as the last one embedded something.
func (e *embedder) fill(ctx context.Context, p *embedProperty) error {
	total := p.Missing
	for {
		before, after, left := p.Embedded, "", int64(0)
		p.Refused = 0
		for {
			rows, err := e.page(ctx, p, after)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				break
			}
			after = rows[len(rows)-1].ID
			rows = slices.DeleteFunc(rows, func(r embedRow) bool {
				text, known := p.known[r.ID]
				known = known && text == r.Text
				if known {
					p.Refused++
				}
				return known
			})
			was, refused := p.Embedded, p.Refused
			if err := e.rows(ctx, p, rows); err != nil {
				return err
			}
			left += int64(len(rows)) - (p.Embedded - was) - (p.Refused - refused)
			p.Missing = max(total-p.Embedded, 0)
			e.bar.Show("embedding "+p.Type+"."+p.Property, int(min(p.Embedded, total)), int(total))
		}
		if p.Missing = left + p.Refused; left == 0 || p.Embedded == before {
			return nil
		}
	}
}

// page reads the next rows that lack a vector, in the order of their ids. It skips a row whose text exceeds an answer, and
// reports it as refused.
func (e *embedder) page(ctx context.Context, p *embedProperty, after string) ([]embedRow, error) {
	columns := "$x.id as id, $x." + p.source + " as text"
	for i, k := range p.key {
		columns += fmt.Sprintf(", $x.%s as k%d", k, i)
	}
	var err error
	for _, limit := range []int32{embedBatch, 1} {
		var rows []embedRow
		rows, err = e.after(ctx, p, after, columns, limit)
		if !errors.As(err, new(*wireerror.Oversize)) && !errors.Is(err, client.ErrTooLarge) {
			return rows, err
		}
	}
	first, failed := e.after(ctx, p, after, "$x.id as id", 1)
	if failed != nil || len(first) == 0 {
		return nil, cmp.Or(failed, err)
	}
	id := first[0].ID
	if _, known := p.known[id]; !known {
		p.known[id] = ""
		e.refused = append(e.refused, embedRefusal{p.Type, p.Property, id, err.Error()})
	}
	p.Refused++
	return e.page(ctx, p, id)
}

// after reads columns of the rows that lack a vector and have greater ids.
func (e *embedder) after(ctx context.Context, p *embedProperty, id, columns string, limit int32) ([]embedRow, error) {
	text := fmt.Sprintf("query q($after: String) { match { %s  $x.%s is null  $x.%s is not null  $x.id > $after } return { %s } order { $x.id } }",
		p.pattern(), p.Property, p.source, columns)
	return patient(ctx, e, func() ([]embedRow, error) {
		a, err := e.graph.Query(ctx, client.QueryBody{Query: text, Params: map[string]string{"after": id}, Branch: e.branch, MaxRows: limit})
		if err != nil {
			return nil, err
		}
		p.commit = a.GraphCommitID
		rows := make([]embedRow, len(a.Rows))
		for i := range rows {
			var values map[string]json.RawMessage
			if err := cmp.Or(a.Rows[i].Decode(&rows[i]), a.Rows[i].Decode(&values)); err != nil {
				return nil, err
			}
			for k := range p.key {
				rows[i].Key = append(rows[i].Key, values[fmt.Sprint("k", k)])
			}
		}
		return rows, nil
	})
}

// params returns the argument of p.write.
func (p *embedProperty) params(rows []embedRow) map[string]any {
	if p.key == nil {
		return map[string]any{"rows": rows}
	}
	list := make([]map[string]json.RawMessage, len(rows))
	for i, r := range rows {
		list[i] = map[string]json.RawMessage{}
		for k, v := range r.Key {
			list[i][fmt.Sprint("k", k)] = v
		}
	}
	return map[string]any{"rows": list}
}

// rows embeds rows as one commit. If a text is refused, it embeds each half of the rows. An upsert would insert a row that was
// deleted meanwhile, so it must meet the state that was read; otherwise its rows wait for the next round.
func (e *embedder) rows(ctx context.Context, p *embedProperty, rows []embedRow) error {
	if len(rows) == 0 {
		return nil
	}
	body := client.MutateBody{Query: p.write, Params: p.params(rows), Branch: e.branch}
	opts := engine.WriteOptions{Message: e.message}
	if p.key != nil {
		opts.IfCommit = p.commit
	}
	a, err := patient(ctx, e, func() (*client.MutationAnswer, error) {
		return e.graph.Mutate(ctx, body, writeOptions(opts)...)
	})
	switch {
	case err == nil:
		changed := a.AffectedNodes + a.AffectedEdges
		if a.Commit == nil && changed > 0 {
			return e.without(ctx, p, rows[0].ID, changed)
		}
		if a.Commit != nil {
			p.commit = a.Commit.GraphCommitID
		}
		p.Embedded += changed
		return nil
	case p.key != nil && (errors.Is(err, client.ErrPrecondition) || errors.As(err, new(*engine.PreconditionFailed))):
		return nil
	case !refusesText(err):
		return err
	case len(rows) > 1:
		half := len(rows) / 2
		if err := e.rows(ctx, p, rows[:half]); err != nil {
			return err
		}
		return e.rows(ctx, p, rows[half:])
	}
	if p.known[rows[0].ID] == "" {
		e.refused = append(e.refused, embedRefusal{p.Type, p.Property, rows[0].ID, err.Error()})
	}
	p.known[rows[0].ID] = rows[0].Text
	p.Refused++
	return nil
}

// without decides what a write without a commit means: somebody else has embedded the rows, or the graph has no provider.
func (e *embedder) without(ctx context.Context, p *embedProperty, id string, rows int64) error {
	text := fmt.Sprintf("query q($id: String) { match { %s  $x.id = $id  $x.%s is null } return { count($x.id) as n } }", p.pattern(), p.Property)
	n, err := e.number(ctx, text, id)
	if err != nil {
		return err
	}
	if n > 0 {
		return fmt.Errorf("the graph computed no vector for %s, because it has no embedding provider; set embedding_provider of the graph in cluster.yaml", p.Type)
	}
	p.Embedded += rows
	return nil
}

// refusesText reports whether a write may succeed with other texts, or with fewer.
func refusesText(err error) bool {
	if errors.As(err, new(*engine.TextRefused)) || errors.As(err, new(*engine.TooLarge)) || errors.Is(err, client.ErrTooLarge) {
		return true
	}
	return errors.Is(err, client.ErrInvalid) && strings.Contains(err.Error(), (&engine.TextRefused{}).Error()) // a server sends the error as words alone
}

// patient calls the function `do` again while the graph or its provider is unavailable.
func patient[T any](ctx context.Context, e *embedder, do func() (T, error)) (T, error) {
	var last error // the library wraps it
	v, err := backoff.Retry(ctx, func() (T, error) {
		v, err := do()
		var refused *client.Error
		var unavailable *engine.Unavailable
		wait := time.Duration(0)
		switch last = err; {
		case err == nil:
		case errors.As(err, &refused) && refused.RetryAfter != nil:
			wait = *refused.RetryAfter
		case errors.As(err, &unavailable) && unavailable.RetryAfter > 0:
			wait = unavailable.RetryAfter
		case refused != nil && !errors.Is(err, client.ErrUnavailable) && !errors.Is(err, client.ErrBusy), refused == nil && !engine.IsRetryable(err):
			return v, backoff.Permanent(err)
		}
		if wait > 0 {
			err = &backoff.RetryAfterError{Duration: wait}
		}
		return v, err
	}, backoff.WithMaxElapsedTime(e.patience), backoff.WithNotify(func(_ error, wait time.Duration) {
		fmt.Fprintf(e.notes, "omnigraph: %v; trying again in %v\n", last, wait.Round(time.Second))
	}))
	if err != nil && ctx.Err() == nil {
		err = last
	}
	return v, err
}
