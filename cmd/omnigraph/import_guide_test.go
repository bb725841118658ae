package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/omnigraph-go/omnigraph/internal/dataimport"
)

// TestImportGuide runs the commands of docs/import.md in order, with the files that it shows, and checks its maps.
func TestImportGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(text))); n > 1500 {
		t.Errorf("the guide has %d words, expected at most 1,500", n)
	}
	var commands, files strings.Builder
	commands.WriteString("set -eu\n")
	blocks, maps := 0, 0
	for _, m := range regexp.MustCompile("(?s)```(sh|csv|pg|yaml) ?([^\n]*)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		switch m[1] {
		case "sh":
			blocks++
			commands.WriteString(m[3])
		case "yaml":
			maps++
			if _, faults := dataimport.Parse(m[2], []byte(m[3])); len(faults) > 0 {
				t.Error(faults)
			}
			fallthrough
		default:
			fmt.Fprintf(&files, "-- %s --\n%s", m[2], m[3])
		}
	}
	if blocks < 5 || maps < 4 {
		t.Errorf("the guide has %d blocks of commands and %d maps", blocks, maps)
	}
	script := filepath.Join(t.TempDir(), "guide.txtar")
	write(t, script, `exec sh guide.sh
exec omnigraph export --store data/copy
stdout '"unlocode":"FRLEH","name":"Le Havre","depth":1016.5'
stdout '"unlocode":"BEANR","name":"Antwerp","opened":"1811-01-01"'
stdout '"unlocode":"DEHAM","name":"Hamburg; Hafen","opened":"1900-02-01","depth":15.1'
grep 'depth: F64' schema.pg
grep 'edge: CallPort' import.yaml
-- guide.sh --
`+commands.String()+files.String())
	testscript.Run(t, testscript.Params{Files: []string{script}, RequireExplicitExec: true, Setup: setup})
}
