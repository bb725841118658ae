package dataimport

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/parquet"
)

// MapOfExport returns the text of the map for a Parquet export of a graph, which is in a folder. It checks that the folder has
// all files.
func MapOfExport(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, parquet.ManifestName))
	if err != nil {
		return "", err
	}
	var m parquet.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(dir, parquet.ManifestName), err)
	}
	if m.FormatVersion != parquet.FormatVersion {
		return "", fmt.Errorf("%s has the format version %d, and this program reads %d; use the program that wrote it, or a newer one", dir, m.FormatVersion, parquet.FormatVersion)
	}
	var b strings.Builder
	b.WriteString("sources:\n")
	for i := range m.Types {
		t := &m.Types[i]
		for _, f := range t.Files {
			path := filepath.Join(dir, filepath.FromSlash(f.Path))
			if info, err := os.Stat(path); err != nil {
				return "", err
			} else if info.Size() != f.SizeBytes {
				return "", fmt.Errorf("%s has %d bytes, and the manifest says %d; export again", path, info.Size(), f.SizeBytes)
			}
		}
		fmt.Fprintf(&b, "  %s:\n    read: { format: %s }\n    maps:\n", Quote(t.Folder+"/*.parquet"), record.Parquet)
		for _, from := range endsOf(t.EntityKind, t.FromType, t.FromInterface) {
			for _, to := range endsOf(t.EntityKind, t.ToType, t.ToInterface) {
				mapOfType(&b, t, from, to)
			}
		}
	}
	return b.String(), nil
}

// exportEnd is a node type at an end of the edges of an export, with the column that has the names of the types, if there are
// several.
type exportEnd struct{ typ, column string }

// endsOf returns the node types at an end: one empty end for a node.
func endsOf(kind, typ string, of *parquet.ManifestInterface) []exportEnd {
	if kind == "node" || of == nil {
		return []exportEnd{{typ: typ}}
	}
	var ends []exportEnd
	for _, t := range of.NodeTypes {
		ends = append(ends, exportEnd{t, of.TypeColumn})
	}
	return ends
}

// mapOfType writes a mapping of a type.
func mapOfType(b *strings.Builder, t *parquet.ManifestType, from, to exportEnd) {
	fmt.Fprintf(b, "      - %s: %s\n", t.EntityKind, t.TypeName)
	skip := map[string]bool{}
	if t.EntityKind == "edge" {
		skip["from"], skip["to"] = true, true
		where := ""
		for _, e := range []struct {
			key string
			end exportEnd
		}{{"from", from}, {"to", to}} {
			fmt.Fprintf(b, "        %s: { %s: { id: %s } }\n", e.key, e.end.typ, e.key)
			if e.end.column != "" {
				skip[e.end.column] = true
				where += fmt.Sprintf("          %s: %s\n", Quote(e.end.column), e.end.typ)
			}
		}
		if where != "" {
			fmt.Fprintf(b, "        where:\n%s", where)
		}
	}
	isKey := map[string]bool{}
	for _, k := range t.Key {
		isKey[k] = true
	}
	skip["id"] = len(t.Key) > 0 && !isKey["id"]
	b.WriteString("        set:\n")
	for _, c := range t.Columns {
		switch {
		case skip[c.Name]:
		case strings.TrimSuffix(c.Type, "?") == "Duration":
			fmt.Fprintf(b, "          %s: { column: %s, unit: ns }\n", c.Name, c.Name)
		default:
			fmt.Fprintf(b, "          %s: %s\n", c.Name, Quote(c.Name))
		}
	}
}

// plainText matches texts that YAML reads as texts without quotes, everywhere.
var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)

// Quote returns a text as YAML, in quotes if it needs them.
func Quote(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(s)
	}
	if plainText.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}
