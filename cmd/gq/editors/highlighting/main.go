// Command highlighting writes the grammars that editors use to highlight .gq and .pg files. It must
// run in its own folder.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/cmd/gq/internal/highlight"
)

//go:generate go run .

func main() {
	for path, text := range highlight.Files() {
		if err := os.WriteFile(filepath.Join("..", filepath.FromSlash(path)), text, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "highlighting:", err)
			os.Exit(1)
		}
	}
}
