// Command highlighting writes the grammars that editors use to highlight .gq and .pg files. It runs in
// the folder cmd/gq/editors.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/internal/gq/highlight"
)

func main() {
	for path, text := range highlight.Files() {
		if err := os.WriteFile(filepath.FromSlash(path), text, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "highlighting:", err)
			os.Exit(1)
		}
	}
}
