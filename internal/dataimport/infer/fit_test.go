package infer

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

const fitSchema = `
interface Place { name: String }
node Port implements Place { code: String @key
  name: String
  depth: F64? }
node Ship { imo: I64 @key
  name: String
  flag: String? }
edge HomePort: Ship -> Port
edge LastPort: Ship -> Port
edge Owner: Ship -> Ship
edge Call: Ship -> Port { day: Date? }
edge Near: Port -> Place
`

// TestFit checks the map to an existing schema. It also checks that the map fits the schema.
func TestFit(t *testing.T) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: fitSchema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, file, text, want string }{
		{"a type and its edges", "ships.csv", "imo,name,home_port,last_port,owner\n7,a,NL,NL,8\n8,b,DE,NL,\n",
			`{"sources":{"ships.csv":[{"node":"Ship","set":{"imo":{"column":"imo"},"name":{"column":"name"}}},` +
				`{"edge":"HomePort","from":{"Ship":{"imo":{"column":"imo"}}},"to":{"Port":{"code":{"column":"home_port"}}}},` +
				`{"edge":"LastPort","from":{"Ship":{"imo":{"column":"imo"}}},"to":{"Port":{"code":{"column":"last_port"}}}},` +
				`{"edge":"Owner","from":{"Ship":{"imo":{"column":"imo"}}},"to":{"Ship":{"imo":{"column":"owner"}}}}]}}`},
		{"a key of another name", "ships.csv", "ship_no,name\n7,a\n8,b\n9,c\n", `{"sources":{"ships.csv":[{"node":"Ship","set":{"imo":{"column":"ship_no"},"name":{"column":"name"}}}]}}`},
		{"a reference that several edges could be", "ships.csv", "imo,name,port_code\n7,a,NL\n8,b,DE\n", `{"sources":{"ships.csv":[{"node":"Ship","set":{"imo":{"column":"imo"},"name":{"column":"name"}}}]}}`},
		{"by the properties", "list.csv", "Code,Name,Depth\nNL,a,\"1,5\"\nDE,b,\"2,5\"\n",
			`{"sources":{"list.csv":[{"node":"Port","set":{"code":{"column":"Code"},"depth":{"column":"Depth","number":"1.234,56"},"name":{"column":"Name"}}}]}}`},
		{"a join table", "calls.csv", "ship,port,day\n7,NL,2024-05-01\n8,DE,2024-05-02\n",
			`{"sources":{"calls.csv":[{"edge":"Call","set":{"day":{"column":"day"}},"from":{"Ship":{"imo":{"column":"ship"}}},"to":{"Port":{"code":{"column":"port"}}}}]}}`},
		{"nothing", "list.csv", "a,b\n1,2\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := write(t, map[string]string{tt.file: tt.text})
			p, err := Propose(context.Background(), []Input{{File: record.File{Name: tt.file, Path: filepath.Join(dir, tt.file)}, Source: tt.file}}, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			got := p.Tables[0].Fit(schema)
			if got != tt.want {
				t.Errorf("found %s, expected %s", got, tt.want)
			}
			if got == "" {
				return
			}
			m, faults := dataimport.Parse("map", []byte(got))
			if faults.HasErrors() {
				t.Fatal(faults)
			}
			if _, faults := dataimport.NewPlan(m, schema, dataimport.Options{}); faults.HasErrors() {
				t.Error(faults)
			}
		})
	}
}
