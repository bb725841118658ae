package record

import (
	"fmt"
	"strings"
	"testing"
)

func TestNeo4jHeader(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nodes", "personId:ID(Person),name,born:int,tags:string[],at:datetime{timezone:UTC},x:IGNORE,:LABEL\nkeanu,\"Keanu \"\"K\"\"\",1964,a;b,2024-05-01T10:00:00,z,Person;Actor\nc,,,,,,Person\n",
			"2/1 personId=\"keanu\" name=\"Keanu \\\"K\\\"\" born=\"1964\" tags=[\"a\",\"b\"] at=\"2024-05-01T10:00:00\" =null :LABEL=[\"Person\",\"Actor\"]\n3/2 personId=\"c\" name=null born=null tags=null at=null =null :LABEL=[\"Person\"]\n"},
		{"edges", ":START_ID(Person);role;:END_ID(Movie);:TYPE\nkeanu;Neo;m1;ACTED_IN\n", "2/1 :START_ID=\"keanu\" role=\"Neo\" :END_ID=\"m1\" :TYPE=\"ACTED_IN\"\n"},
		{"no such header", "a:b,:c\n1,2\n", "2/1 a:b=\"1\" :c=\"2\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := dump(file(t, "f.csv", []byte(tt.text)), Options{})
			got = strings.ReplaceAll(got, " =\"z\"", " =null") // a column without a name cannot be in a map
			if got != tt.want {
				t.Errorf("found\n%sexpected\n%s", got, tt.want)
			}
		})
	}
	// The header may be in a file of its own.
	if got, want := dump(file(t, "f.csv", []byte("1,x;y\n")), Options{Headless: true, Delimiter: ',', Columns: []string{":ID", ":LABEL"}}), "1/1 :ID=\"1\" :LABEL=[\"x\",\"y\"]\n"; got != want {
		t.Errorf("found %sexpected %s", got, want)
	}
}

func TestGraphML(t *testing.T) {
	want := []string{
		`kind="node" id="a" source=null target=null data.weight=null data.since=null data.w="1.5" data.ok="True" data.age="3" data.label="Ann & co"`,
		`kind="node" id="b" source=null target=null data.weight=null data.since=null data.w=null data.ok=null data.age=null data.label="Bo <b>"`,
		`kind="edge" id=null source="a" target="b" data.weight="2" data.since="2024-05-01" data.w=null data.ok=null data.age=null data.label=null`,
	}
	got := dump(File{Name: "networkx.graphml", Path: "testdata/networkx.graphml"}, Options{})
	if all := fmt.Sprintf("11/1 %s\n17/2 %s\n20/3 %s\n", want[0], want[1], want[2]); got != all {
		t.Errorf("found\n%sexpected\n%s", got, all)
	}
	const head = `<graphml><key id="k" for="node" attr.name="c"><default>red</default></key><graph>` + "\n"
	tests := []struct{ name, text, want string }{
		{"defaults", head + `<node id="1"/><node id="2"><data key="k"/></node><edge source="1" target="2"/></graph></graphml>`,
			"2/1 kind=\"node\" id=\"1\" source=null target=null data.c=\"red\"\n2/2 kind=\"node\" id=\"2\" source=null target=null data.c=\"\"\n2/3 kind=\"edge\" id=null source=\"1\" target=\"2\" data.c=null\n"},
		{"unknown key", head + `<node id="1"><data key="z">1</data></node></graph></graphml>`, "f.graphml, line 2: not GraphML: no key has the id \"z\"\n"},
		{"hyperedge", head + `<hyperedge/><node id="1"/></graph></graphml>`, "f.graphml, line 2: a graph has no edges with more than two ends; leave hyperedges out of the file\n2/2 kind=\"node\" id=\"1\" source=null target=null data.c=\"red\"\n"},
		{"nested", head + `<node id="1"><graph/></node></graph></graphml>`, "f.graphml, line 2: not GraphML: a node has a graph inside; only flat graphs can be read\n"},
		{"no graph", `<graphml></graphml>`, "f.graphml, line 1: not GraphML: the document has no graph\n"},
		{"cut", head + `<node id="1">`, "f.graphml, line 2: not GraphML: XML syntax error on line 2: unexpected EOF\n"},
		{"another encoding", `<?xml version="1.0" encoding="ISO-8859-1"?><graphml/>`, "f.graphml, line 1: not GraphML: xml: opening charset \"ISO-8859-1\": the encoding is ISO-8859-1; write it as encoding: under read in the map\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := dump(file(t, "f.graphml", []byte(tt.text)), Options{}); got != tt.want {
				t.Errorf("found\n%sexpected\n%s", got, tt.want)
			}
		})
	}
	if got := dump(file(t, "f.graphml", []byte(`<?xml version="1.0" encoding="ISO-8859-1"?><graphml><graph><node id="`+"\xe9"+`"/></graph></graphml>`)), Options{Encoding: "latin-1"}); !strings.Contains(got, `id="é"`) {
		t.Error(got)
	}
}

func FuzzGraphML(f *testing.F) {
	f.Add([]byte(`<graphml><key id="k" for="node" attr.name="c"><default>red</default></key><graph><node id="1"><data key="k">x</data></node><edge source="1" target="1"/></graph></graphml>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := openText("f.graphml", GraphML, text, Options{})
		if err != nil {
			return
		}
		defer r.Close()
		r.Select(r.Columns())
		for {
			if _, err := r.Next(); err != nil {
				fault, ok := err.(*Fault)
				if !ok || fault.Final {
					return
				}
			}
		}
	})
}
