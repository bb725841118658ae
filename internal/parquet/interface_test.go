package parquet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/parquet"
)

// aboutSchema is a schema with interfaces at the ends of edges. The type Says has a property whose name is
// that of the column with the types of its ends.
func aboutSchema() *catalog.Schema {
	name := &catalog.Property{Name: "name", Type: value.Of(value.String)}
	c := &catalog.Schema{
		Interfaces: []*catalog.Interface{{Name: "Named", Properties: []*catalog.Property{name}}},
		Nodes: []*catalog.Node{
			{Name: "Person", Implements: []string{"Named"}, Key: []string{"name"}, Properties: []*catalog.Property{name}},
			{Name: "Team", Implements: []string{"Named"}, Key: []string{"name"}, Properties: []*catalog.Property{name}},
			{Name: "Note", Key: []string{"name"}, Properties: []*catalog.Property{name}},
		},
		Edges: []*catalog.Edge{
			{Name: "About", From: "Note", To: "Named", ToInterface: true},
			{Name: "Says", From: "Named", FromInterface: true, To: "Named", ToInterface: true,
				Properties: []*catalog.Property{{Name: "from_type", Type: value.Of(value.String).Optional()}}},
		},
	}
	c.Index()
	return c
}

const aboutLines = `{"type":"Person","data":{"name":"ann"}}
{"type":"Team","data":{"name":"ann"}}
{"type":"Note","data":{"name":"n1"}}
{"edge":"About","from":"n1","to":{"type":"Person","id":"ann"},"data":{"id":"a1"}}
{"edge":"About","from":"n1","to":{"type":"Team","id":"ann"},"data":{"id":"a2"}}
{"edge":"Says","from":{"type":"Team","id":"ann"},"to":{"type":"Person","id":"ann"},"data":{"id":"s1","from_type":"aloud"}}
`

// TestInterfaceEnds exports edges with ends at interfaces as Parquet and as Arrow, and reads them back.
func TestInterfaceEnds(t *testing.T) {
	schema := aboutSchema()
	g := graphOf(t, schema, aboutLines)
	files := folder{}
	if _, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{}, files.create); err != nil {
		t.Fatal(err)
	}
	m := files.manifest(t)
	for _, tt := range []struct {
		name string
		rows []string // the columns in their order, with the values of each row
		ends string   // what the manifest says of the ends
	}{
		{"About", []string{"id=a1 from=n1 to_type=Person to=ann", "id=a2 from=n1 to_type=Team to=ann"},
			`from_type Note, to_type , from null, to {"name":"Named","node_types":["Person","Team"],"type_column":"to_type"}`},
		{"Says", []string{"id=s1 from_type.2=Team from=ann to_type=Person to=ann from_type=aloud"},
			`from_type , to_type , from {"name":"Named","node_types":["Person","Team"],"type_column":"from_type.2"}, to {"name":"Named","node_types":["Person","Team"],"type_column":"to_type"}`},
	} {
		i := slices.IndexFunc(m.Types, func(typ parquet.ManifestType) bool { return typ.TypeName == tt.name })
		from, _ := json.Marshal(m.Types[i].FromInterface)
		to, _ := json.Marshal(m.Types[i].ToInterface)
		if got := fmt.Sprintf("from_type %s, to_type %s, from %s, to %s", m.Types[i].FromType, m.Types[i].ToType, from, to); got != tt.ends {
			t.Errorf("%s: the manifest says %s, want %s", tt.name, got, tt.ends)
		}
		file, err := pqarrow.ReadTable(t.Context(), bytes.NewReader(files[m.Types[i].Files[0].Path].Bytes()), nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Release()
		var got []string
		for row := range int(file.NumRows()) {
			var values []string
			for c := range int(file.NumCols()) {
				values = append(values, file.Column(c).Name()+"="+file.Column(c).Data().Chunk(0).ValueStr(row))
			}
			got = append(got, strings.Join(values, " "))
		}
		if !slices.Equal(got, tt.rows) {
			t.Errorf("%s: the file has %q, want %q", tt.name, got, tt.rows)
		}

		table, err := parquet.NewTable(schema, []string{tt.name})
		if err != nil {
			t.Fatal(err)
		}
		var export bytes.Buffer
		if _, err := g.Export(t.Context(), &export, engine.Target{}, engine.ExportOptions{Types: []string{tt.name}}); err != nil {
			t.Fatal(err)
		}
		got = nil
		err = table.Read(t.Context(), &export, func(b arrow.RecordBatch) error {
			defer b.Release()
			for row := range int(b.NumRows()) {
				var values []string
				for c, column := range b.Columns() {
					values = append(values, b.ColumnName(c)+"="+column.ValueStr(row))
				}
				got = append(got, strings.Join(values, " "))
			}
			return nil
		})
		if err != nil || !slices.Equal(got, tt.rows) {
			t.Errorf("%s: the Arrow stream has %q, error %v; want %q", tt.name, got, err, tt.rows)
		}
	}
}

// TestBadInterfaceEnds writes exports whose ends do not have the form that the schema asks for.
func TestBadInterfaceEnds(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`{"edge":"About","from":"n1","to":"ann","data":{"id":"a1"}}`, `to: found ann, expected {`},
		{`{"edge":"About","from":"n1","to":{"id":"ann"},"data":{"id":"a1"}}`, "it has no to_type, which is required"},
		{`{"edge":"About","from":"n1","to":{"type":"Person"},"data":{"id":"a1"}}`, "it has no to, which is required"},
		{`{"edge":"About","from":"n1","to":{"type":"Person","id":"ann","x":1},"data":{"id":"a1"}}`, `to: found the member "x", expected type and id`},
		{`{"edge":"About","from":{"type":"Note","id":"n1"},"to":{"type":"Person","id":"ann"},"data":{"id":"a1"}}`, `from: found {`},
	} {
		err := parquet.Write(context.Background(), strings.NewReader(tt.line), engine.Commit{}, aboutSchema(), parquet.Options{Types: []string{"About"}}, folder{}.create)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", tt.line, err, tt.want)
		}
	}
}
