package codegen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/codegen/golang"
)

// Stale returns, sorted, the names of the files in dir that differ from files, that are missing
// from dir, or that an earlier generation left behind.
func (files Files) Stale(dir string) ([]string, error) {
	leftover, err := files.leftover(dir)
	if err != nil {
		return nil, err
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !bytes.Equal(got, want) {
			leftover = append(leftover, name)
		}
	}
	slices.Sort(leftover)
	return leftover, nil
}

// Write updates dir to hold the files, and deletes files that an earlier generation left behind. It
// keeps files that were not generated. It writes all files under temporary names before it renames
// the first, so that a full disk leaves dir unchanged. It returns the names of the files that
// changed, sorted.
func (files Files) Write(dir string) (changed []string, err error) {
	changed, err = files.Stale(dir)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	staging, err := os.MkdirTemp(dir, ".gq-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	for _, name := range changed {
		if text, ok := files[name]; ok {
			if err := os.WriteFile(filepath.Join(staging, name), text, 0o644); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range changed {
		to := filepath.Join(dir, name)
		if _, ok := files[name]; !ok {
			err = os.Remove(to)
		} else {
			err = os.Rename(filepath.Join(staging, name), to)
		}
		if err != nil {
			return nil, fmt.Errorf("replace %s: %w", to, err)
		}
	}
	return changed, nil
}

// Names returns the names of the files, sorted.
func (files Files) Names() []string { return slices.Sorted(maps.Keys(files)) }

// leftover returns the names of generated files in dir that are not in files.
func (files Files) leftover(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if _, ok := files[e.Name()]; ok || !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(string(text), golang.Header+"\n") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
