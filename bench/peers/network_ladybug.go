package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/relational"
)

// openLadybug starts the Python program of the folder ladybug, which loads the network from CSV files. The program runs
// LadybugDB in its own process and measures the time of each run there, because the database has no driver for Go that the
// module proxy serves.
func (n *network) openLadybug(ctx context.Context, data *snb.Network) (*networkDatabase, error) {
	if n.python == "" {
		return nil, absent("its Python package is missing; run.sh installs it if there is a python3 with venv, and pip")
	}
	dir, err := n.folder("LadybugDB")
	if err != nil {
		return nil, err
	}
	for name, fill := range ladybugTables(data) {
		if err := writeCSV(filepath.Join(dir, name+".csv"), fill); err != nil {
			return nil, err
		}
	}
	programs := filepath.Join(n.root, "bench", "peers", "ladybug")
	cmd := exec.CommandContext(ctx, n.python, "-W", "ignore::DeprecationWarning", filepath.Join(programs, "network.py"), filepath.Join(dir, "database"), dir, filepath.Join(programs, "reads.cypher"))
	p, err := startNetworkProgram(cmd)
	if err != nil {
		return nil, err
	}
	var took time.Duration
	return &networkDatabase{
		prepare: func(_ context.Context, read string) (statement, error) {
			return func(_ context.Context, args []any, keep *[][]any) (int, error) {
				rows, rest, err := p.call(read, args[0].(string), keep)
				if err != nil {
					return 0, err
				}
				ns, err := strconv.ParseInt(rest, 10, 64)
				took = time.Duration(ns)
				return rows, err
			}, nil
		},
		convert: func(_ string, args []any) []any { return []any{tabbed(args)} },
		took:    func() time.Duration { return took },
		close:   p.stop,
	}, nil
}

// writeCSV writes a file of the rows that `fill` adds.
func writeCSV(file string, fill func(add func(...any))) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	var line []string
	fill(func(values ...any) {
		line = line[:0]
		for _, v := range values {
			line = append(line, fmt.Sprint(v))
		}
		_ = w.Write(line) // Error returns the error
	})
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

// ladybugTables returns the rows of the tables of network.py by their names.
func ladybugTables(n *snb.Network) map[string]func(add func(...any)) {
	out := map[string]func(add func(...any)){}
	from := map[string]relational.Table{}
	for _, t := range relational.Tables(n) {
		from[t.Name] = t
	}
	// some adds a table that has some columns of a relational table. It leaves out rows with a null in the last one, and rows
	// for which `keep` is false.
	some := func(name, table string, keep func(row []any) bool, columns ...int) {
		out[name] = func(add func(...any)) {
			for row := range from[table].Rows {
				if row[columns[len(columns)-1]] == nil || keep != nil && !keep(row) {
					continue
				}
				values := make([]any, len(columns))
				for i, c := range columns {
					values[i] = row[c]
				}
				add(values...)
			}
		}
	}
	is := func(kind string) func([]any) bool { return func(row []any) bool { return row[1] == kind } }
	some("City", "place", is("city"), 0, 2)
	some("Country", "place", is("country"), 0, 2)
	some("CityOf", "place", is("city"), 0, 3)
	some("University", "organisation", is("university"), 0, 2)
	some("Company", "organisation", is("company"), 0, 2)
	some("UniversityIn", "organisation", is("university"), 0, 3)
	some("CompanyIn", "organisation", is("company"), 0, 3)
	some("TagClass", "tag_class", nil, 0, 1)
	some("SubclassOf", "tag_class", nil, 0, 2)
	some("Tag", "tag", nil, 0, 1)
	some("HasType", "tag", nil, 0, 2)
	some("LivesIn", "person", nil, 0, 8)
	some("HasInterest", "interest", nil, 0, 1)
	some("StudyAt", "study", nil, 0, 1, 2)
	some("WorkAt", "job", nil, 0, 1, 2)
	some("Forum", "forum", nil, 0, 1, 2)
	some("HasModerator", "forum", nil, 0, 3)
	some("HasMember", "member", nil, 0, 1, 2)
	some("Message", "message", nil, 0, 1, 2, 6, 7)
	some("HasCreator", "message", nil, 0, 8)
	some("SentFrom", "message", nil, 0, 9)
	some("ContainerOf", "message", func(row []any) bool { return row[10] != nil }, 10, 0)
	some("ReplyOf", "message", nil, 0, 11)
	some("HasTag", "message_tag", nil, 0, 1)
	some("Likes", "likes", nil, 0, 1, 2)
	out["Knows"] = func(add func(...any)) {
		for _, k := range n.Friendships {
			add(k.A, k.B, int64(k.Created))
		}
	}
	out["Person"] = func(add func(...any)) {
		for _, p := range n.Persons {
			add(p.ID, p.FirstName, p.LastName, p.Gender, p.Birthday, int64(p.Created), p.IP, p.Browser,
				"["+strings.Join(p.Emails, ",")+"]", "["+strings.Join(p.Languages, ",")+"]")
		}
	}
	return out
}
