package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// editorFolder returns the folder of the client that the editor tests use. It skips the test if the
// npm packages of the client are not installed.
func editorFolder(t testing.TB) string {
	dir := os.Getenv("OMNIGRAPH_TEST_EDITOR")
	if dir == "" {
		t.Skip("OMNIGRAPH_TEST_EDITOR names no folder with the client; run make test-editor, which needs node and npm")
	}
	return dir
}

// buildGQ builds the command.
func buildGQ(t testing.TB) string {
	bin := filepath.Join(t.TempDir(), "gq")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// TestEditor drives every feature of the built gq lsp with the protocol library of VS Code.
func TestEditor(t *testing.T) {
	client, gq := editorFolder(t), buildGQ(t)
	args := []string{"--test-reporter=spec", filepath.Join(client, "features.mjs"), gq}
	args = append(args, codeProject(t), severalProject(t), brokenProject(t), outsideProject(t))
	for _, each := range []int{50, 1000} {
		dir := largeProject(t, 1000, each)
		writeFiles(t, dir, map[string]string{
			"go.mod":      "module example.com/large\n\ngo 1.26\n",
			"policy.yaml": "version: 1\nrules:\n  - id: all\n    allow: { actors: { ids: [act-ada] }, actions: [read, invoke_query] }\n",
			"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  large: { schema: schema.pg, queries: queries }\n" +
				"policies:\n  large: { file: policy.yaml, applies_to: [large] }\n",
		})
		// The lenses compare with the catalog that gq generate wrote.
		generate := exec.Command(gq, "generate")
		generate.Dir = dir
		if out, err := generate.CombinedOutput(); err != nil {
			t.Fatalf("gq generate: %v\n%s", err, out)
		}
		gitRepository(t, dir)
		args = append(args, dir)
	}
	out, err := exec.Command("node", args...).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// codeProject copies the project of this repository's graph into a git repository with the branch main.
func codeProject(t testing.TB) string {
	dir := realDir(t)
	for _, path := range []string{"cluster.yaml", "queries", "generated/code/catalog.json", "go.mod"} {
		target := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		source := filepath.Join("../..", filepath.FromSlash(path))
		var err error
		if info, statErr := os.Stat(source); statErr == nil && info.IsDir() {
			err = os.CopyFS(target, os.DirFS(source))
		} else {
			var b []byte
			if b, err = os.ReadFile(source); err == nil {
				err = os.WriteFile(target, b, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	gitRepository(t, dir)
	return dir
}

// gitRepository makes a folder a git repository with the branch main, which has all files.
func gitRepository(t testing.TB, dir string) {
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// realDir returns a temporary folder by its real path, as the server reports it.
func realDir(t testing.TB) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// writeAll writes files into a new folder.
func writeAll(t testing.TB, files map[string]string) string {
	dir := realDir(t)
	writeFiles(t, dir, files)
	return dir
}

// writeFiles writes files into a folder.
func writeFiles(t testing.TB, dir string, files map[string]string) {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const thingSchema = "node Thing @description(\"A thing.\") {\n  name: String @key @description(\"The name of the thing.\")\n}\n"

// thingQuery returns a query without findings.
func thingQuery(name string) string {
	return "query " + name + "() @description(\"List the names of the things, one after the other.\") {\n" +
		"  match { $t: Thing }\n  return { $t.name as name }\n  order { $t.name }\n  limit 10\n}\n"
}

// severalProject has two graphs with types of the same names, and a source that both use.
func severalProject(t testing.TB) string {
	return writeAll(t, map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n" +
			"  one: { schema: one/schema.pg, queries: [one/q.gq, shared.gq] }\n" +
			"  two: { schema: two/schema.pg, queries: { listed: { file: two/q.gq }, both: { file: shared.gq } } }\n",
		"one/schema.pg": thingSchema + "node One { only_one: String @key }\n",
		"two/schema.pg": thingSchema + "node Two { only_two: String @key }\n",
		"one/q.gq":      thingQuery("listed"),
		"two/q.gq":      thingQuery("listed"),
		"shared.gq": "query both() @description(\"List the names of the things, one after the other.\") {\n" +
			"  match { $t: Thing $t.only_one = \"a\" $t.only_two = \"b\" }\n  return { $t.name as name }\n  order { $t.name }\n  limit 10\n}\n",
	})
}

// brokenProject has a cluster.yaml with a misspelt key.
func brokenProject(t testing.TB) string {
	return writeAll(t, map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  one: { scheme: schema.pg, queries: [q.gq] }\n",
		"schema.pg":    thingSchema,
		"q.gq":         thingQuery("listed"),
	})
}

// outsideProject has folders of sources without a cluster.yaml.
func outsideProject(t testing.TB) string {
	return writeAll(t, map[string]string{
		"alone/q.gq":     thingQuery("listed"),
		"pair/schema.pg": thingSchema,
		"pair/q.gq":      strings.Replace(thingQuery("listed"), "$t.name as", "$t.nme as", 1),
	})
}

// largeProject has a schema of 100 types with 100 edge types, and n queries in files of `each` queries.
func largeProject(t testing.TB, n, each int) string {
	files := map[string]string{"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  large: { schema: schema.pg, queries: queries }\n"}
	var schema strings.Builder
	for i := range 100 {
		fmt.Fprintf(&schema, "node Type%d @description(\"Type number %d.\") {\n  name: String @key @description(\"The name.\")\n  age: I32?\n  born: Date?\n  tags: [String]\n  kind: enum(lead, member)\n}\n\n", i, i)
		fmt.Fprintf(&schema, "edge Edge%d: Type%d -> Type%d @description(\"From one to the next.\") {\n  since: Date?\n}\n\n", i, i, (i+1)%100)
	}
	files["schema.pg"] = schema.String()
	for from := 0; from < n; from += each {
		var b strings.Builder
		for i := from; i < min(from+each, n); i++ {
			a, c := i%100, (i+1)%100
			fmt.Fprintf(&b, "query query_%d(\n  $name: String @description(\"The name of the first one.\"),\n  $least: I32? @description(\"The least age.\")\n)\n  @description(\"List what the edge %d leads to from a thing of type %d, number %d.\")\n{\n  match {\n    $p: Type%d { name: $name }\n    $p $e:edge%d $q\n    $q.age >= $least?\n    not { $q edge%d $z }\n  }\n  return { $q.name as name, $e.since as since, count($q) as n }\n  order { n desc, name }\n  limit 20\n}\n\n", i, a, a, i, a, a, c)
		}
		files[fmt.Sprintf("queries/part%02d.gq", from/each)] = b.String()
	}
	return writeAll(t, files)
}

// TestEditorKeystrokes measures keystrokes and memory on a schema of 100 types with 1,000 queries. The
// figures in bench/runs/authors.md come from it.
func TestEditorKeystrokes(t *testing.T) {
	client, gq := editorFolder(t), buildGQ(t)
	count := os.Getenv("KEYSTROKES")
	if count == "" {
		t.Skip("KEYSTROKES is not set; run make bench-editor")
	}
	for _, project := range []struct{ dir, file string }{
		{codeProject(t), "queries/code/calls.gq"},
		{largeProject(t, 1000, 50), "queries/part07.gq"},
		{largeProject(t, 1000, 1000), "queries/part00.gq"},
	} {
		cmd := exec.Command("node", filepath.Join(client, "keystrokes.mjs"), gq, project.dir, project.file, count)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		t.Logf("%s", out)
		if err != nil {
			t.Fatal(err)
		}
	}
}
