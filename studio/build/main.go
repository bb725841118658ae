// Command build bundles the studio with esbuild. It must run in the folder studio/build.
// It writes the files to internal/studio/dist. With --check, it writes nothing, but compares its result with the
// files there and fails if a file differs.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

const (
	source = "../src"
	target = "../../internal/studio/dist"
)

func main() {
	check := flag.Bool("check", false, "compare the built files with those in dist, and write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run builds the files. If `check` is true, it compares them with those in dist; otherwise it
// writes them there.
func run(check bool) error {
	files, err := build()
	if err != nil {
		return err
	}
	if check {
		return compare(files)
	}
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(target, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// build builds the files of the studio, and returns them by name.
func build() (map[string][]byte, error) {
	result := api.Build(api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: filepath.Join(source, "main.tsx"), OutputPath: "app"},
			{InputPath: filepath.Join(source, "style.css"), OutputPath: "app"},
		},
		Bundle:            true,
		Splitting:         true,              // a module that another one imports when needed becomes a file of its own,
		ChunkNames:        "[name]",          // with the name of the module
		External:          []string{"*.svg"}, // the style sheet refers to a file next to it
		Outdir:            target,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone,
		Charset:           api.CharsetUTF8,
		LogLevel:          api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		return nil, errors.New("the studio could not be built; run npm ci in the folder studio if packages are missing")
	}
	files := map[string][]byte{}
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	for _, name := range []string{"index.html", "icon.svg"} {
		b, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return nil, err
		}
		files[name] = b
	}
	text, err := licenses()
	if err != nil {
		return nil, err
	}
	files["licenses.txt"] = text
	return files, nil
}

// bundled lists the packages whose code is in the built files.
var bundled = []string{
	"@codemirror/autocomplete", "@codemirror/commands", "@codemirror/language", "@codemirror/lint", "@codemirror/state", "@codemirror/streamparser", "@codemirror/view",
	"@dagrejs/dagre", "@dagrejs/graphlib", "@lezer/common", "@lezer/highlight", "@lezer/lr", "@marijn/find-cluster-break",
	"@preact/signals", "@preact/signals-core", "crelt", "cytoscape", "d3-dispatch", "d3-force", "d3-quadtree", "d3-timer", "preact", "style-mod", "w3c-keyname",
}

// contents begins the licences. The bill of materials of a release finds it in the programs.
const contents = "The studio of Omnigraph contains these npm packages:"

// licenses returns the names and versions of the bundled packages, and their licences, which must accompany their code.
func licenses() ([]byte, error) {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s\n\n", contents)
	for _, name := range bundled {
		b, err := os.ReadFile(filepath.Join("../node_modules", name, "package.json"))
		if err != nil {
			return nil, err
		}
		var p struct{ Version string }
		if err := json.Unmarshal(b, &p); err != nil {
			return nil, fmt.Errorf("the package %s: %w", name, err)
		}
		fmt.Fprintf(&text, "%s %s\n", name, p.Version)
	}
	fmt.Fprintln(&text)
	for _, name := range bundled {
		b, err := os.ReadFile(filepath.Join("../node_modules", name, "LICENSE"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&text, "%s\n\n%s\n\n", name, bytes.TrimSpace(b))
	}
	return text.Bytes(), nil
}

// compare returns an error that names the files that differ from those in dist.
func compare(files map[string][]byte) error {
	entries, err := os.ReadDir(target)
	if err != nil {
		return err
	}
	var differ []string
	for _, e := range entries {
		if _, ok := files[e.Name()]; !ok {
			differ = append(differ, e.Name())
		}
	}
	for name, want := range files {
		if b, err := os.ReadFile(filepath.Join(target, name)); err != nil || !bytes.Equal(b, want) {
			differ = append(differ, name)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	slices.Sort(differ)
	return fmt.Errorf("internal/studio/dist is stale: %s; run make studio and commit the result", strings.Join(differ, ", "))
}
