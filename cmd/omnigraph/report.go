package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
)

// formats are the formats of a verb's report.
var formats = []string{"table", "json", "csv", "ndjson"}

// The formats of rows with typed columns, which only some verbs have.
const formatArrow, formatParquet = "arrow", "parquet"

// report is the output of a verb, independent of the format.
type report struct {
	doc     any      // the whole report, as JSON
	columns []column // columns of the rows
	rows    []any    // values that marshal to JSON objects
	objects []any    // used by ndjson instead of rows, if not nil
	note    string   // printed below a table; "" for none
	text    string   // printed unchanged if no format is given; "" for none
}

// column is a column of the rows.
type column struct {
	key string // name of the member in the JSON of a row
	// micros is true if the value is a time in Unix microseconds. A table prints it as a date and
	// time.
	micros bool
}

// columns returns a column for each key.
func columns(keys ...string) []column {
	cols := make([]column, len(keys))
	for i, k := range keys {
		cols[i] = column{key: k, micros: k == "created_at" || k == "expires_at"}
	}
	return cols
}

// rowsOf converts a list to the rows of a report.
func rowsOf[T any](list []T) []any {
	rows := make([]any, len(list))
	for i := range list {
		rows[i] = list[i]
	}
	return rows
}

// single returns the report of one object.
func single(doc any, note string, keys ...string) *report {
	return &report{doc: doc, columns: columns(keys...), rows: []any{doc}, note: note}
}

// only returns the named members of the JSON object v, in this order. It leaves out a member that v
// does not have.
func only(v any, names ...string) json.RawMessage {
	b, err := encoding.JSON(v)
	var all map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		panic("omnigraph: encode an answer: " + err.Error()) // the types of answers always encode
	}
	out := []byte("{")
	for _, name := range names {
		if all[name] == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(strconv.AppendQuote(out, name), ':')
		out = append(out, all[name]...)
	}
	return append(out, '}')
}

// formatFlags are the flags that choose the format.
type formatFlags struct {
	name   string // value of --format; "" selects the default
	asJSON bool   // --json was given

	columns bool // the verb also has the formats arrow and parquet
}

// formats lists the formats of the verb.
func (f *formatFlags) formats() []string {
	if f.columns {
		return append(slices.Clone(formats), formatArrow, formatParquet)
	}
	return formats
}

// inColumns reports whether the flags choose a format with typed columns.
func (f *formatFlags) inColumns() bool { return f.name == formatArrow || f.name == formatParquet }

// flags adds the flags to a command.
func (f *formatFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "format", "", "the format of the output: "+strings.Join(f.formats(), ", ")+" (default: table on a terminal, json elsewhere)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "the same as --format json")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(f.formats(), cobra.ShellCompDirectiveNoFileComp))
}

// check reports faults of the flags.
func (f *formatFlags) check() error {
	switch {
	case f.asJSON && f.name != "" && f.name != "json":
		return usage.Errorf("--json and --format %s are both given; choose one", f.name)
	case f.name != "" && !slices.Contains(f.formats(), f.name):
		return usage.Errorf("--format is %q; it must be one of %s", f.name, strings.Join(f.formats(), ", "))
	}
	return nil
}

// print writes a report to standard output.
func (f *formatFlags) print(cmd *cobra.Command, r *report) error {
	w := cmd.OutOrStdout()
	format := f.name
	switch {
	case format != "":
	case !f.asJSON && r.text != "":
		text := r.text
		if terminal.Is(w) {
			text = escapeControls(text)
		}
		_, err := io.WriteString(w, text)
		return err
	case !f.asJSON && terminal.Is(w):
		format = "table"
	default:
		format = "json"
	}
	var b bytes.Buffer
	if err := r.write(&b, format); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// write writes the report in a format.
func (r *report) write(w io.Writer, format string) error {
	switch format {
	case "json":
		return writeLine(w, r.doc)
	case "ndjson":
		objects := r.objects
		if objects == nil {
			objects = r.rows
		}
		for _, row := range objects {
			if err := writeLine(w, row); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return r.csv(w)
	}
	return r.table(w)
}

// writeLine writes v as one line of JSON.
func writeLine(w io.Writer, v any) error {
	b, err := encoding.JSON(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// csv writes a header and the rows. Null becomes an empty field; a list or an object becomes its
// JSON. csv escapes control characters, because terminals may show the output, and puts a quote before
// a text that a spreadsheet would run.
func (r *report) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	record := make([]string, len(r.columns))
	for i, c := range r.columns {
		record[i] = guardFormula(escapeControls(c.key))
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for _, row := range r.rows {
		cells, err := members(row)
		if err != nil {
			return err
		}
		for i, c := range r.columns {
			field, err := text(cells[c.key])
			if err != nil {
				return err
			}
			record[i] = escapeControls(field)
			if cell := cells[c.key]; len(cell) > 0 && cell[0] == '"' { // a text, not a number
				record[i] = guardFormula(record[i])
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// guardFormula puts a single quote before a text that a spreadsheet would take for a formula, so that it shows
// the text. -Infinity is a number, which JSON writes as a text. The function csvCell of the studio does the same.
func guardFormula(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) && text != "-Infinity" {
		return "'" + text
	}
	return text
}

// table writes the names of the columns and the rows.
func (r *report) table(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := make([]string, len(r.columns))
	for i, c := range r.columns {
		line[i] = terminal.Printable(c.key)
	}
	fmt.Fprintln(out, strings.Join(line, "\t"))
	for _, row := range r.rows {
		cells, err := members(row)
		if err != nil {
			return err
		}
		for i, c := range r.columns {
			t, err := text(cells[c.key])
			if err != nil {
				return err
			}
			if us, err := strconv.ParseInt(t, 10, 64); c.micros && err == nil {
				t = time.UnixMicro(us).UTC().Format("2006-01-02T15:04:05.000000Z")
			}
			line[i] = terminal.Printable(t)
		}
		fmt.Fprintln(out, strings.Join(line, "\t"))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if r.note == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, terminal.PrintableLines(r.note))
	return err
}

// members returns the members of a row.
func members(row any) (map[string]json.RawMessage, error) {
	b, ok := row.(json.RawMessage)
	if !ok {
		var err error
		if b, err = encoding.JSON(row); err != nil {
			return nil, err
		}
	}
	var cells map[string]json.RawMessage
	if err := json.Unmarshal(b, &cells); err != nil {
		return nil, fmt.Errorf("a row of the answer is not an object: %w", err)
	}
	return cells, nil
}

// text returns a JSON value as the text of a cell: a string without its quotes, and "" for null.
func text(cell json.RawMessage) (string, error) {
	if len(cell) == 0 || string(cell) == "null" {
		return "", nil
	}
	if cell[0] != '"' {
		return string(cell), nil
	}
	var s string
	err := json.Unmarshal(cell, &s)
	return s, err
}

// escapeControls escapes control characters, including the C1 block of Unicode. It keeps tabs and
// line breaks (LF or CRLF), which are data in a quoted field. It writes \u and four digits, so that
// JSON in a field stays valid.
func escapeControls(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if unicode.IsControl(r) && r != '\t' && r != '\n' && !strings.HasPrefix(s[i:], "\r\n") {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plural returns a count with its noun in the right form.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	if strings.HasSuffix(noun, "h") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
