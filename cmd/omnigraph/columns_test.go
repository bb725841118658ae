package main

import (
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/omnigraph-go/omnigraph/client"
)

// TestExportArrow exports the entities of one type as an Arrow stream, to standard output and to a file.
func TestExportArrow(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "s.pg", "node All {\n  key: String @key\n  w: U64\n  l: I64?\n}\nedge Next: All -> All\n")
	write(t, "data.ndjson", `{"type":"All","data":{"key":"a","w":"18446744073709551615","l":"-9223372036854775808"}}`+"\n"+
		`{"type":"All","data":{"key":"b","w":1}}`+"\n"+`{"edge":"Next","from":"a","to":"b","data":{"id":"n"}}`+"\n")
	run := func(args string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := omnigraph(t, "", strings.Fields(args)...)
		if code != 0 {
			t.Fatalf("%s: %d %s", args, code, stderr)
		}
		return stdout, stderr
	}
	run("init --schema s.pg --store g")
	run("load --store g --data data.ndjson")
	for typ, want := range map[string]string{
		"All":  `[{"id":"a","key":"a","l":-9223372036854775808,"w":18446744073709551615}` + "\n" + `,{"id":"b","key":"b","l":null,"w":1}` + "\n]",
		"Next": `[{"from":"a","id":"n","to":"b"}` + "\n]",
	} {
		stdout, stderr := run("export --store g --format arrow --type " + typ)
		in, err := ipc.NewReader(strings.NewReader(stdout))
		if err != nil || !in.Next() {
			t.Fatal(err)
		}
		got, err := in.RecordBatch().MarshalJSON()
		if err != nil || string(got) != want {
			t.Errorf("%s: found %s, %v, want %s", typ, got, err, want)
		}
		meta := in.Schema().Metadata()
		commit, _ := meta.GetValue(client.ArrowCommit)
		if name, _ := meta.GetValue(client.ArrowType); name != typ || stderr != "commit "+commit+"\n" {
			t.Errorf("%s: the metadata is %v, and the command prints %q", typ, meta, stderr)
		}
		run("export --store g --format arrow --out " + typ + ".arrows --type " + typ)
		if file, err := os.ReadFile(typ + ".arrows"); err != nil || string(file) != stdout {
			t.Errorf("%s: the file has %d bytes, %v, and standard output had %d", typ, len(file), err, len(stdout))
		}
	}
}

// TestColumns prints the rows of a store as an Arrow stream and as a Parquet file. Both must have the
// exact values, and say which commit was read and whether rows were left out.
func TestColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "s.pg", "node All {\n  key: String @key\n  w: U64\n  l: I64?\n  span: Duration?\n  v: Vector(2)?\n  tags: [String]?\n}\n")
	write(t, "data.ndjson", `{"type":"All","data":{"key":"a","w":"18446744073709551615","l":"-9223372036854775808","span":"PT1.5S","v":[0.5,-1],"tags":["x","é"]}}`+"\n"+
		`{"type":"All","data":{"key":"b","w":1}}`+"\n")
	write(t, "q.gq", "query q() { match { $a: All } return { $a.key as key, $a.w as w, $a.l as l, $a.span as span, $a.v as v, $a.tags as tags, $a as whole } order { $a.key } }\n")
	command := func(args string) string {
		t.Helper()
		code, stdout, stderr := omnigraph(t, "", strings.Fields(args)...)
		if code != 0 {
			t.Fatalf("%s: %d %s", args, code, stderr)
		}
		return stdout
	}
	command("init --schema s.pg --store g")
	command("load --store g --data data.ndjson")
	const whole = `{"id":"%","key":"%","l":`
	want := []string{
		`"key":"a","l":-9223372036854775808,"span":`, `"w":18446744073709551615,"whole":` + strings.ReplaceAll(whole, "%", "a") + `-9223372036854775808`,
		`"key":"b","l":null,"span":null,"tags":null,"v":null,"w":1,"whole":` + strings.ReplaceAll(whole, "%", "b") + `null`, `"tags":["x","é"],"v":[0.5,-1]`,
	}
	compare := func(format string, rows arrow.RecordBatch) {
		t.Helper()
		got, err := rows.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(string(got), part) {
				t.Errorf("%s: wanted %s in\n%s", format, part, got)
			}
		}
	}

	in, err := ipc.NewReader(strings.NewReader(command("query --store g --query q.gq --format arrow")))
	if err != nil || !in.Next() {
		t.Fatal(err)
	}
	compare("arrow", in.RecordBatch())
	if commit, _ := in.Schema().Metadata().GetValue(client.ArrowCommit); commit == "" {
		t.Error("the stream does not name its commit")
	}
	if span := in.RecordBatch().Column(3).(*array.Duration).Value(0); span != 1_500_000_000 {
		t.Errorf("the duration has %d nanoseconds", span)
	}

	page, err := file.NewParquetReader(strings.NewReader(command("query --store g --query q.gq --format parquet --max-rows 1")))
	if err != nil || page.NumRows() != 1 {
		t.Fatalf("the file with one row: %v, %v", page, err)
	}
	for name, want := range map[string]string{client.ArrowTruncated: "true", client.ArrowTruncatedBy: "rows", client.ArrowRowCount: "1"} {
		if got := page.MetaData().KeyValueMetadata().FindValue(name); got == nil || *got != want {
			t.Errorf("the metadata %s is %v, expected %q", name, got, want)
		}
	}
	all := strings.NewReader(command("query --store g --query q.gq --format parquet"))
	table, err := pqarrow.ReadTable(t.Context(), all, parquet.NewReaderProperties(memory.DefaultAllocator), pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	rows := array.NewTableReader(table, 0)
	if !rows.Next() {
		t.Fatal("the file has no rows")
	}
	compare("parquet", rows.RecordBatch())

	for _, tt := range []struct{ args, want string }{
		{"mutate --store g --query q.gq --format arrow", "--format is \"arrow\"; it must be one of table, json, csv, ndjson"},
		{"query --store g --query missing.gq --format parquet", "missing.gq"},
		{"query --store g --query bad.gq --format parquet", "Nobody"},
		{"query --store g --query bad.gq --format arrow", "Nobody"},
	} {
		write(t, "bad.gq", "query q() { match { $a: Nobody } return { $a } }\n")
		if code, stdout, stderr := omnigraph(t, "", strings.Fields(tt.args)...); code == 0 || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit code %d, printed %q and %q, expected %q", tt.args, code, stdout, stderr, tt.want)
		}
	}
}
