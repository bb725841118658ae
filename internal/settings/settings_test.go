package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/credentials"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gqconfig"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

const reference = "../../docs/reference"

// files are the configuration files that have a description. `whole` is the name of a file in
// testdata that sets every key. `read` returns the faults that the reader finds in a text; it may
// write to `dir`, an empty folder that all calls of a test share.
var files = []struct {
	name     string
	settings *strictyaml.Setting
	whole    string
	read     func(t *testing.T, dir, text string) diag.List
}{
	{"cluster.yaml", cluster.Settings, "cluster.yaml", func(t *testing.T, dir, text string) diag.List {
		for _, name := range []string{"people.pg", "people.gq", "policy.yaml", "policy.cedar", "server.yaml"} {
			write(t, filepath.Join(dir, name), "")
		}
		write(t, filepath.Join(dir, "cluster.yaml"), text)
		_, err := cluster.Read(filepath.Join(dir, "cluster.yaml"))
		return faults(t, err)
	}},
	{"gq.yaml", gqconfig.Settings, "gq.yaml", func(_ *testing.T, _, text string) diag.List {
		_, list := gqconfig.Parse("gq.yaml", []byte(text))
		return list
	}},
	{"import.yaml", dataimport.Settings, "import.yaml", func(_ *testing.T, _, text string) diag.List {
		_, list := dataimport.Parse("import.yaml", []byte(text))
		return list
	}},
	{"config.yaml", credentials.Settings, "config.yaml", func(t *testing.T, _, text string) diag.List {
		_, err := credentials.InFile("config.yaml", []byte(text), "https://graph.example.com")
		return faults(t, err)
	}},
	{"policy.yaml", policy.Settings, "policy.yaml", func(t *testing.T, dir, text string) diag.List {
		path := filepath.Join(dir, "policy.yaml")
		write(t, path, text)
		_, err := policy.Read(path, policy.Options{Graph: "people", Graphs: []string{"people"}, AnyQuery: true, LooseGroups: true})
		return faults(t, err)
	}},
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func faults(t *testing.T, err error) diag.List {
	t.Helper()
	if err == nil {
		return nil
	}
	list, ok := err.(diag.List)
	if !ok {
		t.Fatal(err)
	}
	return list
}

// validator returns a function that checks a YAML text against the schema of a file.
func validator(t *testing.T, file string, s *strictyaml.Setting) func(text string) error {
	t.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(JSONSchema(file, s), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		b, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			return err
		}
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			return err
		}
		return resolved.Validate(v)
	}
}

// TestReferences compares the pages and the schemas with those in docs/reference.
func TestReferences(t *testing.T) {
	for _, f := range files {
		name := strings.TrimSuffix(f.name, ".yaml")
		golden.Check(t, filepath.Join(reference, name+"-yaml.md"), Page(f.name, name+".schema.json", f.settings))
		golden.Check(t, filepath.Join(reference, name+".schema.json"), JSONSchema(f.name, f.settings))
	}
}

var sentence = regexp.MustCompile(`^[A-Z"].{10,}[^.]\.$|^(cluster|gq|import)\.yaml .*\.$`)

// TestEverySetting checks that each setting has a sentence, a default unless it is required,
// limits, and an example that is valid.
func TestEverySetting(t *testing.T) {
	for _, f := range files {
		var walk func(path string, s *strictyaml.Setting)
		walk = func(path string, s *strictyaml.Setting) {
			if !sentence.MatchString(s.Text) {
				t.Errorf("%s: %s: the text is %q, expected a sentence", f.name, path, s.Text)
			}
			if s != f.settings {
				if s.Example == "" || Limits(s) == "" {
					t.Errorf("%s: %s: the example is %q, the limits are %q", f.name, path, s.Example, Limits(s))
				} else if err := validator(t, path, s)(s.Example); err != nil {
					t.Errorf("%s: %s: the example %s: %v", f.name, path, s.Example, err)
				}
			}
			if s.Key != "" && s.Required == (s.Default != "") {
				t.Errorf("%s: %s: the default is %q although required is %v", f.name, path, s.Default, s.Required)
			}
			for _, k := range s.Keys {
				walk(path+"."+k.Key, k)
			}
			if s.Each != nil {
				walk(path+"[]", s.Each)
			}
			for i, form := range s.Forms {
				walk(fmt.Sprintf("%s(%d)", path, i), form)
			}
		}
		walk("", f.settings)
	}
}

// TestDefaultQueryBytes checks the one default that package cluster does not declare.
func TestDefaultQueryBytes(t *testing.T) {
	page := string(Page("cluster.yaml", "cluster.schema.json", cluster.Settings))
	_, after, _ := strings.Cut(page, "## `server.limits.query_bytes`")
	if want := "Default: " + strconv.Itoa(embedded.DefaultQueryMemory) + "\n"; !strings.Contains(after[:400], want) {
		t.Errorf("found %s, want %q", after[:400], want)
	}
}

// TestWholeFilesHaveEveryKey checks that the texts of TestSchemaAgreesWithReader leave no key out.
func TestWholeFilesHaveEveryKey(t *testing.T) {
	for _, f := range files {
		text := whole(t, f.whole)
		var walk func(s *strictyaml.Setting)
		walk = func(s *strictyaml.Setting) {
			if s.Key != "" && !strings.HasPrefix(s.Key, "L") && !regexp.MustCompile(`(^|[ {,\n])`+regexp.QuoteMeta(s.Key)+`:`).MatchString(text) {
				t.Errorf("testdata/%s has no %s", f.whole, s.Key)
			}
			for _, child := range slices.Concat(s.Keys, s.Forms) {
				walk(child)
			}
			if s.Each != nil {
				walk(s.Each)
			}
		}
		walk(f.settings)
	}
}

