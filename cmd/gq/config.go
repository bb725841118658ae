package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gqconfig"
)

// readConfig reads the gq.yaml in dir, if there is one, and reports its faults to stderr.
func readConfig(dir string, stderr io.Writer) (gqconfig.Config, error) {
	path := filepath.Join(dir, gqconfig.File)
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return gqconfig.Config{}, nil
	}
	if err != nil {
		return gqconfig.Config{}, err
	}
	cfg, faults := gqconfig.Parse(path, src)
	diag.Render(stderr, faults, map[string]string{path: string(src)}, false)
	if faults.HasErrors() {
		return gqconfig.Config{}, &reportedError{}
	}
	return cfg, nil
}