func whole(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSchemaAgreesWithReader makes every change that the function edits returns in a file that sets
// every key. The schema must refuse each structural fault that the reader reports, and must refuse
// nothing that the reader accepts.
func TestSchemaAgreesWithReader(t *testing.T) {
	structural := []diag.Code{strictyaml.UnknownKey, strictyaml.WrongType}
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			check := validator(t, f.name, f.settings)
			dir, text := t.TempDir(), whole(t, f.whole)
			if list := f.read(t, dir, text); list.HasErrors() {
				t.Fatalf("the reader refuses the whole file: %v", list)
			}
			if err := check(text); err != nil {
				t.Fatalf("the schema refuses the whole file: %v", err)
			}
			changed, refused := 0, 0
			for _, edited := range edits(t, text) {
				list := f.read(t, dir, edited)
				err := check(edited)
				changed++
				if err != nil {
					refused++
				}
				if err != nil && !list.HasErrors() {
					t.Errorf("the schema refuses a file that the reader accepts: %v\n%s", err, edited)
				}
				for _, d := range list {
					if err == nil && slices.Contains(structural, d.Code) {
						t.Errorf("the schema accepts a file that the reader refuses: %s\n%s", d.Message, edited)
					}
				}
			}
			if refused < changed/4 {
				t.Errorf("of %d edited files the schema refuses %d", changed, refused)
			}
			t.Logf("of %d edited files the schema refuses %d", changed, refused)
		})
	}
}

// edits returns variants of a file, each with one change: a key is removed or gets another name, or
// a value is replaced by one of another type or size.
func edits(t *testing.T, text string) []string {
	t.Helper()
	source, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	parse := func() any {
		var v any
		if err := json.Unmarshal(source, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	var all []string
	add := func(v any) {
		b, err := json.Marshal(v) // JSON is YAML
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(b))
	}
	others := []any{"a text", "", uint64(0), uint64(1), uint64(1 << 62), 1.5, true, []any{}, map[string]any{}, []any{"a"}, map[string]any{"unknown_key": "a"}}
	var visit func(at func(root any) any, v any)
	visit = func(at func(root any) any, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				parent := func(root any) map[string]any { return at(root).(map[string]any) }
				root := parse()
				delete(parent(root), key)
				add(root)
				root = parse()
				parent(root)["x"+key] = value
				add(root)
				for _, other := range others {
					if reflect.DeepEqual(other, value) {
						continue
					}
					root := parse()
					parent(root)[key] = other
					add(root)
				}
				visit(func(root any) any { return parent(root)[key] }, value)
			}
		case []any:
			for i, value := range v {
				parent := func(root any) []any { return at(root).([]any) }
				for _, other := range others {
					root := parse()
					parent(root)[i] = other
					add(root)
				}
				visit(func(root any) any { return parent(root)[i] }, value)
			}
		}
	}
	visit(func(root any) any { return root }, parse())
	return all
}

// TestFilesOfTheRepository checks configuration files against the schemas: the files of this
// repository, and the files of the module that gq init writes.
func TestFilesOfTheRepository(t *testing.T) {
	schemas := map[string]func(string) error{}
	for _, f := range files {
		schemas[f.name] = validator(t, f.name, f.settings)
	}
	for path, schema := range map[string]string{
		"cluster.yaml":                                                 "cluster.yaml",
		"queries/code/policy.yaml":                                     "policy.yaml",
		"queries/server.policy.yaml":                                   "policy.yaml",
		"internal/server/policy/testdata/team.yaml":                    "policy.yaml",
		"internal/server/cluster/testdata/ok/cluster.yaml":             "cluster.yaml",
		"internal/server/cluster/testdata/ok/policy.yaml":              "policy.yaml",
		"internal/server/cluster/testdata/ok/server.policy.yaml":       "policy.yaml",
		"internal/server/cluster/reconcile/testdata/faulty/other.yaml": "policy.yaml",
		"internal/server/testdata/schemathesis/cluster.yaml":           "cluster.yaml",
		"internal/server/testdata/schemathesis/policy.yaml":            "policy.yaml",
		"internal/server/testdata/schemathesis/server.policy.yaml":     "policy.yaml",
		"internal/codegen/scaffold/templates/policy.yaml":              "policy.yaml",
		"internal/codegen/scaffold/templates/cluster.yaml.tmpl":        "cluster.yaml",
	} {
		b, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile(`\{\{[^}]*\}\}`).ReplaceAllString(string(b), "people") // of templates
		if err := schemas[schema](text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, schema := range map[string]string{
		"internal/server/cluster/testdata/faults/shape.yaml":  "cluster.yaml",
		"internal/server/cluster/testdata/faults/limits.yaml": "cluster.yaml",
		"internal/server/policy/testdata/faults/shape.yaml":   "policy.yaml",
	} {
		b, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			t.Fatal(err)
		}
		if schemas[schema](string(b)) == nil {
			t.Errorf("%s: the schema accepts a file with faults", path)
		}
	}
}
